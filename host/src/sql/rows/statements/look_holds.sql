-- The holds of keys that are locked. ?1 kind, ?2 their names, ?3 holders. Answers names, slots, holders, until when, and
-- not after when. By the primary key.
SELECT name, slot, holder, expires_at, not_after FROM leases_grants
    WHERE kind = ?1 AND name IN (?2) AND holder IN (?3)
