import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { DOCUMENT_KINDS } from '../../../src/model/documents/kinds.ts'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { classicApi, oasApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'

/** An object that a route reads and writes, and another one of its kind. */
interface Sample {
  /** Values of the placeholders. */
  readonly names: readonly string[]
  readonly query?: string
  readonly other: string
  /** A member that may be changed without any effect on other members. */
  readonly harmless: JsonObject
  /** The route writes another format than it reads: refused. */
  readonly refused?: true
}

const EXTENSION = 'x-svc-api-gateway'
const KEYS = {
  own: 'a-key-of-one-that-is-custom',
  narrow: 'a-key-of-one-under-policies',
  far: 'a-key-of-two-that-is-far',
}
/** As long as a key may be: a user's name must never become one. */
const USERS = ['ann@people.example.test', 'bob@people.example.test'] as const
const ALIAS = { alias: 'renamed' }
const NAME = { name: 'renamed' }
const SAMPLES: Readonly<Record<string, readonly Sample[]>> = {
  '/keys/{key}': [
    { names: [KEYS.own], other: KEYS.far, harmless: ALIAS, query: 'suppress_reset=1' },
    { names: [KEYS.narrow], other: KEYS.own, harmless: ALIAS },
    { names: [USERS[0]], other: USERS[1], harmless: ALIAS, query: 'suppress_reset=1&org_id=one' },
    { names: [USERS[0]], other: KEYS.own, harmless: ALIAS, query: 'org_id=one&username=1' },
  ],
  '/policies/{id}': [
    { names: ['p1'], other: 'p2', harmless: NAME },
    { names: ['p1'], other: 'px', harmless: NAME, query: 'org_id=one' },
  ],
  '/apis/{api}': [
    ...['c1', 'cv1', 'cv2'].map((id) => ({ names: [id], other: 'c2', harmless: NAME })),
    { names: ['o1'], other: 'c1', harmless: NAME, refused: true },
  ],
  '/apis/oas/{api}': ['o1', 'v1', 'v2', 'a1'].map((id) => ({
    names: [id],
    other: 'o2',
    harmless: { info: { title: 'renamed', version: '1' } },
  })),
  '/org/keys/{org}': [{ names: ['one'], other: 'two', harmless: ALIAS }],
  '/oauth/clients/{api}/{cid}': [
    { names: ['a1', 'app1'], other: 'app2', harmless: { description: 'renamed' } },
    { names: ['a1', 'app1'], other: 'far', harmless: { description: 'renamed' } },
  ],
}

async function filled(t: TestContext): Promise<TestGateway> {
  const gate = await startTestGateway({ env: { SVC_GW_PUBLICURL: 'https://api.example.test' } })
  t.after(() => gate.close())
  const post = async (path: string, body: JsonObject) => {
    const { status, text } = await gate.svc('POST', `/svc/${path}`, body)
    assert.equal(status, 200, `${path} ${text}`)
  }
  const oas = (id: string, orgId = 'one') => {
    const document = oasApi(id, `/${orgId}/${id}/`, { id, guarded: true })
    const extension = document[EXTENSION] as JsonObject
    return { ...document, [EXTENSION]: { ...extension, info: { ...(extension.info as JsonObject), orgId } } }
  }
  const classic = (id: string) => classicApi(id, `/one/${id}/`, { api_id: id, org_id: 'one', use_keyless: false })
  const version = (base: string, named: boolean) =>
    `base_api_id=${base}${named ? '&base_api_version_name=v1' : ''}&new_version_name=v2`
  for (const id of ['o1', 'o2', 'v1']) await post('apis/oas', oas(id))
  await post(`apis/oas?${version('v1', true)}`, oas('v2'))
  await post('apis/oas', oas('far', 'two'))
  for (const id of ['c1', 'c2', 'cv1']) await post('apis', classic(id))
  await post(`apis?${version('cv1', true)}`, classic('cv2'))
  for (const [id, orgId] of [
    ['a1', 'one'],
    ['a2', 'one'],
    ['ax', 'two'],
  ] as const)
    await post('apis/oas', oauthApi('http://127.0.0.1:9/', { id, info: { orgId } }))
  const limits = { rate: 9, per: 1, quota_max: 20, quota_renewal_rate: 60 }
  for (const [id, org_id, api] of [
    ['p1', 'one', 'o1'],
    ['p2', 'one', 'a1'],
    ['px', 'two', 'far'],
  ] as const)
    await post('policies', { id, org_id, name: id, access_rights: rightsOn(api), tags: [id], ...limits, own_note: 1 })
  await post(`keys/${KEYS.own}`, { org_id: 'one', access_rights: rightsOn('o1', 'c1'), ...limits, meta_data: { a: 1 } })
  await post(`keys/${KEYS.narrow}`, { org_id: 'one', apply_policies: ['p1'], alias: 'k', tags: ['t'] })
  await post(`keys/${KEYS.far}`, { org_id: 'two', access_rights: rightsOn('far') })
  for (const name of USERS)
    await post(`keys/${name}`, {
      ...{ org_id: 'one', access_rights: rightsOn('o1'), tags: [name] },
      basic_auth_data: { password: 'Correct-horse-7' },
    })
  for (const org of ['one', 'two'])
    await post(`org/keys/${org}`, { rate: 5, per: 1, quota_max: 10, quota_renewal_rate: 60 })
  for (const [client_id, api_id, policy_id] of [
    ['app1', 'a1', 'p2'],
    ['app2', 'a1', 'p2'],
    ['far', 'ax', ''],
  ] as const)
    await post('oauth/clients/create', {
      ...{ client_id, api_id, redirect_uri: 'https://app.test/cb', metadata: { a: 1 }, description: 'd' },
      ...(policy_id !== '' && { policy_id }),
    })
  return gate
}

/** Paths of the administration API as its tables declare them. */
function declaredPaths(): string[] {
  const folder = `${import.meta.dirname}/../../../src/gateway/admin`
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts'))
  const sources = files.map((name) => readFileSync(`${folder}/${name}`, 'utf8'))
  const found = sources.flatMap((text) => [...text.matchAll(/method: '[A-Z]+',\s+path: '([^']+)'/g)])
  return [...new Set(found.map((match) => match[1]!))].sort()
}

/** The methods that write what GET of the same path reads. */
async function writersOf(gate: TestGateway, path: string): Promise<string[]> {
  const { status, headers } = await gate.svc('OPTIONS', `/svc${path.replace(/\{[^}]*\}/g, 'x')}`)
  // Calls that are not below the prefix only read.
  if (status === 404 && /^\/(?:hello|ready|metrics)$/.test(path)) return []
  assert.equal(status, 405, path)
  const methods = String(headers.allow).split(', ')
  if (!methods.includes('GET') || !path.endsWith('}')) return []
  return methods.filter((method) => method === 'PUT' || method === 'PATCH' || method === 'POST')
}

/** Each way to write each sample. */
async function* pairs(gate: TestGateway) {
  for (const path of declaredPaths()) {
    for (const method of await writersOf(gate, path)) {
      const samples = SAMPLES[path]
      assert.ok(samples !== undefined, `${method} ${path}: no sample`)
      for (const sample of samples) {
        let number = 0
        const place = path.replace(/\{[^}]*\}/g, () => sample.names[number++]!)
        const plain = method === 'PATCH'
        const query = [plain ? 'mode=public' : '', sample.query].filter(Boolean).join('&')
        const read = await gate.svc('GET', `/svc${place}?${query}`)
        assert.equal(read.status, 200, `${place} ${read.text}`)
        const url = `/svc${place}?${sample.query ?? ''}`
        const write = (body: JsonObject) => gate.svc(method, url, body)
        yield { what: `${method} ${url}`, method, url, write, sample, read: read.json as JsonObject }
      }
    }
  }
}

const NOTES: ReadonlySet<string> = new Set(['last_updated', 'updated_at'])

/** Without the times of writes, in the order of names; seals, which are random, as such. */
function lasting(value: Json, name = ''): Json {
  if (name === 'sealed') return name
  if (Array.isArray(value)) return value.map((each) => lasting(each))
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([each]) => !NOTES.has(each))
  return Object.fromEntries(kept.map(([each, member]) => [each, lasting(member, each)] as const).sort())
}

