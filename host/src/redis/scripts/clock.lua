-- The time, in microseconds since the epoch, by the server's clock: the one that decides.
-- A double holds it exactly until the year 2255.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
