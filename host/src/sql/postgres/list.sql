-- The next keys of a kind from a name on. $1 kind, $2 the first name, $3 the last, $4 how many, $5 the time by a test's
-- clock. Answers their names, and whether anybody holds them or waits for them. No lock; by the primary keys.
WITH clock AS MATERIALIZED (SELECT leases_now($5) AS now_us)
SELECT g.name, EXISTS (SELECT FROM leases_grants o WHERE o.kind = g.kind AND o.name = g.name
            AND o.holder IS NOT NULL AND o.expires_at > now_us)
        OR EXISTS (SELECT FROM leases_tickets t WHERE t.kind = g.kind AND t.name = g.name
            AND t.lapses_at > now_us) AS used
    FROM leases_grants g, clock WHERE g.kind = $1 AND g.name >= $2 AND g.name <= $3 AND g.slot = 0
    ORDER BY g.name LIMIT $4
