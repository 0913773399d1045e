-- Tickets that lapsed are gone. ?1 kind, ?2 name, ?3 the time.
DELETE FROM leases_tickets WHERE kind = ?1 AND name = ?2 AND lapses_at <= ?3
