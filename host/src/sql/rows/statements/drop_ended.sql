-- Holds that ended by themselves are gone. ?1 kind, ?2 name, ?3 the time.
UPDATE leases_grants SET holder = NULL, owner = NULL, note = NULL
    WHERE kind = ?1 AND name = ?2 AND holder IS NOT NULL AND expires_at <= ?3