/** Everything that is stored, by kind and id. */
async function stored({ store }: TestGateway): Promise<Map<string, JsonObject>> {
  const all = new Map<string, JsonObject>()
  const note = (name: string, value: object) => {
    const { revision: _revision, version: _version, ...kept } = JSON.parse(JSON.stringify(value)) as JsonObject
    all.set(name, lasting(kept) as JsonObject)
  }
  for (const kind of Object.keys(DOCUMENT_KINDS))
    if (kind !== 'node')
      for await (const batch of store.documents.scan(kind)) for (const each of batch) note(`${kind} ${each.id}`, each)
  const { rows } = await store.tokens.listSessions({ limit: 1000 })
  for (const row of rows) {
    const hash = Buffer.from(row.hash).toString('hex')
    note(`session ${hash}`, { ...row, hash })
  }
  return all
}

type All = ReadonlyMap<string, JsonObject>

function changed(before: All, after: All): string[] {
  const text = (all: All, name: string) => JSON.stringify(all.get(name))
  return [...new Set([...before.keys(), ...after.keys()])].filter((name) => text(before, name) !== text(after, name))
}

const told = (before: All, after: All) =>
  changed(before, after)
    .map((name) => `${name}:\n  ${JSON.stringify(before.get(name))}\n  ${JSON.stringify(after.get(name))}`)
    .join('\n')

