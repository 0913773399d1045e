-- Ends the live grant of exactly this holder. $1 kind, $2 name, $3 holder, $4 for how long a late ask of its is
-- refused, if one may come, $5 inbox, $6 the time by a test's clock. A lease that has no line is given back by this
-- one change of one row, by the primary key: answers none. All else is asked of leases_release.
WITH ended AS (
    UPDATE leases_grants held SET holder = NULL, owner = NULL, note = NULL, expires_at = clock.now_us
    FROM (SELECT coalesce($6, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now_us) clock
    WHERE $1 = 1 AND $4 IS NULL AND held.kind = $1 AND held.name = $2 AND held.slot = 0
        AND held.holder = $3 AND held.expires_at > clock.now_us AND held.plain
    RETURNING 1 AS was
)
SELECT CASE WHEN ended.was IS NULL THEN leases_release($1, $2, $3, $4, $5, $6) END
FROM (SELECT) one LEFT JOIN ended ON true
