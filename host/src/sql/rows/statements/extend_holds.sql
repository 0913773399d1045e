-- Sets the ends of holds that are locked. ?1 the end, ?2 kind, ?3 slot, ?4 names. By the primary key.
UPDATE leases_grants SET expires_at = CASE WHEN not_after < ?1 THEN not_after ELSE ?1 END
    WHERE kind = ?2 AND slot = ?3 AND name IN (?4)
