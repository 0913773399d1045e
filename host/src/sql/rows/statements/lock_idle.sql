-- Locks a key unless somebody else has, and looks once more, as above. ?1 kind, ?2 name, ?3 the retention time. Answers
-- a row if it is locked; then one if it may not be forgotten.
SELECT slot FROM leases_grants WHERE kind = ?1 AND name = ?2 AND slot = 0{lock_free};
SELECT 1 FROM leases_grants WHERE kind = ?1 AND name = ?2
        AND (expires_at + ?3 > {now} OR fence >= {now})
    UNION ALL SELECT 1 FROM leases_tickets WHERE kind = ?1 AND name = ?2 AND lapses_at > {now}
    UNION ALL SELECT 1 FROM leases_departed WHERE kind = ?1 AND name = ?2 AND until > {now}
    LIMIT 1
