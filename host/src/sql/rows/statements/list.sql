-- The next keys of a kind from a name on. ?1 kind, ?2 the first name, ?3 the last, ?4 how many. Answers their names, and
-- whether anybody holds them or waits for them. No lock; by the primary keys.
SELECT g.name,
        CASE WHEN EXISTS (SELECT 1 FROM leases_grants o WHERE o.kind = g.kind AND o.name = g.name
                AND o.holder IS NOT NULL AND o.expires_at > {now})
            OR EXISTS (SELECT 1 FROM leases_tickets t WHERE t.kind = g.kind AND t.name = g.name
                AND t.lapses_at > {now})
        THEN 1 ELSE 0 END
    FROM leases_grants g WHERE g.kind = ?1 AND g.name >= ?2 AND g.name <= ?3 AND g.slot = 0
    ORDER BY g.name LIMIT ?4
