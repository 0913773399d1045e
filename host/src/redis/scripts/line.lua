-- The waiters of a key, first come first served.

-- Who is to be woken: by inbox, their holders.
local woken = {}
-- Who asks, and need not be woken for it.
local asker

local function wake(holder, tail)
  if holder == asker then return end
  local inbox = string.sub(tail, 1, 8)
  woken[inbox] = (woken[inbox] or '') .. holder
end

local function read_ticket(stored)
  local limit, called, asks, since, at = struct.unpack('<Hddd', stored)
  return {
    limit = limit, called = called, asks = asks, since = since, tail = string.sub(stored, at),
  }
end

local function write_ticket(k, holder, ticket)
  local numbers = struct.pack('<Hddd', ticket.limit, ticket.called, ticket.asks, ticket.since)
  redis.call('HSET', k.details, 't' .. holder, numbers .. ticket.tail)
end

-- Calls `visit(holder, ticket)` for the first `count` in line, in order, until it answers true.
local function walk(k, count, visit)
  for first = 0, count - 1, 16 do
    local holders = redis.call('ZRANGE', k.line, first, math.min(first + 16, count) - 1)
    local fields = {}
    for i, holder in ipairs(holders) do
      fields[i] = 't' .. holder
    end
    local tickets = redis.call('HMGET', k.details, unpack(fields))
    for i, holder in ipairs(holders) do
      if tickets[i] and visit(holder, read_ticket(tickets[i])) then return end
    end
  end
end

-- Whether it was called and has not asked for the claim time: nobody waits for it any more.
local function passed_over(ticket)
  return ticket.called > 0 and ticket.called + claim_time <= now
end

-- How many tickets are in front of this holder's; nil if it has none.
local function position_of(k, holder)
  return k.waiting > 0 and redis.call('ZRANK', k.line, holder) or nil
end

local function remove_ticket(k, holder)
  if k.waiting == 0 or redis.call('ZREM', k.line, holder) == 0 then return end
  redis.call('ZREM', k.lapses, holder, 'c' .. holder)
  redis.call('HDEL', k.details, 't' .. holder)
  k.waiting = k.waiting - 1
  k.changed = true
end

local function drop_lapsed_tickets(k)
  if k.waiting == 0 then return end
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', k.lapses, '-inf', now)) do
    if #member == 16 then remove_ticket(k, member) end
  end
  if redis.call('ZCARD', k.lapses) < k.waiting then -- Somebody removed them: they lapse soon.
    for _, holder in ipairs(redis.call('ZRANGE', k.line, 0, -1)) do
      redis.call('ZADD', k.lapses, 'NX', now + 2 * claim_time, holder)
    end
    k.changed, k.grown = true, true
  end
end

-- Calls those in line who can now be admitted and were not called before, in order, up to the first
-- who can't; the first of these as of `since`. The first who can't is woken too when a hold ends
-- before it would look again.
local function settle(k, since)
  if k.waiting == 0 then return end
  local taken, blocked = live(k), false
  walk(k, k.waiting, function(holder, ticket)
    if not blocked and not passed_over(ticket) then
      blocked = taken >= ticket.limit
      if not blocked then
        if ticket.called == 0 then
          ticket.called, since = since, now
          write_ticket(k, holder, ticket)
          redis.call('ZADD', k.lapses, ticket.called + claim_time, 'c' .. holder)
          wake(holder, ticket.tail)
        end
        if not passed_over(ticket) then taken = taken + 1 end
      end
    end
    if blocked and ticket.called == 0 then
      local ends = earliest_end(k)
      if ends and ticket.asks > ends then
        ticket.asks = ends
        write_ticket(k, holder, ticket)
        wake(holder, ticket.tail)
      end
      return true
    end
  end)
end

-- Rule 1, before anything is decided: what lapsed is gone, and whoever can be admitted since is
-- called as of then.
local function lapse(k)
  local ended_at = drop_ended(k)
  drop_lapsed_tickets(k)
  settle(k, ended_at or now)
end

-- Rule 4: whether an ask of this holder is admitted under `limit`.
local function admits(k, holder, limit)
  local taken = live(k)
  if k.waiting == 0 or taken >= limit then return taken < limit end
  local admitted = true
  walk(k, position_of(k, holder) or k.waiting, function(_, ticket)
    if not passed_over(ticket) then
      admitted = taken < ticket.limit
      taken = taken + 1
    end
    admitted = admitted and taken < limit
    return not admitted
  end)
  return admitted
end

-- A sign of life: the patience begins anew, and it is no longer called.
local function stay(k, holder, ticket, patience)
  redis.call('ZADD', k.lapses, now + patience, holder)
  used_until(k, now + patience)
  if ticket.called > 0 then
    ticket.called = 0
    redis.call('ZREM', k.lapses, 'c' .. holder)
  end
end

-- Joins the line at its end; answers how many are in front.
local function join(k, holder)
  if k.waiting == 0 then
    redis.call('DEL', k.line, k.lapses)
    k.grown = true
  end
  local last = redis.call('ZRANGE', k.line, -1, -1, 'WITHSCORES')[2] or 0
  redis.call('ZADD', k.line, last + 1, holder)
  k.waiting = k.waiting + 1
  k.changed = true
  return k.waiting - 1
end

-- No later than the earliest moment at which anything could lapse, from now.
local function retry_in(k)
  local earliest = earliest_end(k)
  if k.waiting > 0 then
    local after = '(' .. string.format('%.0f', now)
    local lapse_first =
      redis.call('ZRANGEBYSCORE', k.lapses, after, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
    earliest = math.min(earliest or math.huge, tonumber(lapse_first) or math.huge)
  end
  return earliest and earliest < math.huge and earliest - now or 0
end

-- Tells those who are to be woken, each process through its inbox.
local function tell()
  for inbox, holders in pairs(woken) do
    redis.call(publish, channel .. inbox, holders)
  end
end
