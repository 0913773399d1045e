-- Admits a fence that is not below the greatest. ?1 name, ?2 slot, ?3 fence. Answers the greatest. One row, by the
-- primary key.
UPDATE leases_guards SET greatest = ?3, admitted_at = {now}
    WHERE name = ?1 AND slot = ?2 AND greatest <= ?3;
SELECT greatest FROM leases_guards WHERE name = ?1 AND slot = ?2
