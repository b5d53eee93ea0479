import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { startLoad } from '../../worlds/gateway/load.ts'
import { SlowStore } from '../../worlds/gateway/slow-store.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const KEYS = process.env.GATEHOUSE_DEEP === '1' ? 1000 : 300
/** As few as the setting allows. */
const IN_MEMORY = 100

/** A gateway in front of one protected API, `/a/`. */
async function open(t: TestContext, store: Store | undefined, env: Record<string, string> = {}): Promise<TestGateway> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ env, ...(store !== undefined && { store }) })
  t.after(() => gateway.close())
  if (store !== undefined) t.after(() => store.close())
  const api = defined({ id: 'a', url: origin.url, keyIn: 'Authorization' })
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', api)).status, 200)
  return gateway
}

async function makeKey(gateway: TestGateway, session: JsonObject): Promise<string> {
  const made = await gateway.svc('POST', '/svc/keys', session)
  assert.equal(made.status, 200, made.text)
  return (made.json as { key: string }).key
}

const use = (gateway: TestGateway, key: string, path = '/a/x') =>
  gateway.call(path, { headers: { authorization: key } })

/** A number of the metrics page. */
async function gauge(gateway: TestGateway, name: string): Promise<number> {
  const { text } = await gateway.svc('GET', '/metrics')
  const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)
  assert.ok(found !== null, `${name} in ${text.slice(0, 200)}`)
  return Number(found[1])
}

/** A session that may call nothing but its own path. */
function ownPath(number: number): JsonObject {
  const right = { api_id: 'a', allowed_urls: [{ url: `^/a/own-${number}$`, methods: ['GET'] }] }
  return { access_rights: { a: right }, tags: [`t${number}`] }
}

for (const { name, openStore } of [
  { name: 'a store that answers at once', openStore: () => openMemoryStore() },
  { name: 'a store that answers later', openStore: () => new SlowStore(openMemoryStore()) },
]) {
  test(`${name}: ${KEYS} keys, ${IN_MEMORY} in memory, and each is known by what it may do`, async (t) => {
    const gateway = await open(t, openStore(), { SVC_GW_SESSIONCACHEENTRIES: String(IN_MEMORY) })
    const keys = await Promise.all(Array.from({ length: KEYS }, (_, i) => makeKey(gateway, ownPath(i))))
    for (let round = 0; round < 2; round++) {
      for (let from = 0; from < KEYS; from += 50) {
        const asked = Array.from({ length: 50 }, async (_, i) => {
          const n = from + i
          assert.equal((await use(gateway, keys[n]!, `/a/own-${n}`)).status, 200, `own path of key ${n}`)
          assert.equal((await use(gateway, keys[n]!, `/a/own-${(n + 1) % KEYS}`)).status, 403, `other path of key ${n}`)
        })
        await Promise.all(asked)
        assert.ok((await gauge(gateway, 'svc_sessions_cached')) <= IN_MEMORY)
      }
    }
    assert.equal((await use(gateway, `${keys[0]}x`, '/a/own-0')).status, 403)
  })

  test(`${name}: keys in use stay in memory while others come and go`, async (t) => {
    const gateway = await open(t, openStore(), { SVC_GW_SESSIONCACHEENTRIES: '100' })
    const busy = await makeKey(gateway, { access_rights: rights('a') })
    const others = await Promise.all(
      Array.from({ length: 300 }, () => makeKey(gateway, { access_rights: rights('a') })),
    )
    await use(gateway, busy)
    const before = await gauge(gateway, 'svc_session_cache_misses_total')
    for (const other of others) {
      assert.equal((await use(gateway, other)).status, 200)
      assert.equal((await use(gateway, busy)).status, 200)
    }
    assert.equal((await gauge(gateway, 'svc_session_cache_misses_total')) - before, others.length)
  })

  test(`${name}: unknown keys fill no memory`, async (t) => {
    const gateway = await open(t, openStore(), { SVC_GW_SESSIONCACHEENTRIES: '100' })
    for (let i = 0; i < 300; i++) assert.equal((await use(gateway, `unknown-key-number-${i}`)).status, 403)
    assert.equal(await gauge(gateway, 'svc_sessions_cached'), 0)
  })

  test(`${name}: a policy edited under load is in force at once, one version an answer`, async (t) => {
    const gateway = await open(t, openStore())
    const policy = (number: number) => ({
      id: 'p',
      access_rights: rights('a'),
      rate: 1_000_000 + number,
      per: 1,
      quota_max: 1_000_000 + number,
      quota_renewal_rate: 3600,
    })
    await gateway.svc('POST', '/svc/policies', policy(0))
    const keys = await Promise.all(Array.from({ length: 20 }, () => makeKey(gateway, { apply_policies: ['p'] })))
    const numberOf = (headers: Readonly<Record<string, string | string[] | undefined>>) => {
      const quota = Number(headers['x-ratelimit-limit']) - 1_000_000
      assert.match(String(headers['ratelimit-policy']), new RegExp(`"key";q=${1_000_000 + quota};`))
      return quota
    }
    const load = startLoad(
      gateway.port,
      4,
      (count) => ({ path: '/a/x', headers: { authorization: keys[count % keys.length]! } }),
      (answer) => {
        assert.equal(answer.status, 200, answer.text)
        numberOf(answer.headers)
      },
    )
    for (let i = 1; i <= 60; i++) {
      assert.equal((await gateway.svc('PUT', '/svc/policies/p', policy(i))).status, 200)
      const { status, headers } = await use(gateway, keys[i % keys.length]!)
      assert.equal(status, 200)
      assert.equal(numberOf(headers), i)
    }
    await load.stop()
    assert.ok(load.answered > 60)
  })
}

