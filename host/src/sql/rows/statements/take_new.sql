-- Takes a lease that nobody knows of. ?1 name, ?2 holder, ?3 owner, ?4 note, ?5 how long it lasts, ?6 its max-hold.
-- Fails where somebody knows of it by now. Answers who holds it, and the fence. One row, by the primary key.
INSERT INTO leases_grants
    (kind, name, slot, holder, owner, note, fence, since, expires_at, not_after, plain)
    VALUES (1, ?1, 0, ?2, ?3, ?4, {now}, {now}, {now} + ?5, {now} + ?6, 1);
SELECT holder, fence FROM leases_grants WHERE kind = 1 AND name = ?1 AND slot = 0
