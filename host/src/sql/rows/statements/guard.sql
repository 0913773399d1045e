-- The greatest fence that was admitted. ?1 name, ?2 slot. By the primary key.
SELECT greatest FROM leases_guards WHERE name = ?1 AND slot = ?2
