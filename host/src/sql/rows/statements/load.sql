-- Locks a key, and reads what is stored of it. ?1 kind, ?2 name; of its slots the first, those of the holders ?3 and of
-- the owner ?4, and all that ended: all there are where ?5 is 1; of its line the first ?6, those of the holders and of
-- the owner, and all that were called. Answers whether it is plain; the time, how many slots it has, the last of them,
-- the greatest fence, the lowest free slot, how many hold that are not read, and the first of their ends, how many wait,
-- how many lapsed, the last number in line, the first lapse to come, and how many are before the first of the holders;
-- the slots; the line; who departed. Each is read when the lock is held. By the primary keys, and the line by its indexes.
SELECT plain FROM leases_grants WHERE kind = ?1 AND name = ?2 AND slot = 0{lock};
SELECT {now}, COUNT(*), MAX(slot), MAX(fence),
        MIN(CASE WHEN holder IS NULL OR expires_at <= {now} THEN slot END),
        COUNT(CASE WHEN holder IS NULL OR expires_at <= {now} OR slot = 0 OR holder IN (?3)
            OR owner = ?4 OR ?5 = 1 THEN NULL ELSE 1 END),
        MIN(CASE WHEN holder IS NULL OR expires_at <= {now} OR slot = 0 OR holder IN (?3)
            OR owner = ?4 OR ?5 = 1 THEN NULL ELSE expires_at END),
        (SELECT COUNT(*) FROM leases_tickets
            WHERE kind = ?1 AND name = ?2 AND lapses_at > {now}),
        (SELECT COUNT(*) FROM leases_tickets
            WHERE kind = ?1 AND name = ?2 AND lapses_at <= {now}),
        (SELECT MAX(number) FROM leases_tickets WHERE kind = ?1 AND name = ?2),
        (SELECT MIN(lapses_at) FROM leases_tickets
            WHERE kind = ?1 AND name = ?2 AND lapses_at > {now}),
        (SELECT COUNT(*) FROM leases_tickets
            WHERE kind = ?1 AND name = ?2 AND lapses_at > {now} AND number < (
                SELECT MIN(number) FROM leases_tickets
                    WHERE kind = ?1 AND name = ?2 AND holder IN (?3)))
    FROM leases_grants WHERE kind = ?1 AND name = ?2;
SELECT slot, holder, owner, note, fence, since, expires_at, not_after FROM leases_grants
    WHERE kind = ?1 AND name = ?2
        AND (slot = 0 OR holder IN (?3) OR owner = ?4 OR ?5 = 1
            OR (holder IS NOT NULL AND expires_at <= {now}))
    ORDER BY slot;
SELECT t.number, t.holder, t.places, t.owner, t.note, t.since, t.lapses_at, t.called_at, t.asks_at,
        t.woken
    FROM (SELECT number FROM (SELECT number FROM leases_tickets
                WHERE kind = ?1 AND name = ?2 ORDER BY number LIMIT ?6) AS front
        UNION SELECT number FROM leases_tickets
            WHERE holder IN (?3) AND kind = ?1 AND name = ?2
        UNION SELECT number FROM leases_tickets
            WHERE kind = ?1 AND name = ?2 AND called_at > 0
        UNION SELECT number FROM leases_tickets
            WHERE ?4 IS NOT NULL AND kind = ?1 AND name = ?2 AND owner = ?4) AS seen
    JOIN leases_tickets t ON t.kind = ?1 AND t.name = ?2 AND t.number = seen.number
    ORDER BY t.number;
SELECT number, holder, loss, until FROM leases_departed
    WHERE kind = ?1 AND name = ?2 ORDER BY number
