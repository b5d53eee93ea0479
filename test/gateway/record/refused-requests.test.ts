import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { CATALOG, type FaultCode } from '../../../src/errors/catalog.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { RecordRow } from '../../../src/store/ports/records.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

interface Scene {
  readonly gateway: TestGateway
  readonly url: string
  api(definition: ReturnType<typeof defined>): Promise<void>
  /** Closes the gateway and answers what is recorded under an id. */
  recorded(id: unknown): Promise<RecordRow[]>
}

async function open(t: TestContext, env: Record<string, string> = {}): Promise<Scene> {
  const [origin, store] = [await startOrigin(), openMemoryStore()]
  const gateway = await startTestGateway({ store, env })
  t.after(async () => {
    await gateway.close()
    await origin.close()
    await store.close()
  })
  return {
    ...{ gateway, url: origin.url },
    async api(definition) {
      const made = await gateway.svc('POST', '/svc/apis/oas', definition)
      assert.equal(made.status, 200, made.text)
    },
    async recorded(id) {
      await gateway.gateway.stop()
      return (await store.records.list({ requestId: String(id), limit: 9 })).rows
    },
  }
}

/** Steps of a record by name, each within the request and not before the one that it follows. */
function stepNames({ fields }: RecordRow): string[] {
  const steps = fields.steps as [name: string, at: number, took: number][]
  const took = (fields.request_time as number) * 1000
  let last = 0
  for (const [name, at, lasted] of steps) {
    assert.ok(at >= last && lasted >= 0, `${name} at ${at} lasted ${lasted}`)
    // The time of a record is rounded to milliseconds.
    assert.ok(at + lasted <= took + 1000, `${name} ends after the request`)
    last = at
  }
  return steps.map(([name]) => name)
}

const SECRET = 'a-key-of-the-test-gateway'
const refusing = (url: string) => [
  defined({ id: 'k', url, keyIn: 'X-Key' }),
  defined({ id: 'blocked', url, server: { ipAccessControl: { enabled: true, block: ['127.0.0.1'] } } }),
  defined({
    id: 'small',
    url,
    global: { trafficLogs: { enabled: true }, requestSizeLimit: { enabled: true, value: 1 } },
  }),
  defined({ id: 'down', url: 'http://127.0.0.1:1' }),
]

const REFUSALS: readonly {
  readonly path: string
  readonly code: FaultCode
  readonly step: string
  readonly sent?: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string }
}[] = [
  { path: '/k/x', code: 'credential_missing', step: 'authenticate' },
  { path: '/k/x', code: 'key_unknown', step: 'authenticate', sent: { headers: { 'X-Key': 'nobody-has-this-key' } } },
  { path: '/blocked/x', code: 'ip_forbidden', step: 'filterAddress' },
  { path: '/small/x', code: 'body_too_large_api', step: 'limitSize', sent: { method: 'POST', body: 'more' } },
  { path: '/down/x', code: 'upstream_unreachable', step: 'forward' },
]

for (const { path, code, step, sent = {} } of REFUSALS)
  test(`the id of a request that ended with ${code} finds its steps and what its caller got`, async (t) => {
    const { gateway, url, api, recorded } = await open(t)
    for (const definition of refusing(url)) await api(definition)
    const answer = await gateway.call(path, sent)
    assert.equal(answer.status, CATALOG[code].status)
    const [row, ...others] = await recorded(answer.headers['x-request-id'])
    assert.ok(row !== undefined && others.length === 0)
    assert.deepEqual([row.status, row.fields.error_code, row.fields.error_body], [answer.status, code, answer.text])
    assert.equal(stepNames(row).at(-1), step)
  })

test('the refusal of a limit is found, with the steps before it', async (t) => {
  const { gateway, url, api, recorded } = await open(t)
  for (const definition of refusing(url)) await api(definition)
  await gateway.svc('POST', `/svc/keys/${SECRET}`, { access_rights: rights('k'), quota_max: -1, rate: 1, per: 3600 })
  await gateway.call('/k/x', { headers: { 'X-Key': SECRET } })
  const { headers } = await gateway.call('/k/x', { headers: { 'X-Key': SECRET } })
  const [row] = await recorded(headers['x-request-id'])
  assert.deepEqual([row?.status, row?.fields.error_code], [429, 'rate_exceeded'])
  const names = stepNames(row!)
  assert.deepEqual([names.at(-1), names.includes('authenticate')], ['takePermits', true])
})

test('a refusal is found after a busy second of requests that were served', async (t) => {
  const { gateway, url, api, recorded } = await open(t, { SVC_ANALYTICS_RECORDSPERSECOND: '2' })
  for (const definition of refusing(url)) await api(definition)
  await api(defined({ id: 'open', url }))
  for (let i = 0; i < 20; i++) await gateway.call('/open/x')
  const { headers } = await gateway.call('/blocked/x')
  const [row] = await recorded(headers['x-request-id'])
  assert.equal(row?.fields.error_code, 'ip_forbidden')
})

test('what a caller was told holds no secret of its request', async (t) => {
  const { gateway, url, api, recorded } = await open(t)
  await api(defined({ id: 'k', url, keyIn: 'X-Key' }))
  const secret = 'nobody-has-this-key'
  const { headers } = await gateway.call('/k/x', { headers: { 'X-Key': secret } })
  const [row] = await recorded(headers['x-request-id'])
  assert.ok(row !== undefined && !JSON.stringify(row).includes(secret))
})
