import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { becomes } from '../../worlds/base/eventually.ts'
import { startTestGateway, TEST_SECRET } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

interface Metric {
  readonly type: string
  readonly samples: { name: string; labels: Map<string, string>; value: number }[]
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`)
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/

/**
 * Reads a page in Prometheus text format 0.0.4, more strictly than Prometheus does: every family is announced by HELP and
 * TYPE once and is contiguous, no sample comes twice, counters end in `_total`, histograms are complete and grow.
 */
function readMetrics(page: string): Map<string, Metric> {
  assert.ok(page.endsWith('\n'), 'the last line ends')
  const families = new Map<string, Metric>()
  const helped = new Set<string>()
  const seen = new Set<string>()
  let family = ''
  for (const line of page.slice(0, -1).split('\n')) {
    const comment = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line)
    if (comment !== null) {
      const [, word, name, rest] = comment as unknown as [string, string, string, string]
      if (word === 'HELP') {
        assert.ok(!helped.has(name), `${name} is described twice`)
        helped.add(name)
        continue
      }
      assert.ok(helped.has(name) && !families.has(name), `${name}: HELP, then TYPE, each once`)
      assert.match(rest, /^(counter|gauge|histogram)$/)
      families.set(name, { type: rest, samples: [] })
      family = name
      continue
    }
    const found = SAMPLE.exec(line)
    assert.ok(found !== null, `not a sample: ${line}`)
    const [, name, labelText = '', value] = found as unknown as [string, string, string | undefined, string]
    assert.ok(name === family || (families.get(family)?.type === 'histogram' && name.startsWith(`${family}_`)), line)
    assert.ok(!seen.has(`${name}{${labelText}}`), `twice: ${line}`)
    seen.add(`${name}{${labelText}}`)
    assert.match(value, /^(NaN|[+-]?Inf|-?\d+(\.\d+)?(e[+-]?\d+)?)$/, line)
    families.get(family)!.samples.push({ name, labels: readLabels(labelText), value: Number(value) })
  }
  for (const [name, metric] of families) checkFamily(name, metric)
  return families
}

function readLabels(text: string): Map<string, string> {
  const labels = new Map<string, string>()
  let rest = text
  while (rest !== '') {
    const found = LABEL.exec(rest)
    assert.ok(found !== null, `labels: ${text}`)
    assert.ok(!labels.has(found[1]!), `label twice: ${text}`)
    labels.set(
      found[1]!,
      found[2]!.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char)),
    )
    rest = rest.slice(found[0].length)
  }
  return labels
}

function checkFamily(name: string, { type, samples }: Metric): void {
  if (type === 'counter') {
    assert.match(name, /_total$/)
    for (const { value } of samples) assert.ok(value >= 0)
  }
  if (type !== 'histogram') return
  const series = new Map<string, { le: number; value: number }[]>()
  const counts = new Map<string, number>()
  for (const { name: sample, labels, value } of samples) {
    const le = labels.get('le')
    const rest = JSON.stringify([...labels].filter(([label]) => label !== 'le'))
    if (sample === `${name}_count`) counts.set(rest, value)
    if (le === undefined) continue
    const list = series.get(rest) ?? []
    list.push({ le: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), value })
    series.set(rest, list)
  }
  assert.deepEqual([...series.keys()], [...counts.keys()])
  for (const [labels, buckets] of series) {
    assert.equal(buckets.at(-1)?.le, Number.POSITIVE_INFINITY)
    assert.equal(buckets.at(-1)?.value, counts.get(labels))
    buckets.reduce((before, bucket) => {
      assert.ok(bucket.le > before.le && bucket.value >= before.value, `buckets of ${labels} grow`)
      return bucket
    })
  }
}

test('the page is Prometheus text, and its numbers are those of the traffic', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const odd = 'a "quoted\\" id'
  await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url, keyIn: 'Authorization' }))
  await gateway.svc('POST', '/svc/apis/oas', defined({ id: odd, path: '/odd/', url: origin.url }))
  await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'dead', url: 'http://127.0.0.1:9/' }))
  const { key } = (await gateway.svc('POST', '/svc/keys', { access_rights: rights('a') })).json as { key: string }
  const headers = { authorization: key }
  for (let i = 0; i < 5; i++) await gateway.call('/a/x', { headers })
  for (let i = 0; i < 3; i++) await gateway.call('/a/x')
  await gateway.call('/odd/x')
  await gateway.call('/dead/x')
  await gateway.call('/nowhere')
  const page = readMetrics((await gateway.svc('GET', '/metrics')).text)
  const requests = new Map(
    page
      .get('svc_http_requests_total')!
      .samples.map(({ labels, value }) => [`${labels.get('api')} ${labels.get('status')}`, value]),
  )
  assert.equal(requests.get('a 200'), 5)
  assert.equal(requests.get('a 401'), 3)
  assert.equal(requests.get(`${odd} 200`), 1)
  assert.equal(requests.get('dead 502'), 1)
  assert.equal(requests.get(' 404'), 1)
  const durations = page.get('svc_http_request_duration_seconds')!.samples
  const count = (api: string, type: string) =>
    durations.find(
      ({ name, labels }) => name.endsWith('_count') && labels.get('api') === api && labels.get('type') === type,
    )?.value
  assert.deepEqual([count('a', 'total'), count('a', 'upstream')], [8, 5])
  assert.equal(page.get('svc_apis_loaded')!.samples[0]!.value, 3)
  assert.deepEqual(
    page.get('svc_upstream_failures_total')!.samples.map(({ labels, value }) => [labels.get('kind'), value]),
    [['upstream_unreachable', 1]],
  )
})

test('callers cannot create labels, and the labels of APIs are bounded', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url }))
  origin.script = ({ target }, response) => {
    response.writeHead(Number(target.slice(1)))
    response.end()
  }
  for (let status = 200; status < 600; status += 3) {
    await gateway.call(`/a/${status}`, { method: `M${status}`, headers: { host: `h${status}`, 'x-any': `v${status}` } })
    await gateway.call(`/unknown-${status}`)
  }
  const text = (await gateway.svc('GET', '/metrics')).text
  const page = readMetrics(text)
  assert.deepEqual(
    [...new Set(page.get('svc_http_requests_total')!.samples.map(({ labels }) => labels.get('api')))].sort(),
    ['', 'a'],
  )
  assert.ok(page.get('svc_http_requests_total')!.samples.length <= 100)
  for (const word of ['unknown-', 'M2', 'h203', 'v203']) assert.ok(!text.includes(word), word)
})

test('no secret stands on the page, and OpenMetrics is given to those who ask for it', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: 'http://127.0.0.1:9/', keyIn: 'Authorization' }))
  const { key, key_hash } = (await gateway.svc('POST', '/svc/keys', { access_rights: rights('a'), alias: 'my alias' }))
    .json as { key: string; key_hash: string }
  await gateway.call('/a/x?token=in-the-query', { headers: { authorization: key } })
  const { text, headers } = await gateway.svc('GET', '/metrics')
  assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/)
  for (const secret of [key, key_hash, TEST_SECRET, 'in-the-query', 'my alias'])
    assert.ok(!text.includes(secret), secret)
  const open = await gateway.svc('GET', '/metrics', undefined, { accept: 'application/openmetrics-text;version=1.0.0' })
  assert.match(String(open.headers['content-type']), /^application\/openmetrics-text/)
  assert.ok(open.text.endsWith('# EOF\n'))
})

test('access log lines are JSON, one for each request, without query, keys or header values', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ accessLog: true })
  t.after(() => gateway.close())
  await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url, keyIn: 'Authorization' }))
  const { key, key_hash } = (await gateway.svc('POST', '/svc/keys', { access_rights: rights('a') })).json as {
    key: string
    key_hash: string
  }
  await gateway.call('/a/fine?token=in-the-query', { headers: { authorization: key, 'x-private': 'header-value' } })
  await gateway.call('/a/refused', { headers: { authorization: 'a-wrong-credential' } })
  await gateway.call('/a/%0a%22,%22level%22:60')
  await gateway.call('/nowhere')
  await gateway.svc('GET', `/svc/keys/${key}`)
  const traffic = await gateway.call('/a/post', { method: 'POST', body: 'body-text', headers: { authorization: key } })
  await gateway.close()
  const lines = gateway.accessLines.map((line) => JSON.parse(line) as Record<string, unknown>)
  const requests = lines.filter(({ msg }) => msg === 'request')
  const of = (path: string) => requests.find((line) => line.path === path)
  assert.deepEqual(
    [of('/a/fine')?.status, of('/a/fine')?.api_id, of('/a/fine')?.method, of('/a/fine')?.key],
    [200, 'a', 'GET', key_hash.slice(0, 8)],
  )
  assert.deepEqual([of('/a/refused')?.status, of('/a/refused')?.fault], [403, 'key_unknown'])
  assert.deepEqual([of('/nowhere')?.status, of('/nowhere')?.api_id], [404, ''])
  assert.equal(of('/a/post')?.request_id !== undefined, true)
  assert.equal(traffic.status, 200)
  const all = gateway.accessLines.join('\n')
  const secrets = [key, key_hash, TEST_SECRET, 'in-the-query', 'header-value', 'a-wrong-credential', 'body-text']
  for (const secret of secrets) assert.ok(!all.includes(secret), secret)
  assert.ok(!JSON.stringify(gateway.log).includes(key))
})

test('requests in flight begin and end alike, however they end', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const waiting: (() => void)[] = []
  origin.script = ({ target }, response) => {
    if (target.includes('slow')) waiting.push(() => response.end())
    else if (target.includes('cut')) response.destroy()
    else response.end('fine')
  }
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url }))
  const inFlight = async () => {
    const page = readMetrics((await gateway.svc('GET', '/metrics')).text)
    // Less the one that reads the page.
    return page.get('svc_http_requests_in_flight')!.samples[0]!.value - 1
  }
  const send = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(gateway.port, '127.0.0.1', () => socket.end(text))
      socket
        .on('error', reject)
        .on('close', () => resolve())
        .resume()
    })
  const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`
  // Whole, two on one connection, not a request at all, a head without its end, a body without its end, one that the upstream cuts.
  const whole = [get('/a/x'), get('/a/x') + get('/nowhere'), get('/hello'), get('/a/cut')]
  const broken = ['no request\r\n\r\n', 'GET /a/x HTTP/1.1\r\nHost', get('/a/x', 'Content-Length: 9\r\n')]
  for (const text of [...whole, ...broken]) await send(text)
  assert.equal(await inFlight(), 0)
  const client = connect(gateway.port, '127.0.0.1', () => client.write(get('/a/slow')))
  await becomes(() => waiting.length, 1)
  assert.equal(await inFlight(), 1)
  // The client leaves before its answer.
  client.destroy()
  await becomes(inFlight, 0)
  const asked = gateway.call('/a/slow')
  await becomes(() => waiting.length, 2)
  assert.equal(await inFlight(), 1)
  for (const answer of waiting) answer()
  assert.equal((await asked).status, 200)
  await becomes(inFlight, 0)
})
