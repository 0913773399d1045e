-- The grant of a slot. ?1 kind, ?2 name, ?3 slot, ?4 holder, ?5 owner, ?6 note, ?7 fence, ?8 since, ?9 its end, ?10 not
-- after.
UPDATE leases_grants SET
        holder = ?4, owner = ?5, note = ?6, fence = ?7, since = ?8, expires_at = ?9, not_after = ?10
    WHERE kind = ?1 AND name = ?2 AND slot = ?3
