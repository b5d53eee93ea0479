-- The same POST of a form again and again: wrk ... -- PATH AUTHORIZATION BODY
local folder = debug.getinfo(1, 'S').source:match('^@(.*/)') or './'
dofile(folder .. 'report.lua')

local text

function init(args)
  text = wrk.format('POST', args[1], {
    ['Authorization'] = args[2],
    ['Content-Type'] = 'application/x-www-form-urlencoded',
  }, args[3])
end

function request()
  return text
end

function done(summary, latency)
  report(summary, latency)
end
