-- Sets the ends of leases that are locked. ?1 the end, ?2 the names. By the primary key.
UPDATE leases_grants SET expires_at = CASE WHEN not_after < ?1 THEN not_after ELSE ?1 END
    WHERE kind = 1 AND name IN (?2) AND slot = 0
