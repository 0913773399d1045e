-- Forgets a guard, unless it admitted something meanwhile. ?1 name, ?2 slot, ?3 the retention time.
DELETE FROM leases_guards WHERE name = ?1 AND slot = ?2 AND admitted_at + ?3 <= {now}
