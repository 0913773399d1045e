-- release and leave, of a lease that this holder holds and nobody waits for: what the script that
-- follows would do, in three calls.
--
-- Keys:      record
-- Arguments: holder
-- Reply:     0; else goes on to the script that follows
-- Atomic:    one script; reads and writes the record alone.
do
  local stored = redis.call('GET', KEYS[1])
  if stored and string.byte(stored) == 17 then
    local _, fence, kept, ends, _, _, holder = struct.unpack('<Bdddddc16', stored)
    if holder == ARGV[1] and ends > now then
      redis.call('SET', KEYS[1], struct.pack('<Bdd', 16, fence, kept), 'KEEPTTL')
      return 0
    end
  end
end
