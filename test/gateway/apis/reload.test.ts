import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type LoadAnswer, startLoad } from '../../worlds/gateway/load.ts'
import { SlowStore } from '../../worlds/gateway/slow-store.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'
const EDITS = DEEP ? 1000 : 100

/** The embedded store answers at once, one on another machine later: everything here must hold with both. */
const STORES: readonly { name: string; open: () => Store }[] = [
  { name: 'store that answers at once', open: () => openMemoryStore() },
  { name: 'store that answers later', open: () => new SlowStore(openMemoryStore()) },
]

interface Scene {
  readonly gateway: TestGateway
  readonly origin: Origin
  put(id: string, rev: string, more?: Partial<Parameters<typeof revised>[2]>): Promise<void>
  rev(path: string): Promise<string | number>
  node(id: string): Promise<JsonObject | undefined>
}

/** An API whose revision shows in three places: two fields of the answer, and one of the request, which the origin sends back. */
function revised(id: string, rev: string, { url, path }: { url: string; path?: string }): JsonObject {
  const add = (...names: string[]) => ({ enabled: true, add: names.map((name) => ({ name, value: rev })) })
  return defined({
    id,
    url,
    ...(path !== undefined && { path }),
    global: { transformRequestHeaders: add('X-Rev'), transformResponseHeaders: add('X-Rev-1', 'X-Rev-2') },
  })
}

async function open(t: TestContext, store: Store, env: Record<string, string> = {}): Promise<Scene> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  origin.script = ({ headers }, response) => response.end(String(headers['x-rev']))
  const gateway = await startTestGateway({ store, env })
  t.after(() => gateway.close())
  t.after(() => store.close())
  const known = new Set<string>()
  return {
    gateway,
    origin,
    async put(id, rev, more = {}) {
      const body = revised(id, rev, { url: origin.url, ...more })
      const answer = known.has(id)
        ? await gateway.svc('PUT', `/svc/apis/oas/${id}`, body)
        : await gateway.svc('POST', '/svc/apis/oas', body)
      known.add(id)
      assert.equal(answer.status, 200, answer.text)
    },
    async rev(path) {
      const answer = await gateway.call(path)
      return answer.status === 200 ? unmixed(answer) : answer.status
    },
    async node(id) {
      const { json } = await gateway.svc('GET', '/svc/node')
      return (json as { apis: JsonObject[] }).apis.find(({ api_id }) => api_id === id)
    },
  }
}

/** The one revision that an answer shows. */
function unmixed({ status, headers, text }: LoadAnswer): string {
  assert.equal(status, 200, text)
  assert.equal(headers['x-rev-1'], headers['x-rev-2'], 'an answer mixes two revisions')
  assert.equal(headers['x-rev-1'], text, 'request and answer are of two revisions')
  return text
}

