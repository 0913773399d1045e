-- One attempt. $1 kind, $2 name, $3 holder, $4 places, $5 owner, $6 note, $7 ttl, $8 max-hold, $9 patience, $10
-- inbox, $11 the time by a test's clock. A lease that is held by another is refused by this read alone, by the
-- primary key: no lock, nothing written. What is not surely refused is asked of leases_ask, which answers the same
-- way: 8 bytes, below zero or zero: busy, until that many microseconds from now.
SELECT CASE
    WHEN $1 = 1 AND held.expires_at > clock.now_us AND held.holder <> $3 AND held.plain
        AND ($5 IS NULL OR held.owner IS DISTINCT FROM $5)
    THEN int8send(clock.now_us - held.expires_at)
    ELSE leases_ask($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) END
FROM (SELECT coalesce($11, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now_us) clock
LEFT JOIN leases_grants held ON held.kind = $1 AND held.name = $2 AND held.slot = 0
