-- Forgets a key that is locked. ?1 kind, ?2 name.
DELETE FROM leases_tickets WHERE kind = ?1 AND name = ?2;
DELETE FROM leases_departed WHERE kind = ?1 AND name = ?2;
DELETE FROM leases_grants WHERE kind = ?1 AND name = ?2
