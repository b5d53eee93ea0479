-- Ends a run of wrk with one line of JSON. Latencies of wrk are microseconds.
function report(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"seconds":%.6f,"badStatus":%d,"socketErrors":%d,"p50":%.3f,"p99":%.3f,"p999":%.3f}\n',
    summary.requests, summary.duration / 1e6, e.status, e.connect + e.read + e.write + e.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency:percentile(99.9) / 1000))
end
