-- Keys at random from a numbered range: wrk ... -- PATH KEY-PREFIX COUNT
-- The key is the prefix and ten digits, as bench/keys.ts stores them.
local folder = debug.getinfo(1, 'S').source:match('^@(.*/)') or './'
dofile(folder .. 'report.lua')

local front, back, count

function init(args)
  math.randomseed(os.time())
  local whole = wrk.format('GET', args[1], { ['Authorization'] = args[2] .. '@@' })
  local at = whole:find('@@', 1, true)
  front, back, count = whole:sub(1, at - 1), whole:sub(at + 2), tonumber(args[3])
end

function request()
  return front .. string.format('%010d', math.random(0, count - 1)) .. back
end

function done(summary, latency)
  report(summary, latency)
end
