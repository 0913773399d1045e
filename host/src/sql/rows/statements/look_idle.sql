-- The next keys of a kind. ?1 kind, ?2 the name that they are behind, ?3 how many, ?4 the retention time. Answers their
-- names, and whether they may be forgotten: nobody holds them or waits for them, they ended the retention time ago, and
-- the clock is past the last fence. No lock; by the primary keys.
SELECT g.name,
        CASE WHEN EXISTS (SELECT 1 FROM leases_grants o WHERE o.kind = g.kind AND o.name = g.name
                AND (o.expires_at + ?4 > {now} OR o.fence >= {now}))
            OR EXISTS (SELECT 1 FROM leases_tickets t WHERE t.kind = g.kind AND t.name = g.name
                AND t.lapses_at > {now})
            OR EXISTS (SELECT 1 FROM leases_departed d WHERE d.kind = g.kind AND d.name = g.name
                AND d.until > {now})
        THEN 0 ELSE 1 END
    FROM leases_grants g WHERE g.kind = ?1 AND g.name > ?2 AND g.slot = 0
    ORDER BY g.name LIMIT ?3
