import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../../src/gateway/record/metrics.ts'
import { offerProcessMetrics } from '../../../src/runtime/process-metrics.ts'
import { chooseMetricsFormat, type MetricsFormat, renderMetrics } from '../../../src/runtime/render-metrics.ts'

async function textOfPage(metrics: Metrics, format?: MetricsFormat): Promise<string> {
  return Buffer.from(await renderMetrics(metrics, format)).toString()
}

/** Lines of the page as a map; fails on a line that text format 0.0.4 does not allow. */
function read(page: string): Map<string, number> {
  const values = new Map<string, number>()
  assert.ok(page.endsWith('\n'))
  for (const line of page.trimEnd().split('\n')) {
    if (/^# (HELP|TYPE|UNIT) [a-z0-9_]+ .+$/.test(line) || line === '# EOF') continue
    const match = /^([a-z0-9_]+(?:\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*\})?) (-?[0-9.e+-]+|NaN|[+-]Inf)$/.exec(line)
    assert.ok(match, `not a metric: ${line}`)
    assert.ok(!values.has(match[1]!), `twice: ${match[1]}`)
    values.set(match[1]!, Number(match[2]))
  }
  return values
}

test('requests and durations by API, cumulated as Prometheus wants them', async () => {
  const metrics = new Metrics()
  const api = metrics.api('orders')
  api.add(200, 0.5, 0.4)
  api.add(200, 30, 20)
  api.add(429, 0.2, -1)
  api.add(200, 20_000, 1)
  const page = read(await textOfPage(metrics))
  assert.equal(page.get('svc_http_requests_total{api="orders",status="200"}'), 3)
  assert.equal(page.get('svc_http_requests_total{api="orders",status="429"}'), 1)
  const bucket = (type: string, le: string) =>
    page.get(`svc_http_request_duration_seconds_bucket{api="orders",type="${type}",le="${le}"}`)
  assert.deepEqual(
    [bucket('total', '0.001'), bucket('total', '0.05'), bucket('total', '10'), bucket('total', '+Inf')],
    [2, 3, 3, 4],
  )
  assert.deepEqual([bucket('upstream', '0.001'), bucket('upstream', '+Inf')], [2, 3])
  assert.deepEqual([bucket('gateway', '0.001'), bucket('gateway', '+Inf')], [2, 4])
  assert.equal(page.get('svc_http_request_duration_seconds_count{api="orders",type="total"}'), 4)
  assert.equal(page.get('svc_http_request_duration_seconds_sum{api="orders",type="upstream"}'), 0.0214)
})

test('an API keeps its counts over a reload, and goes when it is dropped', async () => {
  const metrics = new Metrics()
  metrics.api('a').add(200, 1, 1)
  metrics.api('a').add(200, 1, 1)
  assert.equal(read(await textOfPage(metrics)).get('svc_http_requests_total{api="a",status="200"}'), 2)
  metrics.drop('a')
  assert.equal(read(await textOfPage(metrics)).get('svc_http_requests_total{api="a",status="200"}'), undefined)
})

test('labels are bounded: APIs beyond a thousand and invented statuses are `other`', async () => {
  const metrics = new Metrics()
  for (let i = 0; i < 3000; i++) metrics.api(`quiet${i}`)
  for (let i = 0; i < 1500; i++) metrics.api(`a${i}`).add(200, 1, 1)
  for (let status = 100; status < 600; status++) metrics.api('a0').add(status, 1, 1)
  const page = read(await textOfPage(metrics))
  const requests = [...page].filter(([name]) => name.startsWith('svc_http_requests_total'))
  assert.equal(requests.length, 1000 + 64 + 1) // 64 statuses of a0 and its `other`, 999 more APIs, and `other`
  assert.equal(page.get('svc_http_requests_total{api="other",status="200"}'), 500)
  assert.equal(
    requests.reduce((sum, [, value]) => sum + value, 0),
    2000,
  )
  metrics.drop('a1')
  metrics.api('late').add(200, 1, 1)
  assert.equal(read(await textOfPage(metrics)).get('svc_http_requests_total{api="late",status="200"}'), 1)
})

