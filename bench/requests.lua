-- Requests at random from a file of "path<TAB>key" lines: wrk ... -- FILE SUFFIX
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
    requests[count] = wrk.format('GET', path .. suffix, { ['Authorization'] = key })
  end
end

function request()
  return requests[math.random(count)]
end

function done(summary, latency)
  report(summary, latency)
end
