-- Requests at random from a file of "path<TAB>key" lines (the key may be missing): wrk ... -- FILE SUFFIX [MILLISECONDS]
-- With a time every connection waits that long between its requests, on average.
-- All of them are put together before the clock starts.
local folder = debug.getinfo(1, 'S').source:match('^@(.*/)') or './'
dofile(folder .. 'report.lua')

local requests, count = {}, 0

function init(args)
  math.randomseed(os.time())
  local suffix = args[2] or ''
  for line in io.lines(args[1]) do
    local path, key = line:match('^(%S+)\t(.*)$')
    count = count + 1
    requests[count] = wrk.format('GET', path .. suffix, key ~= '' and { ['Authorization'] = key } or {})
  end
  local pause = tonumber(args[3])
  if pause then
    function delay() return math.random(0, 2 * pause) end
  end
end

function request()
  return requests[math.random(count)]
end

function done(summary, latency)
  report(summary, latency)
end
