-- Takes a lease that nobody holds or waits for, as above; leaves any other as it is. Answers who holds it, and the
-- fence. One row, by the primary key.
UPDATE leases_grants SET
        fence = CASE WHEN fence + 1 > {now} THEN fence + 1 ELSE {now} END,
        holder = ?2, owner = ?3, note = ?4, since = {now}, not_after = {now} + ?6,
        expires_at = {now} + ?5
    WHERE kind = 1 AND name = ?1 AND slot = 0
        AND plain = 1 AND (holder IS NULL OR expires_at <= {now});
SELECT holder, fence FROM leases_grants WHERE kind = 1 AND name = ?1 AND slot = 0
