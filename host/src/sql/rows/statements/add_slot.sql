-- A slot that has no row. ?1 kind, ?2 name, ?3 slot; its grant, if it has one: ?4 holder, ?5 owner, ?6 note, ?7 fence,
-- ?8 since, ?9 its end, ?10 not after; ?11 whether the key is plain.
INSERT INTO leases_grants
    (kind, name, slot, holder, owner, note, fence, since, expires_at, not_after, plain)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
