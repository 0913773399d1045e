-- inspect: who holds and who waits.
--
-- Keys:      record, line, lapses, details; of a semaphore also holds
-- Arguments: none
-- Reply:     {holders, waiters}: of each holder slot, fence, held for, ends in, owner, note; of
--            each waiter limit, waited for, owner, note
-- Atomic:    one script. Writes nothing, but that what is left of a key that somebody removed goes.
local k = load(unpack(KEYS))
local holders, waiters = {}, {}

local function add(list, tail, ...)
  for _, value in ipairs({ ... }) do
    list[#list + 1] = value
  end
  list[#list + 1], list[#list + 2] = struct.unpack('<Hc0Hc0', tail, 9)
end

local function add_holder(grant)
  if grant.ends > now then
    add(holders, grant.tail, grant.slot, grant.fence, now - grant.since, grant.ends - now)
  end
end

if k.grant then add_holder(k.grant) end
if k.holds then
  for _, holder in ipairs(redis.call('ZRANGE', k.holds, 0, -1)) do
    local grant = find(k, holder)
    if grant then add_holder(grant) end
  end
end
walk(k, k.waiting, function(holder, ticket)
  if tonumber(redis.call('ZSCORE', k.lapses, holder) or 0) > now then
    add(waiters, ticket.tail, ticket.limit, now - ticket.since)
  end
end)
return { holders, waiters }