for (const { name, open: openStore } of STORES) {
  test(`${name}: ${EDITS} edits under load are each seen, no request fails, no answer mixes two`, async (t) => {
    const { gateway, put, rev } = await open(t, openStore())
    await put('a', '0')
    let least = 0
    let most = 0
    const load = startLoad(
      gateway.port,
      6,
      () => ({ path: '/a/x' }),
      (answer) => {
        const seen = Number(unmixed(answer))
        assert.ok(seen >= least - 1 && seen <= most, `revision ${seen} while ${least}..${most} were in force`)
      },
    )
    for (let i = 1; i <= EDITS; i++) {
      most = i
      await put('a', String(i))
      assert.equal(await rev('/a/x'), String(i))
      // Requests that began before the edit have ended when a later one of each client was answered.
      const from = load.answered
      while (load.answered < from + 6) await new Promise((resolve) => setImmediate(resolve))
      least = i
    }
    await load.stop()
    assert.equal(load.opened, 6, 'connections were kept')
    assert.ok(load.answered > EDITS, String(load.answered))
  })

  test(`${name}: an edit that does not compile keeps the last good one, and the node says why`, async (t) => {
    const store = openStore()
    const { gateway, put, rev, node } = await open(t, store)
    await put('a', '1')
    const stored = (await store.documents.find('api', 'api_id', 'a'))!
    const broken = structuredClone(stored.body) as { definition: Record<string, JsonObject> }
    broken.definition['x-svc-api-gateway']!.upstream = { url: 'nonsense' }
    const revision = await store.documents.commit(
      [{ op: 'put', kind: 'api', id: stored.id, body: broken as unknown as JsonObject }],
      undefined,
    )
    await gateway.gateway.live.settled(revision)
    assert.equal(await rev('/a/x'), '1')
    const state = await node('a')
    assert.equal(state?.state, 'stale')
    assert.match(String(state?.reason), /upstream\.url/)
    await gateway.svc('GET', '/svc/reload?block=true')
    assert.equal((await node('a'))?.state, 'stale', 'a reload finds it broken again')
    assert.equal(await rev('/a/x'), '1')
    await put('a', '3')
    assert.equal(await rev('/a/x'), '3')
    assert.deepEqual([(await node('a'))?.state, (await node('a'))?.reason], ['loaded', ''])
  })

  test(`${name}: deleted and made anew, again and again, an API is there or not there, never half`, async (t) => {
    const { gateway, put, rev, origin } = await open(t, openStore())
    await put('other', '1')
    const load = startLoad(
      gateway.port,
      2,
      () => ({ path: '/other/x' }),
      (answer) => void unmixed(answer),
    )
    const body = (at: number) => revised('a', String(at), { url: origin.url })
    for (let i = 0; i < 50; i++) {
      assert.equal((await gateway.svc('POST', '/svc/apis/oas', body(i))).status, 200)
      assert.equal(await rev('/a/x'), String(i))
      assert.equal((await gateway.svc('DELETE', '/svc/apis/oas/a')).status, 200)
      assert.equal(await rev('/a/x'), 404)
    }
    // Both at once: whichever order they came in, the node agrees with the store.
    for (let i = 0; i < 20; i++) {
      await gateway.svc('POST', '/svc/apis/oas', body(i))
      await Promise.all([gateway.svc('DELETE', '/svc/apis/oas/a'), gateway.svc('POST', '/svc/apis/oas', body(100 + i))])
      const stored = (await gateway.svc('GET', '/svc/apis/oas/a')).status === 200
      assert.equal(typeof (await rev('/a/x')) === 'string', stored)
      await gateway.svc('DELETE', '/svc/apis/oas/a')
    }
    await load.stop()
  })

  test(`${name}: a listen path moves without a gap`, async (t) => {
    const { gateway, put, rev } = await open(t, openStore())
    await put('a', '0', { path: '/here/' })
    let gaps = 0
    const load = startLoad(
      gateway.port,
      3,
      (count) => ({ path: count % 2 === 0 ? '/here/x' : '/there/x' }),
      (answer) => {
        if (answer.status === 404) gaps++
        else unmixed(answer)
      },
    )
    for (let i = 1; i <= 40; i++) {
      await put('a', String(i), { path: i % 2 === 0 ? '/here/' : '/there/' })
      assert.equal(await rev(i % 2 === 0 ? '/here/x' : '/there/x'), String(i))
      assert.equal(await rev(i % 2 === 0 ? '/there/x' : '/here/x'), 404)
    }
    await load.stop()
    assert.ok(gaps > 0, 'the path it was not at answered 404')
  })

  test(`${name}: an API that waits for a taken path gets it when it is free`, async (t) => {
    const { gateway, put, rev, node } = await open(t, openStore(), { SVC_GW_ENABLEDUPLICATESLUGS: 'true' })
    await put('a', 'a', { path: '/same/' })
    await put('b', 'b', { path: '/same/' })
    await put('c', 'c', { path: '/same/' })
    assert.equal(await rev('/same/x'), 'a')
    assert.equal((await node('b'))?.state, 'taken')
    assert.match(String((await node('b'))?.reason), /API a \(a\)/)
    await put('a', 'a2', { path: '/elsewhere/' })
    assert.equal(await rev('/elsewhere/x'), 'a2')
    assert.equal(await rev('/same/x'), 'b')
    await gateway.svc('DELETE', '/svc/apis/oas/b')
    assert.equal(await rev('/same/x'), 'c')
    assert.equal((await node('c'))?.state, 'loaded')
    // and one that is switched off holds nothing
    await put('d', 'd', { path: '/same/' })
    const off = revised('c', 'c', { url: 'http://127.0.0.1:9/', path: '/same/' }) as Record<string, JsonObject>
    ;(off['x-svc-api-gateway']!.info as JsonObject).state = { active: false }
    assert.equal((await gateway.svc('PUT', '/svc/apis/oas/c', off)).status, 200)
    assert.equal(await rev('/same/x'), 'd')
  })

  test(`${name}: edits at the same time all count, and the node ends where the store ends`, async (t) => {
    const { gateway, put, rev } = await open(t, openStore())
    const ids = Array.from({ length: 10 }, (_, i) => `s${i}`)
    for (const id of ids) await put(id, '0')
    const load = startLoad(
      gateway.port,
      4,
      (count) => ({ path: `/s${count % 10}/x` }),
      (answer) => void unmixed(answer),
    )
    for (let round = 0; round < 5; round++) {
      await Promise.all(ids.flatMap((id) => ['x', 'y', 'z'].map((word) => put(id, `${word}${round}`))))
      for (const id of ids) {
        const stored = (await gateway.svc('GET', `/svc/apis/oas/${id}`)).json as Record<string, JsonObject>
        const { global } = stored['x-svc-api-gateway']!.middleware as { global: JsonObject }
        const { add } = global.transformResponseHeaders as { add: { value: string }[] }
        assert.equal(await rev(`/${id}/x`), add[0]!.value)
      }
    }
    await load.stop()
  })

  test(`${name}: a reload under load changes nothing that did not change`, async (t) => {
    const { gateway, put, rev } = await open(t, openStore())
    await put('a', '1')
    const load = startLoad(
      gateway.port,
      3,
      () => ({ path: '/a/x' }),
      (answer) => assert.equal(unmixed(answer), '1'),
    )
    const calls = Array.from({ length: 30 }, (_, i) => gateway.svc('GET', `/svc/reload?block=${i % 2}`))
    for (const { status } of await Promise.all(calls)) assert.equal(status, 200)
    await load.stop()
    assert.equal(await rev('/a/x'), '1')
  })
}

