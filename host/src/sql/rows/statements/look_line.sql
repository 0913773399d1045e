-- Who waits for a key, counted: no lock. ?1 kind, ?2 name, ?3 a holder, ?4 the claim time. Answers how many wait,
-- whether anything of them moved with time, whether somebody was not called, whether this holder is among them, the
-- first moment at which anything will move, and the time. By the primary key.
SELECT COUNT(*),
        MAX(CASE WHEN lapses_at <= {now} OR called_at + ?4 <= {now} THEN 1 ELSE 0 END),
        MAX(CASE WHEN called_at IS NULL THEN 1 ELSE 0 END),
        MAX(CASE WHEN holder = ?3 THEN 1 ELSE 0 END),
        MIN(CASE WHEN lapses_at <= {now} THEN NULL
            WHEN called_at + ?4 > {now} AND called_at + ?4 < lapses_at THEN called_at + ?4
            ELSE lapses_at END),
        {now}
    FROM leases_tickets WHERE kind = ?1 AND name = ?2
