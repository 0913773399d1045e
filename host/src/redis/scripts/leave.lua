-- leave: removes this holder's own ticket, and its grant if it has one.
--
-- Keys:      record, line, lapses, details; of a semaphore also holds
-- Arguments: holder
-- Reply:     0
-- Atomic:    one script.
local k = load(unpack(KEYS))
lapse(k)
remove_ticket(k, ARGV[1])
local grant = find(k, ARGV[1])
if grant then remove(k, grant) end
settle(k, now)
save(k)
tell()
return 0
