-- A lease, as it stands: no lock. ?1 name. Answers whether it is plain, who holds it, for which owner, until when,
-- and the time. By the primary key.
SELECT plain, holder, owner, expires_at, {now} FROM leases_grants
    WHERE kind = 1 AND name = ?1 AND slot = 0
