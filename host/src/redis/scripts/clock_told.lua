-- The time, in microseconds since the epoch, as the test that runs this tells it: its last argument.
local now = tonumber(ARGV[#ARGV])