test('a read can be written back unchanged, and one edited member changes nothing else', async (t) => {
  const gate = await filled(t)
  const flaws: string[] = []
  let count = 0
  for await (const { what, write, sample, read } of pairs(gate)) {
    count++
    const before = await stored(gate)
    const same = await write(read)
    if (sample.refused) {
      assert.equal(same.status, 400, what)
      assert.equal(told(before, await stored(gate)), '', what)
      continue
    }
    if (same.status >= 300) flaws.push(`${what}: ${same.status} ${same.text}`)
    const unchanged = told(before, await stored(gate))
    if (unchanged !== '') flaws.push(`${what}: ${unchanged}`)
    const other = await write({ ...read, ...sample.harmless })
    if (other.status >= 300) flaws.push(`${what} renamed: ${other.status} ${other.text}`)
    const after = await stored(gate)
    const names = changed(before, after)
    if (names.length !== 1 || !JSON.stringify(after.get(names[0]!)).includes('renamed'))
      flaws.push(`${what} renamed: ${told(before, after)}`)
    await write(read)
    const back = told(before, await stored(gate))
    if (back !== '') flaws.push(`${what} back: ${back}`)
  }
  t.diagnostic(`${count} pairs`)
  assert.equal(flaws.join('\n'), '')
})

/** Identifying members of objects of any kind, and references to others. */
const IDS = [
  ...['id', '_id', 'ID', 'api_id', 'client_id', 'org_id', 'orgId', 'dbId', 'key', 'key_id', 'key_hash', 'hash', 'name'],
  ...['counter_id', 'user_name', 'username', 'user_generation', 'oauth_client_id', 'oauth_token', 'narrowed_by'],
  ...['developer_id', 'rotated_to', 'rotated_from', 'registered_by_policy', 'epoch', 'api_ids'],
] as const

/** Definitions have these: other names are notes of theirs. */
const API_IDS: readonly string[] = ['id', '_id', 'api_id', 'org_id', 'orgId', 'dbId', 'name']

/** The body with an identifier of another object, at its top and in the extension. */
function* bodiesWith(read: JsonObject, other: string): Generator<readonly [string, JsonObject]> {
  const extension = read[EXTENSION]
  const isApi = 'openapi' in read || 'proxy' in read
  for (const name of isApi ? API_IDS : IDS) {
    const value = /org/i.test(name) ? 'two' : name === 'api_ids' ? ['a2'] : other
    yield [name, { ...read, [name]: value }]
    if (!isObject(extension)) continue
    const info = { ...(extension.info as JsonObject), [name]: value }
    yield [`info.${name}`, { ...read, [EXTENSION]: { ...extension, info } }]
  }
}

/** The identifying members of an object, its owner, and its counters. */
function identityOf(value: JsonObject | undefined): string {
  if (value === undefined) return 'gone'
  const { kind, id, hash, orgId, clientId, family, body } = value
  const own = body as JsonObject
  const document = isObject(own.definition) ? own.definition : {}
  const extension = document[EXTENSION]
  const info = isObject(extension) && isObject(extension.info) ? extension.info : {}
  const inside = isObject(extension)
    ? [info.id, info.dbId, info.orgId]
    : [document.id, document.api_id, document.org_id]
  const { counter_id, user_name, user_generation, oauth_token, narrowed_by, developer_id, rotated_to } = own
  const session = [own.rotated_from, counter_id, user_name, user_generation, oauth_token, narrowed_by, developer_id]
  const named: Readonly<Record<string, readonly (Json | undefined)[]>> = {
    api: [own.api_id, own.place, ...inside],
    oauth_client: [own.client_id, own.epoch, own.api_ids, own.registered_by_policy, own.secrets],
    policy: [own.id, own._id],
    undefined: [...session, rotated_to],
  }
  return JSON.stringify([kind, id, hash, orgId, clientId, family, own.org_id, named[String(kind)] ?? []])
}

