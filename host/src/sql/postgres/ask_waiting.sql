-- An ask that waits in line where it must. Arguments as for one attempt. A lease that is free, has no line and is
-- known is taken by this one change of one row, by the primary key; where another was before it, the conditions
-- are looked at again. What is not taken is asked of leases_ask, which answers the same way: 8 bytes, above zero:
-- the fence of a lease granted as it was asked for.
WITH taken AS (
    UPDATE leases_grants free SET
        holder = $3, owner = $5, note = $6, fence = greatest(free.fence + 1, clock.now_us),
        since = clock.now_us, expires_at = clock.now_us + least($7, $8), not_after = clock.now_us + $8
    FROM (SELECT coalesce($11, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now_us) clock
    WHERE $1 = 1 AND free.kind = $1 AND free.name = $2 AND free.slot = 0
        AND free.plain AND (free.holder IS NULL OR free.expires_at <= clock.now_us)
    RETURNING free.fence
)
SELECT CASE WHEN taken.fence IS NOT NULL THEN int8send(taken.fence)
    ELSE leases_ask($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) END
FROM (SELECT) one LEFT JOIN taken ON true
