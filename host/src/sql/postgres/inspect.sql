-- Who holds a key, by slot, and who waits for it, by place. Reads alone, in one snapshot. $1 kind, $2 name, $3 the
-- time by a test's clock. Answers rows of: is it a hold; slot or limit; fence; since when and until when, in
-- microseconds from now; owner; note. By the primary keys.
WITH clock AS MATERIALIZED (SELECT leases_now($3) AS now_us)
SELECT true AS held, slot, fence, now_us - since AS since, expires_at - now_us AS ends_in, owner, note,
        slot::bigint AS place
    FROM leases_grants, clock
    WHERE kind = $1 AND name = $2 AND holder IS NOT NULL AND expires_at > now_us
UNION ALL
SELECT false, places, 0, now_us - since, 0, owner, note, number
    FROM leases_tickets, clock
    WHERE kind = $1 AND name = $2 AND lapses_at > now_us
ORDER BY held DESC, place
