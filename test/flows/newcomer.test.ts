import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLog } from '../../src/model/logs/log.ts'
import { openStore } from '../../src/store/sqlite/connection/open.ts'
import { call } from '../worlds/base/client.ts'
import { defined, rights } from '../worlds/base/definitions.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { startProduct } from '../worlds/flows/product.ts'
import { startOrigin } from '../worlds/servers/origin.ts'

/** Runs a line as a person would paste it. Answers what it printed. */
function paste(line: string): Promise<string> {
  const child = spawn('sh', ['-c', line.replace(/\bcurl\b/, 'curl -sS --max-time 20')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('close', (code) => (code === 0 ? resolve(text) : reject(new Error(`${line} ended with ${code}: ${text}`))))
  })
}

test('a newcomer follows the printed commands from curl to policy, key and restart', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-newcomer-'))
  t.after(() => rmSync(cwd, { recursive: true }))
  const origin = await startOrigin()
  t.after(() => origin.close())
  const apis = join(cwd, 'apis')
  mkdirSync(apis)
  const env = { SVC_GW_APPPATH: apis }
  const first = await startProduct(t, cwd, env)

  // The printed commands work as printed.
  const curls = first.printed.map((line) => line.trim()).filter((line) => line.startsWith('curl '))
  assert.equal(curls.length, 2)
  assert.match(await paste(curls[0]!), /"path": "\/hello"/)
  assert.match(await paste(curls[1]!), /^HTTP\/1\.1 401 /)
  assert.ok(first.printed.some((line) => line.startsWith('data ') && line.includes(join(cwd, 'data'))))
  assert.equal((await first.call('/ready')).status, 200)
  assert.equal((await call(first.dashboardPort, '/hello')).status, 200)

  // An upstream of the newcomer, by file ...
  writeFileSync(join(apis, 'filed.json'), JSON.stringify(defined({ id: 'filed', url: origin.url }), null, 2))
  await eventually('the file is served', async () => (await first.call('/filed/x')).status === 200)
  // ... and by a call, protected.
  const orders = defined({ id: 'orders', url: origin.url, keyIn: 'Authorization' })
  const made = await first.svc('POST', '/svc/apis/oas', orders)
  assert.equal(made.status, 200, made.text)
  assert.equal((await first.call('/orders/x')).status, 401)
  assert.equal((await first.call('/orders/x', { authorization: 'not-a-key-of-ours' })).status, 403)

  // A policy and keys of it.
  const policy = {
    id: 'trial',
    name: 'Trial',
    access_rights: rights('orders'),
    rate: 4,
    per: 3600,
    quota_max: 100,
    quota_renewal_rate: 86_400,
  }
  assert.equal((await first.svc('POST', '/svc/policies', policy)).status, 200)
  const { key } = (await first.svc('POST', '/svc/keys', { apply_policies: ['trial'], alias: 'me' })).json as {
    key: string
  }
  const headers = { authorization: `Bearer ${key}` }
  const use = () => first.call('/orders/x', headers)
  const admitted = await use()
  assert.equal(admitted.status, 200)
  assert.equal(admitted.headers['x-ratelimit-limit'], '100')
  assert.equal(admitted.headers['x-ratelimit-remaining'], '99')
  assert.equal(admitted.headers['ratelimit-policy'], '"key";q=4;w=3600')
  for (let i = 0; i < 3; i++) assert.equal((await use()).status, 200)
  const limited = await use()
  assert.deepEqual([limited.status, limited.json], [429, { error: 'Rate Limit Exceeded' }])
  assert.match(String(limited.headers['retry-after']), /^\d+$/)
  assert.match(String(limited.headers['x-request-id']), /./)
  const forbidden = await first.call('/protected/hello', headers)
  assert.equal(forbidden.status, 403)

  // The counts.
  const { text } = await first.svc('GET', '/metrics')
  assert.match(text, /^svc_http_requests_total\{api="orders",status="200"\} 4$/m)
  assert.match(text, /^svc_http_requests_total\{api="orders",status="429"\} 1$/m)
  assert.equal(await first.stop(), 0, first.output())
  assert.ok(!first.output().includes(key), 'the key is not in what was printed')
  assert.ok(!first.output().includes(first.secret), 'nor is the secret')
  assert.deepEqual(await hitsOf(join(cwd, 'data'), 'orders'), { 200: 4, 401: 1, 403: 1, 429: 1 })

  // All is as it was.
  const second = await startProduct(t, cwd, env)
  assert.equal(second.secret, first.secret)
  assert.match(await paste(curls[0]!.replace(`:${first.port}/`, `:${second.port}/`)), /"path": "\/hello"/)
  assert.equal((await second.call('/filed/x')).status, 200)
  const again = await second.call('/orders/x', headers)
  // A rate count need not survive, a quota does: four were used.
  assert.equal(again.headers['x-ratelimit-remaining'], again.status === 200 ? '95' : '96')
  assert.ok([200, 429].includes(again.status))
  const stored = (await second.svc('GET', '/svc/policies/trial')).json as Record<string, unknown>
  assert.equal(stored.rate, 4)
  assert.equal((await second.svc('GET', '/svc/apis/oas/orders')).status, 200)
  assert.equal((await second.svc('DELETE', `/svc/keys/${key}`)).status, 200)
  assert.equal((await second.call('/orders/x', headers)).status, 403)
  assert.equal(await second.stop(), 0, second.output())
})

/** Counts by status that the stopped installation left in its data folder. */
async function hitsOf(path: string, apiId: string): Promise<Record<string, number>> {
  const store = await openStore({ path, log: silentLog })
  try {
    const hits = await store.hits.sum({ fromHour: 0, toHour: 1e6, where: { apiId }, by: ['status'], limit: 100 })
    return Object.fromEntries(hits.map(({ status, count }) => [status, count]))
  } finally {
    await store.close()
  }
}
