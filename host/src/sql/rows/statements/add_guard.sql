-- The first fence that is admitted. ?1 name, ?2 slot, ?3 fence. Fails where there is one by now.
INSERT INTO leases_guards (name, slot, greatest, admitted_at) VALUES (?1, ?2, ?3, {now})
