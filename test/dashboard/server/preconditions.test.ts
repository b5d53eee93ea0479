import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { duringRequest, recordedStore } from '../../../src/dashboard/server/recorded.ts'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { rights } from '../../worlds/base/definitions.ts'
import type { TestDashboardOptions } from '../../worlds/dashboard/harness.ts'
import { keyWorld, POLICIES } from '../../worlds/dashboard/key-world.ts'

interface Held {
  readonly read: string
  readonly method: 'PUT' | 'PATCH'
  readonly write?: string
  /** The body to send, made of the read one; different every time. */
  readonly body: (seen: JsonObject, number: number) => unknown
}

/** Everything that two people may edit, and how each edits it. */
async function everything(t: TestContext, options: TestDashboardOptions = {}) {
  const world = await keyWorld(t, options)
  const { asked, root } = world
  await world.api('orders')
  await world.policy('gold', ['orders'])
  const { hash } = await world.key({ apply_policies: ['gold'] })
  const group = await world.group({ apis: 'read' })
  const person = await world.user({ apis: 'read' })
  const other = await world.user({ apis: 'read' })
  await asked(200, 'POST', '/api/hooks', root, { name: 'Hook', method: 'POST', target_path: 'https://example.com/' })
  const { hooks } = (await asked(200, 'GET', '/api/hooks', root)) as unknown as { hooks: { id: string }[] }
  await asked(200, 'POST', '/api/portal/catalogue', root, { apis: [] })
  const developer = await asked(200, 'POST', '/api/portal/developers', root, { email: 'dev@example.com' })
  const edits: readonly Held[] = [
    { read: `${POLICIES}/gold`, method: 'PUT', body: (seen, rate) => ({ ...seen, rate }) },
    { read: `${POLICIES}/gold`, method: 'PATCH', body: (_seen, per) => ({ per }) },
    {
      read: '/api/apis/orders',
      method: 'PUT',
      body: ({ api_definition: api }, n) => ({ api_definition: { ...(api as JsonObject), name: `Orders ${n}` } }),
    },
    {
      // The API may change its owner after its definition was read.
      read: '/api/apis/orders',
      method: 'PUT',
      write: '/api/apis/orders/access',
      body: (_seen, n) => ({ userIds: n % 2 === 0 ? [person.id] : [other.id] }),
    },
    {
      read: `/api/keys/${hash}?hashed=1&facts=1`,
      method: 'PUT',
      write: `/api/keys/${hash}?hashed=1&suppress_reset=1`,
      body: ({ own }, n) => ({ ...(own as JsonObject), alias: `key ${n}` }),
    },
    { read: `/api/usergroups/${group}`, method: 'PUT', body: (_seen, n) => ({ description: `${n}` }) },
    { read: `/api/users/${person.id}`, method: 'PUT', body: (_seen, n) => ({ first_name: `Name ${n}` }) },
    { read: `/api/hooks/${hooks[0]!.id}`, method: 'PUT', body: (seen, n) => ({ ...seen, name: `Hook ${n}` }) },
    { read: '/api/portal/catalogue', method: 'PUT', body: (_seen, n) => ({ email: `${n}@example.com`, apis: [] }) },
    {
      read: `/api/portal/developers/${developer.Message}`,
      method: 'PATCH',
      body: (_seen, n) => ({ fields: { Company: `${n}` } }),
    },
  ]
  return { ...world, edits }
}

