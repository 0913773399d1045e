-- The next guards. ?1 and ?2 the name and the slot that they are behind, ?3 how many, ?4 the retention time. Answers
-- their names and slots, and whether they may be forgotten: they admitted nothing for the retention time. By the primary
-- key.
SELECT name, slot, CASE WHEN admitted_at + ?4 <= {now} THEN 1 ELSE 0 END FROM leases_guards
    WHERE name >= ?1 AND (name > ?1 OR slot > ?2) ORDER BY name, slot LIMIT ?3
