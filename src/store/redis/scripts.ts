import { createHash } from 'node:crypto'

/** A script as Redis keeps it. */
export interface Script {
  readonly text: string
  /** SHA-1 (hex), by which it is called. */
  readonly sha: string
}

const scriptOf = (text: string): Script => ({ text, sha: createHash('sha1').update(text).digest('hex') })

/** `now` in whole milliseconds: the first argument, or Redis's own clock where that is empty. */
const CLOCK = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local function whole(n) return string.format('%.0f', n) end
-- A rate is a list of "time permits", the oldest first. Before them stands "0 permits": the sum of all.
local function split(entry)
  local at, permits = string.match(entry, '^(%d+) (%d+)$')
  return tonumber(at), tonumber(permits)
end
local function entry(at, permits) return whole(at) .. ' ' .. whole(permits) end
-- A quota is "generation version used end": end 0 = never, -1 = its window is to begin with the next look.
local function readQuota(key)
  local found = redis.call('GET', key)
  if not found then return { generation = 0, version = 0, used = 0, ends = 0 } end
  local generation, version, used, ends = string.match(found, '^(%d+) (%d+) (%d+) (-?%d+)$')
  return { generation = tonumber(generation), version = tonumber(version), used = tonumber(used), ends = tonumber(ends) }
end
local function runs(c) return c.generation > 0 and (c.ends <= 0 or c.ends > now) end
local function writeQuota(key, c, keptMs)
  local text = whole(c.generation) .. ' ' .. whole(c.version) .. ' ' .. whole(c.used) .. ' ' .. whole(c.ends)
  if keptMs > 0 then redis.call('SET', key, text, 'PX', whole(keptMs)) else redis.call('SET', key, text) end
end
`

/** How long a Redis that has lost what it knew of quotas waits for what nodes know: each looks four times a second. */
const HEARING_MS = 1_500

/**
 * Takes permits for many calls at once, each from all of its limits or from none. All that it writes comes last, so that a
 * Redis that is full refuses the whole of it.
 *
 * KEYS: the mark of this Redis's memory, then one for each count. ARGV: the time ('' = Redis's own), the mark that the caller
 * knows ('' = none yet), one for a Redis that has none, '1' where something is asked for, and in one text, with spaces between: the number of counts, and for each: 'r', window (ms),
 * permits used that Redis does not know of, the number of grants of which something is given back, and for each from when it counts (by
 * Redis's time) and permits; or 'q', generation, version, used and end as the caller knows them, permits given back and their
 * generation; the number of limits, and for each: which count, permits, window; the number of asks, and for each: calls, how many
 * milliseconds longer than usual they are to be counted, number of limits, which ones.
 *
 * Answers the mark when the caller knows another: nothing was done. When a caller that knew another mark comes first, Redis has lost what it knew:
 * for a while it only hears what nodes know of quotas, and answers \`wait\` and how many milliseconds to who asks for permits. Else the time; for each count permits used, milliseconds
 * until one comes back or the window ends, and of a quota generation, version and end; then for each ask how many calls pass,
 * and the place of the first limit that refuses the next, or -1.
 */
export const TAKE: Script = scriptOf(`${CLOCK}
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local mark, hearsUntil = string.match(redis.call('GET', KEYS[1]) or (ARGV[3] .. ' 0'), '^(%S+) (%d+)$')
hearsUntil = tonumber(hearsUntil)
if mark ~= ARGV[2] then
  if hearsUntil == 0 and ARGV[2] ~= '' then hearsUntil = clock + ${HEARING_MS} end
  redis.call('SET', KEYS[1], mark .. ' ' .. whole(hearsUntil))
  return mark
end
if ARGV[4] == '1' and hearsUntil > clock then return 'wait ' .. whole(hearsUntil - clock) end

local word = string.gmatch(ARGV[5], '%S+')
local function number() return tonumber(word()) end

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
local function readKnown(key)
  local c = readQuota(key)
  -- What is restored keeps its version, so that who knows a later one is heard as well.
  local generation, version, used, ends, back, backTo = number(), number(), number(), number(), number(), number()
  if generation > c.generation or (generation == c.generation and version > c.version) then
    if ends <= 0 or ends > now then
      c = { generation = generation, version = version, used = used, ends = ends, changed = true }
    end
  end
  c.key = key
  c.given = 0
  c.ahead = 0
  c.running = runs(c)
  if not c.running then c.used = 0 end
  if back ~= 0 and c.running and backTo == c.generation then
    c.used = math.max(0, c.used - back)
    c.changed = true
    c.moved = true
  end
  return c