test('who saves on top of a change that was not seen is refused, and nothing of it is stored', async (t) => {
  const { call, root, edits } = await everything(t)
  let number = 10
  for (const { read, method, write = read, body } of edits) {
    const look = async () => {
      const answer = await call('GET', read, { as: root })
      assert.equal(answer.status, 200, `${read}: ${answer.text}`)
      assert.match(String(answer.headers.etag), /^"[\w-]+"$/, read)
      return { seen: answer.json as JsonObject, tag: String(answer.headers.etag) }
    }
    const save = (seen: JsonObject, tag: string) =>
      call(method, write, { as: root, body: body(seen, ++number), headers: { 'if-match': tag } })
    const first = await look()
    assert.equal((await look()).tag, first.tag, `${read}: reading changes nothing`)
    const saved = await save(first.seen, first.tag)
    assert.equal(saved.status, 200, `${write}: ${saved.text}`)
    const second = await look()
    assert.notEqual(second.tag, first.tag, read)
    for (const stale of [first.tag, 'W/'.concat(second.tag), second.tag.slice(1, -1), '"', '']) {
      const refused = await save(second.seen, stale)
      assert.equal(refused.status, 412, `${write} with ${stale}: ${refused.text}`)
      assert.match((refused.json as JsonObject).Message as string, /^It was changed by someone else/)
    }
    assert.equal((await look()).tag, second.tag, `${write}: nothing was stored`)
    assert.equal((await save(second.seen, `"other", ${second.tag}`)).status, 200, write)
    assert.equal((await save((await look()).seen, '*')).status, 200, write)
  }
})

test('of many who saw the same and save at once, one goes through', async (t) => {
  // Commits take their time here, so that all look before the first has written.
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-if-match-'))
  const clock = new FakeClock()
  const store = await openStore({ path, clock })
  const { call, root, edits, close } = await everything(t, { store, clock })
  t.after(async () => {
    await close()
    await store.close()
    rmSync(path, { recursive: true })
  })
  for (const { read, method, write = read, body } of edits) {
    const answer = await call('GET', read, { as: root })
    const headers = { 'if-match': String(answer.headers.etag) }
    const bodies = Array.from({ length: 8 }, (_, i) => body(answer.json as JsonObject, 100 + i))
    const answers = await Promise.all(bodies.map((sent) => call(method, write, { as: root, body: sent, headers })))
    const statuses = answers.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [200, ...Array(7).fill(412)], write)
  }
})

test('what is gone stays gone, whatever the condition', async (t) => {
  const { call, root, asked } = await everything(t)
  const { headers, json } = await call('GET', `${POLICIES}/gold`, { as: root })
  await asked(200, 'DELETE', `${POLICIES}/gold`, root)
  for (const tag of [String(headers.etag), '*']) {
    const answer = await call('PUT', `${POLICIES}/gold`, { as: root, body: json, headers: { 'if-match': tag } })
    assert.equal(answer.status, 404)
  }
})

test('a document is written as it was looked at, or not at all, whatever slips in between', async (t) => {
  const store = openMemoryStore({ clock: new FakeClock() })
  t.after(() => store.close())
  const { documents } = recordedStore(store, true)
  const id = newDocumentId(0)
  const put = (name: string) => documents.commit([{ op: 'put', kind: 'policy', id, body: { name } }], undefined)
  const revision = await put('first')
  const request = { id: 'r', method: 'PUT', url: '/', ip: '', user: '', status: 200 }
  const expected = { kind: 'policy', id, revision }
  await duringRequest(request, async () => assert.equal(await put('second'), revision + 1), expected)
  await assert.rejects(
    duringRequest(request, () => put('third'), expected),
    { code: 'revision_conflict' },
  )
  assert.deepEqual((await documents.get('policy', id))?.body, { name: 'second' })
  // Two writes within one request conflict only with each other.
  const twice = async () => {
    await put('third')
    return put('fourth')
  }
  await duringRequest(request, twice, { ...expected, revision: revision + 1 })
  assert.deepEqual((await documents.get('policy', id))?.body, { name: 'fourth' })
})

test('the tag of a key says nothing of members that its reader may not see', async (t) => {
  const { api, key, call, root, parts } = await keyWorld(t)
  await api('orders')
  const { hash: keyHash } = await key({ access_rights: rights('orders'), hmac_enabled: true, hmac_string: 'guess-me' })
  const path = `/api/keys/${keyHash}?hashed=1`
  const tag = async () => String((await call('GET', path, { as: root })).headers.etag).slice(1, -1)
  const row = await parts.tokens.getSession(Buffer.from(keyHash, 'hex'))
  for (const text of [row!.body, (await call('GET', path, { as: root })).json])
    assert.notEqual(await tag(), hash('sha256', JSON.stringify(text), 'base64url'))
  assert.equal(await tag(), await tag())
})