/** Kinds of sessions that are large by themselves, each estimated at some 30,000 bytes. */
const LARGE: Readonly<Record<string, (number: number) => JsonObject>> = {
  'a long text': (number) => ({ access_rights: rights('a'), meta_data: { note: `${number} `.padEnd(10_000, 'x') } }),
  'many paths': (number) => {
    const urls = Array.from({ length: 45 }, (_, i) => ({ url: `^/a/${number}/${i}$`, methods: ['GET'] }))
    return { access_rights: { a: { api_id: 'a', allowed_urls: [{ url: '^/a/x$', methods: ['GET'] }, ...urls] } } }
  },
}

test('sessions that are large stay in memory up to a sum, those that share their paths are small', async (t) => {
  const bound = 300_000
  const gateway = await open(t, openMemoryStore(), { SVC_GW_SESSIONCACHEBYTES: String(bound) })
  const urls = Array.from({ length: 100 }, (_, i) => ({ url: `^/a/(x|${i})$`, methods: ['GET'] }))
  const access_rights = { a: { api_id: 'a', versions: ['Default'], allowed_urls: urls } }
  assert.equal((await gateway.svc('POST', '/svc/policies', { id: 'p', access_rights })).status, 200)
  const shared = await Promise.all(Array.from({ length: 60 }, () => makeKey(gateway, { apply_policies: ['p'] })))
  for (const key of shared) assert.equal((await use(gateway, key)).status, 200)
  assert.equal(await gauge(gateway, 'svc_sessions_cached'), shared.length)
  for (const [name, session] of Object.entries(LARGE)) {
    const keys = await Promise.all(Array.from({ length: 60 }, (_, i) => makeKey(gateway, session(i))))
    for (const key of keys) assert.equal((await use(gateway, key)).status, 200, name)
    const cached = await gauge(gateway, 'svc_sessions_cached')
    assert.ok(cached >= 4 && cached <= 14, `${name}: ${cached} in memory`)
    for (const key of keys) assert.equal((await use(gateway, key)).status, 200, name)
    // One that is replaced again and again counts once.
    const [busy, other] = keys.slice(-2) as [string, string]
    const before = await gauge(gateway, 'svc_session_cache_misses_total')
    for (let i = 0; i < 30; i++) await use(gateway, i % 2 ? busy : other)
    assert.ok((await gauge(gateway, 'svc_session_cache_misses_total')) - before <= 2, name)
  }
})

test('a key that is deleted while it is looked up is refused from then on', async (t) => {
  const store = new SlowStore(openMemoryStore(), 0)
  const gateway = await open(t, store)
  const key = await makeKey(gateway, { access_rights: rights('a') })
  const digest = hash('sha256', key, 'hex')
  let release = () => {}
  let reading = 0
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const { getSession } = store.tokens
  // The read has its answer, but the answer is slow to come.
  store.tokens.getSession = async (wanted) => {
    const row = await getSession(wanted)
    if (Buffer.from(wanted).toString('hex') === digest && reading++ === 0) await held
    return row
  }
  const first = use(gateway, key)
  await eventually('the key is looked up', () => reading === 1)
  assert.equal((await gateway.svc('DELETE', `/svc/keys/${key}`)).status, 200)
  assert.equal((await use(gateway, key)).status, 403)
  release()
  await first
  for (let i = 0; i < 3; i++) assert.equal((await use(gateway, key)).status, 403)
})