test('label values are escaped', async () => {
  const metrics = new Metrics()
  metrics.api('a"b\\c\nd').add(200, 1, 1)
  assert.ok((await textOfPage(metrics)).includes('{api="a\\"b\\\\c\\nd",status="200"} 1\n'))
  read(await textOfPage(metrics))
})

test('other parts offer numbers, asked at each scrape; a name means one metric', async () => {
  const metrics = new Metrics()
  let connections = 3
  metrics.offer('svc_connections', () => connections)
  metrics.offer('svc_reloads_total', () => 7)
  metrics.upstreamFailed('upstream_timeout')
  metrics.upstreamFailed('upstream_timeout')
  assert.throws(() => metrics.offer('svc_connections', () => 0), /twice/)
  connections = 4
  const page = await textOfPage(metrics)
  assert.equal(read(page).get('svc_connections'), 4)
  assert.equal(read(page).get('svc_reloads_total'), 7)
  assert.equal(read(page).get('svc_upstream_failures_total{kind="upstream_timeout"}'), 2)
  assert.match(page, /# TYPE svc_reloads_total counter\n/)
})

test('OpenMetrics differs in the names of counters and its end', async () => {
  const metrics = new Metrics()
  metrics.offer('svc_reloads_total', () => 7)
  const page = await textOfPage(metrics, 'openmetrics')
  assert.match(page, /# TYPE svc_reloads counter\nsvc_reloads_total 7\n/)
  assert.match(page, /# UNIT svc_http_request_duration_seconds seconds\n/)
  assert.ok(page.endsWith('# EOF\n'))
  assert.equal(chooseMetricsFormat('application/openmetrics-text;version=1.0.0,text/plain;q=0.5').format, 'openmetrics')
  assert.equal(chooseMetricsFormat(undefined).format, 'prometheus')
})

test('with many APIs and samples requests are let through between a few lines of each', async () => {
  const metrics = new Metrics()
  for (let i = 0; i < 1000; i++) metrics.api(`a${i}`).add(200, i, i)
  let taken = 0
  let atTurn = 0
  let mostInTurn = 0
  // Reading a sample or an API is the unit of work.
  const note = () => {
    taken++
    mostInTurn = Math.max(mostInTurn, taken - atTurn)
  }
  const samples = Array.from({ length: 5000 }, (_, i) => ({
    labels: { target: `t${i}` },
    get value() {
      note()
      return i
    },
  }))
  metrics.offer('svc_upstream_targets', () => samples)
  const apis = metrics.labelledApis.bind(metrics)
  metrics.labelledApis = function* () {
    for (const api of apis()) {
      note()
      yield api
    }
  }
  let ended = false
  const turn = () => {
    atTurn = taken
    if (!ended) setImmediate(turn)
  }
  turn()
  const page = await textOfPage(metrics)
  ended = true
  assert.ok(taken >= 7000)
  assert.ok(mostInTurn <= 1000, `${mostInTurn} in one turn`)
  assert.equal(read(page).size >= 6000, true)
})

test('the process tells of itself', async () => {
  const metrics = new Metrics()
  const stop = offerProcessMetrics(metrics, { version: '1.2.3', thread: 'gateway' })
  try {
    const page = read(await textOfPage(metrics))
    assert.equal(page.get(`svc_build_info{version="1.2.3",node="${process.version}"}`), 1)
    assert.ok(page.get('process_resident_memory_bytes')! > 1e7)
    assert.ok(page.get('process_cpu_seconds_total')! > 0)
    assert.ok(page.has('svc_event_loop_delay_p99_seconds'))
    const busy = page.get('svc_thread_utilization_ratio{thread="gateway"}')!
    assert.ok(busy >= 0 && busy <= 1)
    if (process.platform === 'linux')
      assert.ok(page.get('process_open_fds')! > 0 && page.get('process_open_fds')! <= page.get('process_max_fds')!)
  } finally {
    stop()
  }
})
