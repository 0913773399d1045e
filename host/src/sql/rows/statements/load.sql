-- Locks a key, and reads what is stored of it. ?1 kind, ?2 name; of its slots the first, those of the holders ?3 and of
-- the owner ?4, and all that ended: all there are where ?5 is 1. Answers whether it is plain; the time, how many slots
-- it has, the last of them, the greatest fence, the lowest free slot, how many hold that are not read, and the first of
-- their ends; the slots; its line; who departed. Each is read when the lock is held. By the primary keys.
SELECT plain FROM leases_grants WHERE kind = ?1 AND name = ?2 AND slot = 0{lock};
SELECT {now}, COUNT(*), MAX(slot), MAX(fence),
        MIN(CASE WHEN holder IS NULL OR expires_at <= {now} THEN slot END),
        COUNT(CASE WHEN holder IS NULL OR expires_at <= {now} OR slot = 0 OR holder IN (?3)
            OR owner = ?4 OR ?5 = 1 THEN NULL ELSE 1 END),
        MIN(CASE WHEN holder IS NULL OR expires_at <= {now} OR slot = 0 OR holder IN (?3)
            OR owner = ?4 OR ?5 = 1 THEN NULL ELSE expires_at END)
    FROM leases_grants WHERE kind = ?1 AND name = ?2;
SELECT slot, holder, owner, note, fence, since, expires_at, not_after FROM leases_grants
    WHERE kind = ?1 AND name = ?2
        AND (slot = 0 OR holder IN (?3) OR owner = ?4 OR ?5 = 1
            OR (holder IS NOT NULL AND expires_at <= {now}))
    ORDER BY slot;
SELECT number, holder, places, owner, note, since, lapses_at, called_at, asks_at, woken
    FROM leases_tickets WHERE kind = ?1 AND name = ?2 ORDER BY number;
SELECT number, holder, loss, until FROM leases_departed
    WHERE kind = ?1 AND name = ?2 ORDER BY number
