-- refresh, of one hold of a lease that nobody waits for: what refresh.lua would do, in three calls.
-- Of a batch, refresh.lua begins with the same for each.
--
-- Keys:      record
-- Arguments: retention, channel, numbers, holder: as of refresh.lua
-- Reply:     ends in, twice, and 1 more if by its max-hold: a number; else goes on to refresh.lua
-- Atomic:    one script; reads and writes the record alone.

-- Answers when the hold ends from now, and 1 if by its max-hold, else 0; nil if it is no such hold.
local function extend_lease(record, holder, ttl, retention)
  local stored = redis.call('GET', record)
  if not stored or string.byte(stored) ~= 17 or string.sub(stored, 42, 57) ~= holder then
    return nil
  end
  local kept, ends, after = struct.unpack('<ddd', stored, 10)
  if ends <= now then return nil end
  ends = now + ttl
  if after > 0 and after < ends then ends = after end
  if ends + retention > kept then
    kept = ends + retention * 1.125
    local numbers = struct.pack('<dd', kept, ends)
    stored = string.sub(stored, 1, 9) .. numbers .. string.sub(stored, 26)
    redis.call('SET', record, stored, 'PX', math.ceil((kept - now) / 1000))
  else
    redis.call('SETRANGE', record, 17, struct.pack('<d', ends))
  end
  return ends - now, ends == after and 1 or 0
end

local retention = struct.unpack('<d', ARGV[1])
do
  local keys, is_ticket, ttl = struct.unpack('<BBd', ARGV[3])
  if keys == 4 and #KEYS == 4 and is_ticket == 0 then
    local left, bounded = extend_lease(KEYS[1], ARGV[4], ttl, retention)
    if left then return left * 2 + bounded end
  end
end
