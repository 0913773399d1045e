-- The live grants of a key: the one of a lease in its record, those of a semaphore in its holds.

local function live(k)
  if k.holds then return redis.call('ZCARD', k.holds) end
  return k.grant and 1 or 0
end

-- When the first of them ends; nil for none.
local function earliest_end(k)
  if not k.holds then return k.grant and k.grant.ends end
  return tonumber(redis.call('ZRANGE', k.holds, 0, 0, 'WITHSCORES')[2])
end

-- The grant of this holder; nil for none.
local function find(k, holder)
  if not k.holds then
    return k.grant and k.grant.holder == holder and k.grant or nil
  end
  local ends = redis.call('ZSCORE', k.holds, holder)
  if not ends then return nil end
  local stored = redis.call('HGET', k.details, 'g' .. holder)
  if not stored then -- Somebody removed the details: it holds no more.
    redis.call('ZREM', k.holds, holder)
    return nil
  end
  local slot, fence, after, since, at = struct.unpack('<Hddd', stored)
  return {
    holder = holder, slot = slot, fence = fence, ends = tonumber(ends), after = after,
    since = since, tail = string.sub(stored, at),
  }
end

-- The grant of this owner; nil for none.
local function find_owner(k, owner)
  if not k.holds then
    return k.grant and owner_of(k.grant.tail) == owner and k.grant or nil
  end
  local holder = redis.call('HGET', k.details, 'o' .. owner)
  return holder and find(k, holder) or nil
end

-- Sets (+1) or clears (-1) the bit of a slot.
local function turn(k, slot, by)
  local at = math.floor(slot / 8) + 1
  local slots = k.slots .. string.rep('\0', at - #k.slots)
  local byte = string.byte(slots, at) + by * 2 ^ (slot % 8)
  k.slots = string.sub(slots, 1, at - 1) .. string.char(byte) .. string.sub(slots, at + 1)
end

-- The lowest slot that nobody holds.
local function free_slot(k)
  if not k.holds then return 0 end
  -- Where somebody removed the holds or their details, nobody clears the bits.
  if live(k) == 0 then k.slots = '' end
  local at = string.find(k.slots, '[^\255]')
  if not at then return #k.slots * 8 end
  local byte, bit = string.byte(k.slots, at), 0
  while byte % 2 == 1 do
    byte, bit = (byte - 1) / 2, bit + 1
  end
  return (at - 1) * 8 + bit
end

local function put(k, grant)
  k.changed = true
  used_until(k, grant.ends)
  if not k.holds then
    k.grant = grant
    return
  end
  local numbers = struct.pack('<Hddd', grant.slot, grant.fence, grant.after, grant.since)
  local owner = owner_of(grant.tail)
  if not string.find(k.slots, '[^%z]') then k.grown = true end
  redis.call('ZADD', k.holds, grant.ends, grant.holder)
  redis.call('HSET', k.details, 'g' .. grant.holder, numbers .. grant.tail)
  if owner ~= '' then redis.call('HSET', k.details, 'o' .. owner, grant.holder) end
  turn(k, grant.slot, 1)
end

local function remove(k, grant)
  k.changed = true
  if not k.holds then
    k.grant = nil
    return
  end
  redis.call('ZREM', k.holds, grant.holder)
  redis.call('HDEL', k.details, 'g' .. grant.holder, 'o' .. owner_of(grant.tail))
  turn(k, grant.slot, -1)
end

-- Moves a grant's end to now + ttl, never beyond its max-hold.
local function extend(k, grant, ttl)
  grant.ends = now + ttl
  if grant.after > 0 and grant.after < grant.ends then grant.ends = grant.after end
  used_until(k, grant.ends)
  if k.holds then
    redis.call('ZADD', k.holds, grant.ends, grant.holder)
  else
    k.changed = true
  end
end

-- Rule 5: the grant.
local function grant_to(k, slot, holder, tail, ttl, max_hold)
  k.fence = math.max(k.fence + 1, now)
  local grant = {
    holder = holder, slot = slot, fence = k.fence, ends = now + ttl, after = 0, since = now,
    tail = tail,
  }
  if max_hold > 0 then
    grant.after = now + max_hold
    grant.ends = math.min(grant.ends, grant.after)
  end
  put(k, grant)
  return grant
end

-- Drops the grants that reached their end; answers the latest of those ends, nil for none.
local function drop_ended(k)
  if not k.holds then
    if not k.grant or k.grant.ends > now then return nil end
    local ends = k.grant.ends
    remove(k, k.grant)
    return ends
  end
  local latest
  local ended = redis.call('ZRANGEBYSCORE', k.holds, '-inf', now, 'WITHSCORES')
  for i = 1, #ended, 2 do
    local grant = find(k, ended[i])
    if grant then remove(k, grant) end
    latest = tonumber(ended[i + 1])
  end
  return latest
end

-- 1 where the max-hold sets a grant's end, else 0.
local function bounded(grant)
  return grant.after == grant.ends and 1 or 0
end
