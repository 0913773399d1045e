-- Why holders whose grant ended before its time no longer hold: remembered until that time, the
-- last 1,000 of a key.
local SUPERSEDED, REVOKED, EXPIRED = 1, 2, 3

local function depart(k, grant, loss)
  local departed = {}
  local stored = redis.call('HGET', k.details, 'd') or ''
  for at = 1, #stored, 25 do
    if struct.unpack('<d', stored, at + 17) > now then
      departed[#departed + 1] = string.sub(stored, at, at + 24)
    end
  end
  if #departed >= 1000 then table.remove(departed, 1) end
  departed[#departed + 1] = struct.pack('<c16Bd', grant.holder, loss, grant.ends)
  redis.call('HSET', k.details, 'd', table.concat(departed))
  k.changed, k.grown = true, true
end

local function loss_of(k, holder)
  local stored = redis.call('HGET', k.details, 'd') or ''
  for at = 1, #stored, 25 do
    local who, loss, until_then = struct.unpack('<c16Bd', stored, at)
    if who == holder and until_then > now then return loss end
  end
  return EXPIRED
end
