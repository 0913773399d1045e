-- Locks leases in the order of their names. ?1 the names. Answers their names, whether they are plain, who holds them,
-- until when, and not after when; then the time. By the primary key.
SELECT name, plain, holder, expires_at, not_after FROM leases_grants
    WHERE kind = 1 AND name IN (?1) AND slot = 0 ORDER BY kind, name, slot{lock};
SELECT {now}
