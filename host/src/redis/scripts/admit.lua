-- admit: asks the guard of a target whether a write under this fence may go ahead.
--
-- Keys:      the target's guard: the greatest fence admitted, in decimal
-- Arguments: fence, retention in milliseconds
-- Reply:     0 admitted, else the greater fence
-- Atomic:    one script. A stale one writes nothing. The guard expires a retention time after it
--            last admitted.
local greatest = tonumber(redis.call('GET', KEYS[1]) or 0)
if tonumber(ARGV[1]) < greatest then return greatest end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 0
