import { createHash } from 'node:crypto'

/** A script as Redis keeps it. */
export interface Script {
  readonly text: string
  /** SHA-1 (hex), by which it is called. */
  readonly sha: string
}

/**
 * How Redis counts rates by an algorithm: Lua within the scripts below, whose `now` (milliseconds) and `whole` it may use. A count
 * is a key of Redis; what it holds is the algorithm's own.
 */
export interface RateScript {
  /** In the names of counts, before the id: nodes that count by another algorithm must not meet them. */
  readonly key: string
  /**
   * `readRate(key)` reads from the arguments, by `number()`: window in milliseconds, permits used that Redis does not know of (`given`), the
   * number of grants of which something is given back, and for each from when it counts and permits. It answers
   * `{ key, rate = true, window, given, used, max = 0, ahead = 0 }`, and `oldest`, the time of the use that stops to count first.
   * `writeRate(count)` writes `given` permits, which may be used up to `ahead` milliseconds later, for a limit of `max`; it adds them to `used`
   * and sets an `oldest` that is missing.
   */
  readonly take: string
  /** `carryRate(from, to)` adds what one key holds to another. */
  readonly carry: string
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
const takeText = (rates: RateScript) => `${CLOCK}
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

${rates.take}
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
`

/** Resets a quota. KEYS: the quota. ARGV: the time, permits used, milliseconds until its window ends (0 = a new one). Returns generation and end of the new count. */
const RESET = `${CLOCK}
local c = readQuota(KEYS[1])
local used = tonumber(ARGV[2])
-- Kept although it says nothing, so that no node brings back what it knew from before.
local lastsMs = tonumber(ARGV[3])
local keptMs = used == 0 and math.max(0, c.ends - now) + 86400000 or 0
if lastsMs > 0 then keptMs = lastsMs + 60000 end
c = { generation = math.max(c.generation + 1, now), version = 0, used = used, ends = lastsMs > 0 and now + lastsMs or -1 }
writeQuota(KEYS[1], c, keptMs)
return { c.generation, c.ends }
`

/** Adds counts to others. KEYS: rate and quota to take from, rate and quota to add to. ARGV: the time. */
const carryText = (rates: RateScript) => `${CLOCK}
${rates.carry}
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
`

/** The scripts of a node, which counts rates by one algorithm. */
export interface CountScripts {
  /** Takes permits for many calls at once. */
  readonly take: Script
  /** Resets a quota. */
  readonly reset: Script
  /** Adds counts to others. */
  readonly carry: Script
}

/** The scripts for an algorithm of rates. */
export function countScripts(rates: RateScript): CountScripts {
  return { take: scriptOf(takeText(rates)), reset: scriptOf(RESET), carry: scriptOf(carryText(rates)) }
}
