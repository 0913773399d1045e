-- Locks a key, and reads all that is stored of it. ?1 kind, ?2 name. Answers whether it is plain; the time; its slots;
-- its line; who departed. Each is read when the lock is held. By the primary keys.
SELECT plain FROM leases_grants WHERE kind = ?1 AND name = ?2 AND slot = 0{lock};
SELECT {now};
SELECT slot, holder, owner, note, fence, since, expires_at, not_after FROM leases_grants
    WHERE kind = ?1 AND name = ?2 ORDER BY slot;
SELECT number, holder, places, owner, note, since, lapses_at, called_at, asks_at, woken
    FROM leases_tickets WHERE kind = ?1 AND name = ?2 ORDER BY number;
SELECT number, holder, loss, until FROM leases_departed
    WHERE kind = ?1 AND name = ?2 ORDER BY number
