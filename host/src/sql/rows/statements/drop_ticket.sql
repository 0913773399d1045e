-- A ticket is gone. ?1 kind, ?2 name, ?3 number.
DELETE FROM leases_tickets WHERE kind = ?1 AND name = ?2 AND number = ?3
