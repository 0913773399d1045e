-- release: ends the live grant of exactly this holder.
--
-- Keys:      record, line, lapses, details; of a semaphore also holds
-- Arguments: holder
-- Reply:     0 it was held, else the loss
-- Atomic:    one script.
local k = load(unpack(KEYS))
lapse(k)
local grant = find(k, ARGV[1])
local reply = 0
if grant then
  remove(k, grant)
else
  reply = loss_of(k, ARGV[1])
end
settle(k, now)
save(k)
tell()
return reply
