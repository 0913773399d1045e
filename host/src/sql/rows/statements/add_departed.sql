-- Why a holder no longer holds. ?1 kind, ?2 name, ?3 number, ?4 holder, ?5 loss, ?6 until when that is remembered.
INSERT INTO leases_departed (kind, name, number, holder, loss, until)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)
