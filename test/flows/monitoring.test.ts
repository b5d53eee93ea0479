import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { METRICS, type MetricName, metricEntry } from '../../src/model/metrics/catalog.ts'
import { call } from '../worlds/base/client.ts'
import { defined } from '../worlds/base/definitions.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { startProduct } from '../worlds/flows/product.ts'
import { startOrigin } from '../worlds/servers/origin.ts'
import { promtool } from '../worlds/servers/prometheus.ts'
import { makeCertificate } from '../worlds/wire/certificates.ts'

const ROOT = join(import.meta.dirname, '../..')
const MONITORING = join(ROOT, 'deploy/monitoring')
const OPERATE = join(ROOT, 'docs/operate')
const NAMES = Object.keys(METRICS) as MetricName[]
const SCRAPER = 'secret-of-the-scraper'
const BEARER = { authorization: `Bearer ${SCRAPER}` }
/** The entries of the catalogue that exist under these conditions exist in the test below. */
const THERE = new Set([
  undefined,
  'with analytics',
  'with request records',
  'with `gateway.access_log`',
  'with `gateway.tls.enabled`',
  ...(process.platform === 'linux' ? ['on Linux'] : []),
])

/** Families of a page by TYPE, with its samples under their whole names. */
function read(page: string) {
  const types = new Map([...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]))
  const samples = new Map(
    [...page.matchAll(/^([^#\s]\S*(?:\{.*\})?) (\S+)$/gm)].map(([, id, value]) => [id!, Number(value)]),
  )
  return { types, samples }
}

/** Names of metrics in an expression of Prometheus, without what it makes of histograms. */
const namedIn = (text: string) =>
  [...text.matchAll(/\b(?:svc|process)_[a-z0-9_]+/g)].map(([name]) => name.replace(/_(?:bucket|sum|count)$/, ''))

/** Runs a block of a page in the folder of the project. */
function shell(script: string, env: NodeJS.ProcessEnv): Promise<{ status: number | null; stderr: string }> {
  const child = spawn('sh', ['-e'], { cwd: ROOT, env, stdio: ['pipe', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  child.stdin.end(script)
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, stderr })))
}

test('both parts serve the catalogued metrics to scrapers and administrators alone', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-monitoring-'))
  t.after(() => rmSync(cwd, { recursive: true }))
  const certificate = makeCertificate('localhost')
  writeFileSync(join(cwd, 'cert.pem'), certificate.cert)
  writeFileSync(join(cwd, 'key.pem'), certificate.key)
  const origin = await startOrigin()
  t.after(() => origin.close())
  origin.script = ({ target }, response) => {
    response.writeHead(target.includes('broken') ? 503 : 200)
    response.end()
  }
  const product = await startProduct(t, cwd, {
    SVC_METRICS_SECRET: SCRAPER,
    SVC_METRICS_DURATIONBUCKETSMS: '2.5,50,500',
    SVC_GW_TLS_ENABLED: 'true',
    SVC_GW_TLS_LISTENPORT: '0',
    SVC_GW_TLS_CERTFILE: 'cert.pem',
    SVC_GW_TLS_KEYFILE: 'key.pem',
  })
  const { dashboardPort } = product
  await product.svc('POST', '/svc/apis/oas', defined({ id: 'orders', url: origin.url }))
  await product.svc('POST', '/svc/apis/oas', defined({ id: 'closed', url: origin.url, keyIn: 'Authorization' }))
  for (const path of ['/orders/x', '/orders/broken', '/closed/x', '/nowhere']) await product.call(path)
  await call(dashboardPort, '/api/apis')

  // Who may read it, and that the scraper's secret opens nothing else.
  assert.equal((await product.call('/metrics')).status, 403)
  assert.equal((await product.call('/metrics', { authorization: 'Bearer another-secret-of-a-scraper' })).status, 403)
  assert.equal((await product.call('/svc/apis/oas', BEARER)).status, 403)
  assert.equal((await product.svc('GET', '/metrics')).status, 200)
  const ask = (path: string, headers: Record<string, string>) => call(dashboardPort, path, { headers })
  assert.equal((await ask('/metrics', {})).status, 401)
  assert.equal((await ask('/metrics', { authorization: 'Bearer another-secret-of-a-scraper' })).status, 401)
  assert.equal((await ask('/admin/organisations', BEARER)).status, 401)
  assert.equal((await ask('/api/apis', BEARER)).status, 401)
  const secrets = JSON.parse(readFileSync(join(cwd, 'data/secrets.json'), 'utf8'))
  assert.equal((await ask('/metrics', { 'admin-auth': secrets.admin_secret })).status, 200)

  const pages = {
    gateway: (await product.call('/metrics', BEARER)).text,
    dashboard: (await ask('/metrics', BEARER)).text,
  }
  for (const [part, page] of Object.entries(pages)) {
    const { types, samples } = read(page)
    const expected = NAMES.filter((name) => {
      const { part: only = part, only: when } = metricEntry(name)
      return only === part && THERE.has(when)
    })
    assert.deepEqual([...types.keys()].sort(), [...expected].sort(), part)
    for (const name of expected) {
      const { kind, labels = [] } = metricEntry(name)
      assert.equal(types.get(name), kind, name)
      for (const id of samples.keys()) {
        const [, found, pairs = ''] = /^([a-z0-9_]+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})?$/.exec(id)!
        if (found !== name) continue
        const given = [...pairs.matchAll(/(\w+)="/g)].map(([, label]) => label).filter((label) => label !== 'le')
        assert.deepEqual(given, [...labels], id)
      }
    }
    const { status, said } = await promtool(['check', 'metrics'], page)
    assert.equal(status, 0, `${part}: ${said}`)
    assert.ok(!page.includes(SCRAPER))
  }

  const { samples } = read(pages.gateway)
  assert.equal(samples.get('svc_upstream_responses_total{api="orders",code="2xx"}'), 1)
  assert.equal(samples.get('svc_upstream_responses_total{api="orders",code="5xx"}'), 1)
  assert.equal(samples.get('svc_refusals_total{code="api_not_found"}'), 1)
  assert.equal(samples.get('svc_refusals_total{code="credential_missing"}'), 1)
  // The one that reads the page.
  assert.equal(samples.get('svc_http_requests_in_flight'), 1)
  const bounds = [...samples.keys()].flatMap(
    (id) => /_request_duration_.*api="orders",type="total",le="(.+)"/.exec(id)?.[1] ?? [],
  )
  assert.deepEqual(bounds, ['0.0025', '0.05', '0.5', '+Inf'])
  const endsAt = samples.get('svc_certificate_expiry_timestamp_seconds{certificate="file"}')!
  assert.equal(endsAt, Date.parse('2049-12-31T23:59:59Z') / 1000)
  assert.ok(samples.has('svc_thread_utilization_ratio{thread="store-writer"}'))
  const revisions = async () => {
    const now = read((await product.call('/metrics', BEARER)).text).samples
    return [now.get('svc_revision'), now.get('svc_store_revision')]
  }
  await product.svc('POST', '/svc/keys', { alias: 'one' })
  await eventually('the revision in force is that of the store', async () => {
    const [inForce, stored] = await revisions()
    return inForce === stored && stored! > 0
  })
  // The pages say how, as printed.
  for (const page of ['monitoring', 'production']) {
    const blocks = [...readFileSync(join(OPERATE, `${page}.md`), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    assert.ok(blocks.length > 0)
    for (const [, block] of blocks) {
      const script = block!
        .replaceAll('127.0.0.1:8080', `127.0.0.1:${product.port}`)
        .replaceAll('127.0.0.1:3000', `127.0.0.1:${dashboardPort}`)
        .replace(/\bcurl /g, 'curl -sSf --max-time 20 ')
      const env = { ...process.env, SVC_METRICS_SECRET: SCRAPER }
      const { status, stderr } = await shell(script, env)
      assert.equal(status, 0, `${page}: ${block}${stderr}`)
    }
  }
  const dashboard = read((await ask('/metrics', BEARER)).text).samples
  assert.equal(dashboard.get('svc_dashboard_requests_total{method="GET",status="401"}'), 5)
})

test('rules and Grafana dashboard name existing metrics, and alerts fire on their condition', async () => {
  const rulesFile = join(MONITORING, 'rules.yaml')
  for (const words of [
    ['check', 'rules', rulesFile],
    ['check', 'config', '--syntax-only', join(MONITORING, 'prometheus.yaml')],
    ['test', 'rules', join(MONITORING, 'rules.test.yaml')],
  ]) {
    const { status, said } = await promtool(words)
    assert.equal(status, 0, said)
  }
  const groups: { rules: { record?: string; alert?: string; expr: string }[] }[] = parse(
    readFileSync(rulesFile, 'utf8'),
  ).groups
  const rules = groups.flatMap((group) => group.rules)
  const panels: { targets?: { expr: string }[] }[] = JSON.parse(
    readFileSync(join(MONITORING, 'grafana-dashboard.json'), 'utf8'),
  ).panels
  const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  const named = [...rules.map(({ expr }) => expr), ...shown].flatMap(namedIn)
  assert.ok(named.length > 60)
  const known = new Set<string>(NAMES)
  assert.deepEqual(
    [...new Set(named)].filter((name) => !known.has(name)),
    [],
  )
  const recorded = new Set(rules.flatMap(({ record }) => record ?? []))
  const used = [...rules.map(({ expr }) => expr), ...shown].flatMap(
    (text) => text.match(/gatehouse:[a-z0-9_:]+/g) ?? [],
  )
  assert.deepEqual(
    [...new Set(used)].filter((name) => !recorded.has(name)),
    [],
  )
  // Each alert has a case in which it fires, one in which it does not, and a line of what to do.
  const tests = readFileSync(join(MONITORING, 'rules.test.yaml'), 'utf8')
  const page = readFileSync(join(OPERATE, 'monitoring.md'), 'utf8')
  for (const { alert } of rules) {
    if (alert === undefined) continue
    assert.match(tests, new RegExp(`alertname: ${alert}\\n +exp_alerts:\\n`), alert)
    assert.match(tests, new RegExp(`alertname: ${alert}, exp_alerts: \\[\\]`), alert)
    assert.ok(page.includes(`| \`${alert}\` |`), alert)
  }
})
