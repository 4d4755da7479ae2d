package redislimit

// The scripts return {allowed, remaining, reset, retry}: whole numbers, times
// in microseconds. Numbers are written with %.0f, since Lua would shorten large
// ones. Only the time of Redis counts.

// gcraScript is the generic cell rate algorithm. KEYS[1] holds the theoretical
// arrival time. ARGV: microseconds per unit, capacity in microseconds, cost.
const gcraScript = `
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local emission, capacity, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local tat = tonumber(redis.call('GET', KEYS[1]) or 0)
if tat < now then tat = now end
if tat > now + capacity then tat = now + capacity end
local due = tat + cost * emission
local allowed, retry = 1, 0
if due - now > capacity then
  allowed, retry, due = 0, due - now - capacity, tat
elseif cost > 0 then
  redis.call('SET', KEYS[1], string.format('%.0f', due), 'PX', string.format('%.0f', math.ceil((due - now) / 1000)))
end
local used, reset = due - now, 0
if used > 0 then reset = (used - 1) % emission + 1 end
return {allowed, math.floor((capacity - used) / emission), reset, retry}
`

// refundScript gives units of the former back. ARGV as there.
const refundScript = `
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local emission, capacity, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local tat = tonumber(redis.call('GET', KEYS[1]) or 0)
if tat > now + capacity then tat = now + capacity end
tat = tat - cost * emission
if tat > now then
  redis.call('SET', KEYS[1], string.format('%.0f', tat), 'PX', string.format('%.0f', math.ceil((tat - now) / 1000)))
else
  redis.call('DEL', KEYS[1])
  tat = now
end
local used, reset = tat - now, 0
if used > 0 then reset = (used - 1) % emission + 1 end
return {1, math.floor((capacity - used) / emission), reset, 0}
`

// windowScript is the exact sliding window. KEYS[1] lists when each unit was
// taken, the latest first, in microseconds. ARGV: units, microseconds, cost. A
// clock that was set back makes all of them count as taken now.
const windowScript = `
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local most, span, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local stamp, life = string.format('%.0f', now), string.format('%.0f', math.ceil(span / 1000))
local latest = tonumber(redis.call('LINDEX', KEYS[1], 0) or 0)
if latest > now then
  local n = redis.call('LLEN', KEYS[1])
  redis.call('DEL', KEYS[1])
  for i = 1, n do redis.call('LPUSH', KEYS[1], stamp) end
  redis.call('PEXPIRE', KEYS[1], life)
end
local oldest = redis.call('LINDEX', KEYS[1], -1)
while oldest and now - tonumber(oldest) >= span do
  redis.call('RPOP', KEYS[1])
  oldest = redis.call('LINDEX', KEYS[1], -1)
end
local n, allowed, retry = redis.call('LLEN', KEYS[1]), 1, 0
if n + cost > most then
  allowed = 0
  retry = span - (now - tonumber(redis.call('LINDEX', KEYS[1], most - n - cost)))
elseif cost > 0 then
  for i = 1, cost do redis.call('LPUSH', KEYS[1], stamp) end
  redis.call('PEXPIRE', KEYS[1], life)
  n = n + cost
end
local reset = 0
if n > 0 then reset = span - (now - tonumber(redis.call('LINDEX', KEYS[1], -1))) end
return {allowed, most - n, reset, retry}
`

// beatScript notes that a replica lives, forgets the ones that do not, and
// returns how many there are. ARGV: the replica, milliseconds without a beat
// after which one is gone.
const beatScript = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('(%.0f', now - ARGV[2]))
redis.call('ZREMRANGEBYSCORE', KEYS[1], string.format('(%.0f', now), '+inf')
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])
`
