import type { RateScript } from './scripts.ts'

const ENTRIES = `
-- A rate is a list of "time permits", the oldest first. Before them stands "0 permits": the sum of all.
local function split(entry)
  local at, permits = string.match(entry, '^(%d+) (%d+)$')
  return tonumber(at), tonumber(permits)
end
local function entry(at, permits) return whole(at) .. ' ' .. whole(permits) end
`

/** Sliding windows as lists of uses: see `SLIDING_WINDOW`. */
export const SLIDING_WINDOW_SCRIPT: RateScript = {
  key: 'rate',
  take: `${ENTRIES}
local LOOK = 16
-- A clock that was set back: what was given counts from now on.
local function setBack(c, key)
  redis.call('RPUSH', key, entry(0, c.used), entry(now, c.used))
  redis.call('LTRIM', key, -2, -1)
  c.last = now
  c.length = 2
end
local function forget(c, key)
  repeat
    local gone = 0
    for _, one in ipairs(redis.call('LRANGE', key, 1, LOOK)) do
      local at, permits = split(one)
      if now - at <= c.window then c.oldest = at; break end
      gone = gone + 1
      c.used = c.used - permits
    end
    if gone > 0 then
      redis.call('LTRIM', key, gone, -1)
      redis.call('LSET', key, 0, entry(0, c.used))
      c.length = c.length - gone
    end
  until gone < LOOK
end
-- Permits of the grant of a time that were not used stand in an entry that is no older, for entries never go back in time. They are
-- taken from the oldest of these: what is taken from one that is too old is counted too long elsewhere, never too short.
local function takeBack(c, key, since, permits)
  if now - since > c.window then return end
  local place
  for i = c.length - 1, 1, -LOOK do
    local first = math.max(1, i - LOOK + 1)
    local some = redis.call('LRANGE', key, first, i)
    for j = #some, 1, -1 do
      if split(some[j]) < since then i = 0; break end
      place = first + j - 1
    end
    if i == 0 then break end
  end
  if not place then return end
  while permits > 0 and place < c.length do
    local at, held = split(redis.call('LINDEX', key, place))
    local less = math.min(held, permits)
    if less > 0 then redis.call('LSET', key, place, entry(at, held - less)) end
    c.used = c.used - less
    permits = permits - less
    place = place + 1
  end
  redis.call('LSET', key, 0, entry(0, c.used))
end
local function readRate(key)
  local c = { key = key, rate = true, given = 0, used = 0, last = 0, max = 0, ahead = 0 }
  c.window = number()
  c.given = number()
  c.length = redis.call('LLEN', key)
  if c.length > 0 then
    local _, used = split(redis.call('LINDEX', key, 0))
    c.used = used
    c.last = split(redis.call('LINDEX', key, -1))
    -- Further ahead than anything is given.
    if c.last > now + 10000 then setBack(c, key) end
    forget(c, key)
  end
  for _ = 1, number() do
    local since, permits = number(), number()
    takeBack(c, key, since, permits)
  end
  return c
end
-- What may be used later counts as if it had been given later.
local function writeRate(c)
  local at = math.max(now + c.ahead, c.last)
  c.used = c.used + c.given
  if c.length == 0 then redis.call('RPUSH', c.key, entry(0, c.used), entry(at, c.given))
  else
    -- Above 1024 permits, neighbours share an entry with the time of the last.
    local _, last = split(redis.call('LINDEX', c.key, -1))
    if c.length > 1 and (c.last == at or last + c.given <= math.ceil(c.max / 1024)) then
      redis.call('LSET', c.key, -1, entry(at, last + c.given))
    else redis.call('RPUSH', c.key, entry(at, c.given)) end
    redis.call('LSET', c.key, 0, entry(0, c.used))
  end
  redis.call('PEXPIRE', c.key, whole(at - now + c.window + 1000))
  if not c.oldest then c.oldest = at end
end
`,
  carry: `${ENTRIES}
local function gather(key, into)
  for i, one in ipairs(redis.call('LRANGE', key, 0, -1)) do
    local at, permits = split(one)
    if i > 1 and permits > 0 then into[#into + 1] = { at = at, permits = permits } end
  end
end
local function carryRate(from, to)
  local all = {}
  gather(from, all)
  if #all == 0 then return end
  gather(to, all)
  table.sort(all, function(a, b) return a.at < b.at end)
  local old = redis.call('LLEN', to)
  local used = 0
  for _, one in ipairs(all) do used = used + one.permits end
  redis.call('RPUSH', to, entry(0, used))
  for _, one in ipairs(all) do redis.call('RPUSH', to, entry(one.at, one.permits)) end
  redis.call('LTRIM', to, old, -1)
  redis.call('PEXPIRE', to, math.max(1, redis.call('PTTL', from), redis.call('PTTL', to)))
end
`,
}
