-- ask: grants, puts in line, or refuses.
--
-- Keys:      record, line, lapses, details; of a semaphore also holds
-- Arguments: numbers (ttl, max-hold or 0, patience or 0 for once, limit), holder and tail in one
-- Reply:     {1, slot, fence, ends in, 1 if by its max-hold} granted
--            {2, position, retry in} in line
--            {3, retry in} busy, or {4} the line is full
-- Atomic:    one script, and all keys of a name are in one slot. A refusal writes nothing, unless
--            something lapsed.
local ttl, max_hold, patience, limit = struct.unpack('<dddH', ARGV[1])
local holder, tail = string.sub(ARGV[2], 1, 16), string.sub(ARGV[2], 17)
local owner = owner_of(tail)
asker = holder

local k = load(unpack(KEYS))
lapse(k)

local reply
local grant = find(k, holder)
if grant then -- Rule 2: the same ask again.
  extend(k, grant, ttl)
else
  grant = owner ~= '' and find_owner(k, owner) or nil
  if grant then -- Rule 3: the same owner, in the same slot.
    depart(k, grant, SUPERSEDED)
    remove(k, grant)
    remove_ticket(k, holder)
    grant = grant_to(k, grant.slot, holder, tail, ttl, max_hold)
  elseif admits(k, holder, limit) then
    remove_ticket(k, holder)
    grant = grant_to(k, free_slot(k), holder, tail, ttl, max_hold)
  end
end

if grant then
  reply = { 1, grant.slot, grant.fence, grant.ends - now, bounded(grant) }
elseif patience == 0 then -- Rule 7.
  reply = { 3, retry_in(k) }
else -- Rule 6.
  local position = position_of(k, holder)
  local ticket
  local stored = position and redis.call('HGET', k.details, 't' .. holder)
  if stored then
    ticket = read_ticket(stored)
  elseif position then -- Somebody removed the details.
    ticket = { limit = limit, called = 0, since = now, tail = tail }
    k.grown = true
  elseif k.waiting < line_max then
    position = join(k, holder)
    ticket = { limit = limit, called = 0, since = now, tail = tail }
  end
  if ticket then
    stay(k, holder, ticket, patience)
    local again = retry_in(k)
    ticket.asks = now + again
    write_ticket(k, holder, ticket)
    reply = { 2, position, again }
  else
    reply = { 4 }
  end
end

settle(k, now)
if grant and owner ~= '' then
  -- Rule 3 lets the waiters of the owner that now holds in, whoever is before them.
  walk(k, k.waiting, function(waiter, ticket)
    if owner_of(ticket.tail) == owner then wake(waiter, ticket.tail) end
  end)
end
save(k)
tell()
return reply