test('an identifier of another object in a body reaches neither that object nor this id', async (t) => {
  const gate = await filled(t)
  const flaws: string[] = []
  let count = 0
  for await (const { what, write, sample, read } of pairs(gate)) {
    let before = await stored(gate)
    for (const [name, body] of bodiesWith(read, sample.other)) {
      count++
      const revision = await gate.store.documents.revision()
      const { status, text } = await write(body)
      const says = `${what} ${name}: ${status} ${text.slice(0, 150)}`
      if (status >= 500) flaws.push(says)
      if ((await gate.store.documents.revision()) === revision) continue
      const after = await stored(gate)
      const names = changed(before, after)
      // The node writes of itself now and then.
      if (names.length === 0) continue
      if (status >= 300) flaws.push(`${says} refused, and changed ${names}`)
      const wrong = names.filter((each) => identityOf(before.get(each)) !== identityOf(after.get(each)))
      if (wrong.length > 0 || names.length > 1) flaws.push(`${says} ${told(before, after)}`)
      await write(read)
      before = await stored(gate)
    }
  }
  t.diagnostic(`${count} calls`)
  assert.ok(count > 250)
  assert.equal(flaws.join('\n'), '')
})

test('only the current version is changed', async (t) => {
  const gate = await filled(t)
  const wrong: string[] = []
  let changes = 0
  for await (const { what, method, url, read, sample } of pairs(gate)) {
    const ask = (as: string, headers: Record<string, string>, body?: Json) => gate.svc(as, url, body, headers)
    const { etag } = (await gate.svc('GET', url)).headers
    const again = await ask('GET', { 'if-none-match': `"other", W/${etag}` })
    if (again.status !== 304 || again.text !== '') wrong.push(`GET ${url} is ${again.status}`)
    const before = await stored(gate)
    const changed = { ...read, ...sample.harmless }
    const tried = [
      await ask(method, { 'if-match': '"another"' }, changed),
      await ask(method, { 'if-match': `W/${etag}` }, changed),
      await ask(method, { 'if-none-match': '*' }, changed),
      await ask('DELETE', { 'if-match': '"another"' }),
    ]
    for (const { status, text } of tried) if (status !== 412) wrong.push(`${what}: ${status} ${text}`)
    assert.deepEqual(await stored(gate), before, what)
    const made = await ask(method, { 'if-match': String(etag) }, changed)
    if (made.status === 412) wrong.push(`${what} with the current ETag: ${made.text}`)
    // Another method may have made the same change before.
    const isChanged = (await gate.svc('GET', url)).headers.etag !== etag
    if (isChanged) changes++
    if (isChanged && (await ask(method, { 'if-match': String(etag) }, read)).status !== 412)
      wrong.push(`${what} with an old ETag is made`)
  }
  assert.deepEqual(wrong, [])
  assert.ok(changes >= 10, `${changes}`)
})

test('a call that changes nothing with an ETag is refused when it brings one', async (t) => {
  const gate = await filled(t)
  for (const [method, path] of [
    ['POST', 'keys/preview'],
    ['POST', 'oauth/revoke'],
    ['DELETE', 'cache/jwks'],
  ] as const)
    assert.equal((await gate.svc(method, `/svc/${path}`, {}, { 'if-match': '"any"' })).status, 412, path)
})

test('a write of what is stored makes no other version', async (t) => {
  const gate = await filled(t)
  const wrong: string[] = []
  for await (const { what, write, read, sample } of pairs(gate)) {
    if (sample.refused === true || (await write(read)).status !== 200) continue
    const before = await gate.store.documents.revision()
    gate.clock.advance(120_000)
    assert.equal((await write(read)).status, 200, what)
    if ((await gate.store.documents.revision()) !== before) wrong.push(what)
  }
  assert.deepEqual(wrong, [])
})
