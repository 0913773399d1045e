-- What is stored of a key, read as a table `k` and written back.
--
-- record   a string: mark (16 for this layout, +1 a lease is held, +2 somebody waits), last fence,
--          until when it is kept; then of a held lease: end, not after (0 for no max-hold), since,
--          holder, tail; of a semaphore: a bit for each slot, lowest first, set while it is held
-- line     a sorted set: holder of each ticket by its number in line
-- lapses   a sorted set: each ticket's holder by when the ticket lapses; 'c' and the holder of each
--          called one by when its claim time ends
-- details  a hash: 't' and holder: limit, called at (0 for not), asks at, since, tail of a ticket
--          'g' and holder: slot, fence, not after, since, tail of a semaphore's grant
--          'o' and owner: holder of that owner's grant in a semaphore
--          'd': holder, loss and until of each who was superseded or revoked
-- holds    of a semaphore, a sorted set: holder of each grant by its end
--
-- Times are microseconds since the epoch, numbers are doubles (exact below 2^53), the tail is the
-- inbox (8 bytes), the owner and the note, each behind its length. All keys of one name have one
-- hash tag, and expire together, a retention time after the last end and at most an eighth later.

-- Reads a record, with a lease's grant whether or not it reached its end.
local function load(record, line, lapses, details, holds)
  local k = {
    record = record, line = line, lapses = lapses, details = details, holds = holds,
    fence = 0, kept = 0, used_until = 0, waiting = 0, slots = '',
  }
  local stored = redis.call('GET', record)
  if not stored then
    -- Nobody holds and nobody waits, also where somebody removed this record alone.
    redis.call('DEL', line, lapses, details)
    if holds then redis.call('DEL', holds) end
    return k
  end
  local mark, at
  mark, k.fence, k.kept, at = struct.unpack('<Bdd', stored)
  if mark < 16 or mark > 19 then
    error('a record of another layout of leases: ' .. mark)
  end
  if mark % 4 >= 2 then k.waiting = redis.call('ZCARD', line) end
  if holds then
    k.slots = string.sub(stored, at)
  elseif mark % 2 == 1 then
    local ends, after, since, holder
    ends, after, since, holder, at = struct.unpack('<dddc16', stored, at)
    k.grant = {
      holder = holder, slot = 0, fence = k.fence, ends = ends, after = after, since = since,
      tail = string.sub(stored, at),
    }
  end
  return k
end

-- Writes what was changed, and keeps all of it long enough.
local function save(k)
  local moved = k.used_until + retention > k.kept and k.used_until > 0
  if not (k.changed or k.grown or moved) then return end
  if moved then k.kept = k.used_until + retention * 1.125 end
  local mark = 16
  if k.grant then mark = mark + 1 end
  if k.waiting > 0 then mark = mark + 2 end
  local stored = struct.pack('<Bdd', mark, k.fence, k.kept)
  if k.holds then
    stored = stored .. k.slots
  elseif k.grant then
    local grant = k.grant
    local numbers = struct.pack('<ddd', grant.ends, grant.after, grant.since)
    stored = stored .. numbers .. grant.holder .. grant.tail
  end
  local left = math.ceil((k.kept - now) / 1000)
  if moved then
    redis.call('SET', k.record, stored, 'PX', left)
  else
    redis.call('SET', k.record, stored, 'KEEPTTL')
  end
  if moved or k.grown then
    redis.call('PEXPIRE', k.line, left)
    redis.call('PEXPIRE', k.lapses, left)
    redis.call('PEXPIRE', k.details, left)
    if k.holds then redis.call('PEXPIRE', k.holds, left) end
  end
end

-- Somebody holds or waits until then.
local function used_until(k, time)
  if time > k.used_until then k.used_until = time end
end

-- The owner in a tail; empty for none.
local function owner_of(tail)
  local owner = struct.unpack('<Hc0', tail, 9)
  return owner
end
