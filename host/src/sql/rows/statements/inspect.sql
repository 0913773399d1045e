-- Who holds a key, by slot, and who waits for it, by place. Reads alone, in one snapshot. ?1 kind, ?2 name. Answers rows
-- of: is it a hold; slot or limit; fence; since when and until when, in microseconds from now; owner; note. By the
-- primary keys.
SELECT 1 AS held, slot, fence, {now} - since, expires_at - {now}, owner, note, slot AS place
    FROM leases_grants
    WHERE kind = ?1 AND name = ?2 AND holder IS NOT NULL AND expires_at > {now}
UNION ALL
SELECT 0, places, 0, {now} - since, 0, owner, note, number
    FROM leases_tickets
    WHERE kind = ?1 AND name = ?2 AND lapses_at > {now}
ORDER BY held DESC, place
