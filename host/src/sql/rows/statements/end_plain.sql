-- Ends a lease's grant where there is no line. ?1 name, ?2 holder. Answers what was found: whether it is plain, who
-- holds it, until when; then the time. Under the lock of its row, by the primary key.
SELECT plain, holder, expires_at FROM leases_grants
    WHERE kind = 1 AND name = ?1 AND slot = 0{lock};
SELECT {now};
UPDATE leases_grants SET
        holder = NULL, owner = NULL, note = NULL,
        expires_at = CASE WHEN expires_at > {now} THEN {now} ELSE expires_at END
    WHERE kind = 1 AND name = ?1 AND slot = 0 AND plain = 1 AND holder = ?2