test('a node without its store keeps serving, says so, and catches up', async (t) => {
  const store = new SlowStore(openMemoryStore())
  const { gateway, put, rev } = await open(t, store)
  await put('a', '2')
  // As it is stored, its header values sealed.
  const second = (await store.documents.find('api', 'api_id', 'a'))!
  await put('a', '1')
  const load = startLoad(
    gateway.port,
    3,
    () => ({ path: '/a/x' }),
    (answer) => void unmixed(answer),
  )
  store.away.add('get').add('scan').add('revision')
  await store.documents.commit([{ op: 'put', kind: 'api', id: second.id, body: second.body }], undefined)
  const behind = async () => ((await gateway.svc('GET', '/svc/node')).json as JsonObject).behind
  while ((await behind()) !== true) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(await rev('/a/x'), '1')
  assert.match((await gateway.svc('GET', '/metrics')).text, /^svc_behind 1$/m)
  assert.equal((await gateway.call('/hello')).status, 200)
  store.away.clear()
  while ((await behind()) === true) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(await rev('/a/x'), '2')
  assert.match((await gateway.svc('GET', '/metrics')).text, /^svc_behind 0$/m)
  await load.stop()
})

test('a reload that fails half-way costs no key its policy', async (t) => {
  const store = new SlowStore(openMemoryStore())
  const { gateway, origin } = await open(t, store)
  await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url, keyIn: 'Authorization' }))
  for (const id of ['one', 'two'])
    assert.equal((await gateway.svc('POST', '/svc/policies', { id, access_rights: rights('a') })).status, 200)
  const { key } = (await gateway.svc('POST', '/svc/keys', { apply_policies: ['one'] })).json as { key: string }
  const use = async () => (await gateway.call('/a/x', { headers: { authorization: key } })).status
  assert.equal(await use(), 200)
  store.away.add('scan')
  assert.equal((await gateway.svc('GET', '/svc/reload?block=true')).status, 503)
  assert.equal(await use(), 200)
  const edited = { id: 'two', access_rights: rights('a'), rate: 5, per: 1 }
  assert.equal((await gateway.svc('PUT', '/svc/policies/two', edited)).status, 200)
  assert.equal(await use(), 200)
})

test('what was deleted while the store could not be read is gone once the node has caught up', async (t) => {
  const store = new SlowStore(openMemoryStore())
  const { gateway, origin, put, rev } = await open(t, store)
  await put('b', '1')
  await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url, keyIn: 'Authorization' }))
  await gateway.svc('POST', '/svc/policies', { id: 'one', access_rights: rights('a') })
  const { key } = (await gateway.svc('POST', '/svc/keys', { apply_policies: ['one'] })).json as { key: string }
  const use = async () => (await gateway.call('/a/x', { headers: { authorization: key } })).status
  assert.deepEqual([await use(), await rev('/b/x')], [200, '1'])
  const policy = (await store.documents.list('policy', { limit: 1 })).rows[0]
  const b = (await store.documents.find('api', 'api_id', 'b'))!
  const a = (await store.documents.find('api', 'api_id', 'a'))!
  store.away.add('get')
  const changes = [
    { op: 'put', kind: 'api', id: a.id, body: a.body } as const,
    { op: 'delete', kind: 'policy', id: policy!.id } as const,
    { op: 'delete', kind: 'api', id: b.id } as const,
  ]
  await store.documents.commit(changes, undefined)
  await eventually('the node has fallen behind', () => gateway.gateway.live.behind)
  assert.deepEqual([await use(), await rev('/b/x')], [200, '1'])
  store.away.clear()
  await eventually('the node has caught up', () => !gateway.gateway.live.behind)
  assert.deepEqual([await use(), await rev('/b/x')], [403, 404])
})

test('an API that goes leaves no numbers behind on the metrics page', async (t) => {
  const { gateway, put, rev } = await open(t, openMemoryStore())
  await put('passing', '1')
  assert.equal(await rev('/passing/x'), '1')
  assert.match((await gateway.svc('GET', '/metrics')).text, /api="passing"/)
  await gateway.svc('DELETE', '/svc/apis/oas/passing')
  assert.doesNotMatch((await gateway.svc('GET', '/metrics')).text, /api="passing"/)
})
