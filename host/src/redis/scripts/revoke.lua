-- revoke: ends the grant in one slot, or all of them.
--
-- Keys:      record, line, lapses, details; of a semaphore also holds
-- Arguments: slot, or -1 for all
-- Reply:     the holders of those that it ended, 16 bytes each; published to who listens for them too
-- Atomic:    one script. Looks at every grant of the key.
local k = load(unpack(KEYS))
lapse(k)
local grants = { k.grant }
if k.holds then
  for _, holder in ipairs(redis.call('ZRANGE', k.holds, 0, -1)) do
    grants[#grants + 1] = find(k, holder)
  end
end
local slot, revoked = tonumber(ARGV[1]), {}
for _, grant in ipairs(grants) do
  if slot < 0 or slot == grant.slot then
    depart(k, grant, REVOKED)
    remove(k, grant)
    revoked[#revoked + 1] = grant.holder
  end
end
settle(k, now)
save(k)
tell()
revoked = table.concat(revoked)
if revoked ~= '' then redis.call('PUBLISH', told_revoked, revoked) end
return revoked
