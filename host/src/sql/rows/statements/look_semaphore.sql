-- Who holds a semaphore, counted: no lock. ?1 name, ?2 a holder, ?3 an owner. Answers how many hold it, the first end,
-- whether this holder or this owner is among them, and the time. By the primary key.
SELECT COUNT(*), MIN(expires_at), MAX(CASE WHEN holder = ?2 OR owner = ?3 THEN 1 ELSE 0 END), {now}
    FROM leases_grants WHERE kind = 2 AND name = ?1 AND holder IS NOT NULL
