-- refresh: extends holds and gives tickets' signs of life, many in one script.
--
-- Keys:      of each: record, line, lapses, details, and of a semaphore also holds
-- Arguments: of each: its keys, 1 for a ticket or 0, ttl or patience, and holder, in one
-- Reply:     of each three numbers: 1, ends in, 1 if by its max-hold: held; 2, loss, 0: lost;
--            3, retry in or 0 for at once, 0: in line; 4, 0, 0: not in line; 5, 0, 0: it failed, and
--            others may not have; of one alone, what extend_lease.lua says
-- Atomic:    one script. Each of them is a transition of its own.
local reply, key, at = {}, 1, 1

local function answer(code, one, two)
  local last = 3 * at
  reply[last - 2], reply[last - 1], reply[last] = code, one, two
end

local function refresh(k, holder, ttl)
  local grant = find(k, holder)
  if grant then
    extend(k, grant, ttl)
    answer(1, grant.ends - now, bounded(grant))
  else
    answer(2, loss_of(k, holder), 0)
  end
  settle(k, now)
end

local function sign_of_life(k, holder, patience)
  local stored = k.waiting > 0 and redis.call('HGET', k.details, 't' .. holder)
  if not stored then return answer(4, 0, 0) end
  local ticket = read_ticket(stored)
  stay(k, holder, ticket, patience)
  ticket.asks = now + retry_in(k)
  write_ticket(k, holder, ticket)
  settle(k, now)
  -- Who is called is told so here too: its wake-up may be lost.
  local called = redis.call('ZSCORE', k.lapses, 'c' .. holder)
  answer(3, called and 0 or retry_in(k), 0)
end

local function transition(keys, is_ticket, duration, holder)
  local left, bounds
  if keys == 4 and is_ticket == 0 then
    left, bounds = extend_lease(KEYS[key], holder, duration)
  end
  if left then
    answer(1, left, bounds)
  else
    local k = load(unpack(KEYS, key, key + keys - 1))
    lapse(k)
    if is_ticket == 1 then
      sign_of_life(k, holder, duration)
    else
      refresh(k, holder, duration)
    end
    save(k)
  end
end

while key <= #KEYS do
  local keys, is_ticket, duration, holder = struct.unpack('<BBdc16', ARGV[at])
  -- A key that can't be read costs the others nothing.
  local done, failure = pcall(transition, keys, is_ticket, duration, holder)
  if not done then
    if keys == #KEYS then error(failure, 0) end
    answer(5, 0, 0)
  end
  key, at = key + keys, at + 1
end
tell()
return reply
