-- What moves of a ticket. ?1 kind, ?2 name, ?3 number, ?4 when it lapses, ?5 when it was called, ?6 when it asks, ?7
-- whether it was woken.
UPDATE leases_tickets SET lapses_at = ?4, called_at = ?5, asks_at = ?6, woken = ?7
    WHERE kind = ?1 AND name = ?2 AND number = ?3
