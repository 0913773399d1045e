-- A ticket. ?1 kind, ?2 name, ?3 number, ?4 holder, ?5 places, ?6 owner, ?7 note, ?8 since, ?9 when it lapses, ?10 when
-- it was called, ?11 when it asks, ?12 its process's inbox, ?13 whether it was woken.
INSERT INTO leases_tickets
    (kind, name, number, holder, places, owner, note, since, lapses_at, called_at, asks_at, inbox,
        woken)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
