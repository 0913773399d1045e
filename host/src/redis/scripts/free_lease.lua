-- ask, of a lease that nobody holds and nobody waits for: what ask.lua would do, in three calls.
--
-- Keys:      record
-- Arguments: as of ask.lua
-- Reply:     the fence, a number; else goes on to ask.lua
-- Atomic:    one script; reads and writes the record alone.
do
  local stored = redis.call('GET', KEYS[1])
  local mark, last, kept = 16, 0, 0
  if stored then
    mark, last, kept = struct.unpack('<Bdd', stored)
  end
  if mark == 16 then
    local ttl, max_hold = struct.unpack('<dd', ARGV[1])
    local fence = last + 1
    if now > fence then fence = now end
    local ends, after = now + ttl, 0
    if max_hold > 0 then
      after = now + max_hold
      if after < ends then ends = after end
    end
    local moved = ends + retention > kept
    if moved then kept = ends + retention * 1.125 end
    stored = struct.pack('<Bddddd', 17, fence, kept, ends, after, now) .. ARGV[2]
    if moved then
      redis.call('SET', KEYS[1], stored, 'PX', math.ceil((kept - now) / 1000))
    else
      redis.call('SET', KEYS[1], stored, 'KEEPTTL')
    end
    return fence
  end
end
