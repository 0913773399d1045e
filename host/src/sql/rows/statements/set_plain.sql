-- Whether a key is plain: without a line, and without anybody whose late ask is refused. ?1 kind, ?2 name, ?3 whether.
UPDATE leases_grants SET plain = ?3 WHERE kind = ?1 AND name = ?2 AND slot = 0
