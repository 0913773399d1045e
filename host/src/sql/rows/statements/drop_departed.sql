-- What need not be remembered. ?1 kind, ?2 name, ?3 the time, ?4 the last number of those beyond the most.
DELETE FROM leases_departed
    WHERE kind = ?1 AND name = ?2 AND (until <= ?3 OR number <= ?4)
