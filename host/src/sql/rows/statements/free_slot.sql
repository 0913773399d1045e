-- A slot whose grant was ended. ?1 kind, ?2 name, ?3 slot, ?4 when.
UPDATE leases_grants SET holder = NULL, owner = NULL, note = NULL, expires_at = ?4
    WHERE kind = ?1 AND name = ?2 AND slot = ?3