test('a key that is switched off while it is looked up is refused from then on', async (t) => {
  const store = new SlowStore(openMemoryStore(), 0)
  const gateway = await open(t, store)
  const key = await makeKey(gateway, { access_rights: rights('a') })
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const { getSession } = store.tokens
  let reading = 0
  store.tokens.getSession = async (wanted) => {
    const row = await getSession(wanted)
    if (reading++ === 0) await held
    return row
  }
  const first = use(gateway, key)
  await eventually('the key is looked up', () => reading === 1)
  const off = { access_rights: rights('a'), is_inactive: true }
  assert.equal((await gateway.svc('PUT', `/svc/keys/${key}`, off)).status, 200)
  release()
  await first
  const after = await use(gateway, key)
  assert.equal(after.status, 403)
  assert.deepEqual(after.json, { error: 'Key is inactive, please renew' })
})

test('many requests with one cold key ask the store once', async (t) => {
  const store = new SlowStore(openMemoryStore())
  const gateway = await open(t, store)
  const key = await makeKey(gateway, { access_rights: rights('a') })
  let asked = 0
  const { getSession } = store.tokens
  store.tokens.getSession = (wanted) => {
    asked++
    return getSession(wanted)
  }
  const answers = await Promise.all(Array.from({ length: 20 }, () => use(gateway, key)))
  for (const { status } of answers) assert.equal(status, 200)
  assert.ok(asked <= 3, `asked ${asked} times`)
})

test('a caller who leaves while the key is looked up is counted as one who left', async (t) => {
  const store = new SlowStore(openMemoryStore())
  const gateway = await open(t, store)
  const key = await makeKey(gateway, { access_rights: rights('a') })
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  store.onRead = (name) => {
    if (name !== 'getSession') return undefined
    asked.resolve()
    return held.promise
  }
  const socket = connect(gateway.port, '127.0.0.1')
  socket.write(`GET /a/x HTTP/1.1\r\nHost: a\r\nAuthorization: ${key}\r\n\r\n`)
  await asked.promise
  socket.resetAndDestroy()
  // The one that asks is the only one left.
  await eventually('its connection is gone', async () => (await gauge(gateway, 'svc_connections')) === 1)
  held.resolve()
  const left = async () =>
    /^svc_http_requests_total\{api="[^"]*",status="499"\} 1$/m.test((await gateway.svc('GET', '/metrics')).text)
  await eventually('the request is counted', left)
})

test('a failed look-up gives 503 and no verdict on the key; the next one is new', async (t) => {
  const store = new SlowStore(openMemoryStore())
  const gateway = await open(t, store)
  const cold = await makeKey(gateway, { access_rights: rights('a') })
  const warm = await makeKey(gateway, { access_rights: rights('a') })
  assert.equal((await use(gateway, warm)).status, 200)
  store.away.add('getSession')
  const refused = await use(gateway, cold)
  assert.deepEqual([refused.status, refused.json], [503, { error: 'Try again later' }])
  assert.equal((await use(gateway, warm)).status, 200)
  store.away.clear()
  assert.equal((await use(gateway, cold)).status, 200)
})

test('a key that the store may forget is not known from memory either', async (t) => {
  const gateway = await open(t, undefined)
  const brief = await makeKey(gateway, { access_rights: rights('a'), session_lifetime: 60 })
  const expires = Math.floor(gateway.clock.wall() / 1000) + 60
  const deleted = await makeKey(gateway, {
    access_rights: rights('a'),
    expires,
    post_expiry_action: 'delete',
    post_expiry_grace_period: 10,
  })
  const retained = await makeKey(gateway, { access_rights: rights('a'), expires, post_expiry_action: 'retain' })
  for (const key of [brief, deleted, retained]) assert.equal((await use(gateway, key)).status, 200)
  gateway.clock.advance(59_999)
  for (const key of [brief, deleted, retained]) assert.equal((await use(gateway, key)).status, 200)
  gateway.clock.advance(1)
  assert.equal((await use(gateway, brief)).status, 403)
  assert.equal((await use(gateway, deleted)).status, 401)
  gateway.clock.advance(10_000)
  assert.equal((await use(gateway, deleted)).status, 403)
  assert.equal((await use(gateway, retained)).status, 401)
})
