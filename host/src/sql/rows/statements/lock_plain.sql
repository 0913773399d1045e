-- Locks keys in the order of their names. ?1 kind, ?2 their names. Answers their names, and whether they are plain. By
-- the primary key.
SELECT name, plain FROM leases_grants
    WHERE kind = ?1 AND name IN (?2) AND slot = 0 ORDER BY kind, name, slot{lock}