end
local counts = {}
for i = 1, number() do
  local key = KEYS[i + 1]
  if word() == 'r' then counts[i] = readRate(key) else counts[i] = readKnown(key) end
end
local limits = {}
for i = 1, number() do limits[i] = { count = counts[number() + 1], max = number(), window = number() } end

local function room(limit)
  local c = limit.count
  if c.rate then
    if limit.max > c.max then c.max = limit.max end
    return limit.max - c.used - c.given
  end
  if c.running then
    local ends = limit.window > 0 and now + limit.window or 0
    if (limit.window > 0 and (c.ends <= 0 or c.ends > ends)) or (limit.window == 0 and c.ends ~= 0) then
      c.ends = ends
      c.changed = true
      c.moved = true
    end
  end
  return limit.max - c.used - c.given
end

local answers = {}
for ask = 1, number() do
  local calls, ahead = number(), number()
  local pass = calls
  local own = {}
  for i = 1, number() do
    own[i] = limits[number() + 1]
    pass = math.max(0, math.min(pass, room(own[i])))
  end
  for i = 1, #own do
    local c = own[i].count
    -- A count that is named twice is taken from once.
    if c.taken ~= ask then c.given = c.given + pass end
    if pass > 0 and ahead > c.ahead then c.ahead = ahead end
    c.taken = ask
    if not c.rate and pass > 0 and not c.running then c.firstWindow = own[i].window end
  end
  local refuses = -1
  if pass < calls or calls == 0 then
    for i = #own, 1, -1 do if room(own[i]) <= 0 then refuses = i - 1 end end
  end
  answers[#answers + 1] = pass
  answers[#answers + 1] = refuses
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
local function write(c)
  if c.given > 0 and not c.running then
    c.generation = math.max(c.generation + 1, now)
    c.version = 0
    c.ends = c.firstWindow > 0 and now + c.firstWindow or 0
    c.running = true
  end
  c.used = c.used + c.given
  if c.given > 0 or c.moved then c.version = c.version + 1 end
  -- Kept a while longer than it counts, for nodes whose clocks are behind.
  writeQuota(c.key, c, c.ends > 0 and math.max(0, c.ends - now) + 60000 or 0)
end
local reply = { now }
local function say(n) reply[#reply + 1] = n end
for _, c in ipairs(counts) do
  if c.rate then
    if c.given > 0 then writeRate(c) end
    say(c.used)
    say(c.oldest and math.max(1, c.oldest + c.window + 1 - now) or 0)
  else
    if c.given > 0 or c.changed then write(c) end
    say(c.running and c.used or 0)
    say(c.running and c.ends > 0 and c.ends - now or 0)
    say(c.generation)
    say(c.version)
    say(c.ends)
  end
end
for _, n in ipairs(answers) do say(n) end
return reply
`)

/** Resets a quota. KEYS: the quota. ARGV: the time, permits used, milliseconds until its window ends (0 = a new one). Returns generation and end of the new count. */
export const RESET: Script = scriptOf(`${CLOCK}
local c = readQuota(KEYS[1])
local used = tonumber(ARGV[2])
-- Kept although it says nothing, so that no node brings back what it knew from before.
local lastsMs = tonumber(ARGV[3])
local keptMs = used == 0 and math.max(0, c.ends - now) + 86400000 or 0
if lastsMs > 0 then keptMs = lastsMs + 60000 end
c = { generation = math.max(c.generation + 1, now), version = 0, used = used, ends = lastsMs > 0 and now + lastsMs or -1 }
writeQuota(KEYS[1], c, keptMs)
return { c.generation, c.ends }
`)

/** Adds counts to others. KEYS: rate and quota to take from, rate and quota to add to. ARGV: the time. */
export const CARRY: Script = scriptOf(`${CLOCK}
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
local function carryQuota(from, to)
  local source, target = readQuota(from), readQuota(to)
  if not runs(source) then return end
  local used, ends = source.used, source.ends
  if runs(target) then
    used = used + target.used
    if target.ends <= 0 or ends <= 0 then ends = math.min(target.ends, ends) else ends = math.max(target.ends, ends) end
  end
  local c = { generation = math.max(source.generation, target.generation) + 1, version = 0, used = used, ends = ends }
  writeQuota(to, c, ends > 0 and ends - now + 60000 or 0)
end
carryRate(KEYS[1], KEYS[3])
carryQuota(KEYS[2], KEYS[4])
return 0
`)
