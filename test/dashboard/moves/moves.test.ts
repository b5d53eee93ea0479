import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { bodyOf, classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard, type TestDashboard, type TestUser } from '../../worlds/dashboard/harness.ts'

const KEY = 'a-key-that-nobody-here-has-seen-01'
const HASH = hashKey(KEY).toString('hex')
const rowsOf = (answer: { json: unknown }, name: string) => (answer.json as JsonObject)[name] as JsonObject[]

async function world(t: { after(work: () => Promise<void>): void }, env = {}) {
  const dashboard = await startTestDashboard({ env })
  t.after(() => dashboard.close())
  const as = await dashboard.admin()
  const post = (path: string, body: unknown, user: TestUser = as) => dashboard.call('POST', path, { as: user, body })
  await post('/api/apis/oas', defined({ id: 'mine', url: 'http://127.0.0.1:1', keyIn: 'Authorization' }))
  await post('/api/apis/oas', defined({ id: 'theirs', url: 'http://127.0.0.1:1', keyIn: 'Authorization' }))
  return { dashboard, as, post }
}

async function owning({ call, user }: TestDashboard, as: TestUser): Promise<[mine: TestUser, other: TestUser]> {
  const every = { apis: 'write', keys: 'write', oauth: 'write', policies: 'write', IsAdmin: 'false' }
  const [mine, other] = [await user(every), await user(every)]
  await call('PUT', '/api/apis/mine/access', { as, body: { userIds: [mine.id], userGroupIds: [] } })
  await call('PUT', '/api/apis/theirs/access', { as, body: { userIds: [other.id], userGroupIds: [] } })
  return [mine, other]
}

test('a key is stored by its hash, goes on as it was, and is stored again the same', async (t) => {
  const { dashboard, as, post } = await world(t)
  const session = { access_rights: rights('mine'), expires: 1, date_created: '2020-01-02T03:04:05Z', alias: 'old' }
  const first = await post('/api/moves/keys', { key_hash: HASH, session })
  assert.deepEqual(first.json, { key_hash: HASH, created: true })
  const again = await post('/api/moves/keys', { key_hash: HASH.toUpperCase(), session: { ...session, alias: 'new' } })
  assert.deepEqual(again.json, { key_hash: HASH, created: false })
  const { data } = bodyOf(await dashboard.call('GET', `/api/keys/${KEY}`, { as })) as { data: JsonObject }
  assert.deepEqual([data.expires, data.date_created, data.alias], [1, '2020-01-02T03:04:05Z', 'new'])
  const listed = rowsOf(await dashboard.call('GET', '/api/moves/keys', { as }), 'keys')
  assert.deepEqual(
    listed.map(({ key_hash }) => key_hash),
    [HASH],
  )
  assert.equal(
    rowsOf(await dashboard.call('GET', `/api/moves/keys?ids=${HASH},${'0'.repeat(64)}`, { as }), 'keys').length,
    1,
  )
})

test('what is no key by its hash is refused', async (t) => {
  const { dashboard, as, post } = await world(t, { SVC_DB_ENABLEUPDATEKEYBYHASH: 'false' })
  const session = { access_rights: rights('mine') }
  for (const body of [
    { session },
    { key_hash: 'short', session },
    { key_hash: HASH },
    { key_hash: HASH, session: { access_rights: rights('mine'), rate: 'x' } },
    { key_hash: HASH, key: 'another-key-0123456789', session },
    { user_name: 'bob', session },
    { key_hash: HASH, session: { apply_policies: ['nowhere'] } },
  ])
    assert.equal((await post('/api/moves/keys', body)).status, 400, JSON.stringify(body))
  assert.equal((await post('/api/moves/keys', { key_hash: HASH, key: KEY, session })).status, 200)
  const there = await post('/api/moves/keys', { key_hash: HASH, session })
  assert.deepEqual([there.status, /cannot be changed by their hash/.test(there.text)], [400, true])
  const foreign = await dashboard.admin(await dashboard.organisation())
  assert.equal((await post('/api/moves/keys', { key_hash: HASH, session }, foreign)).status, 400)
  assert.deepEqual(rowsOf(await dashboard.call('GET', `/api/moves/keys?ids=${HASH}`, { as: foreign }), 'keys'), [])
  assert.equal((await dashboard.call('GET', '/api/moves/keys?ids=%25', { as })).status, 400)
})

test('a check of more than a thousand objects of a kind is refused by its bound', async (t) => {
  const { post } = await world(t)
  const many = (count: number, entry: unknown) => new Array(count).fill(entry)
  for (const [name, entry] of Object.entries({ apis: {}, client_ids: 'c', key_hashes: HASH })) {
    const refused = await post('/api/moves/check', { [name]: many(1001, entry) })
    assert.equal(refused.status, 400, name)
    assert.match(refused.text, new RegExp(`${name}: more than 1000 entries`))
    assert.equal((await post('/api/moves/check', { [name]: many(1000, entry) })).status, 200, name)
  }
})

test('where hashes are not listed, keys are not moved either', async (t) => {
  const { dashboard, as } = await world(t, { SVC_DB_ENABLEHASHEDKEYSLISTING: 'false' })
  assert.equal((await dashboard.call('GET', '/api/moves/keys', { as })).status, 404)
})

test('keys that the installation keeps are shown to those who may write them alone', async (t) => {
  const { dashboard, as, post } = await world(t, { SVC_GW_HASHKEYS: 'false' })
  await post('/api/moves/keys', { key_hash: HASH, key: KEY, session: { access_rights: rights('mine') } })
  const password = 'a-Good-password-1'
  await post('/api/apis/keys/basic/bob', { access_rights: rights('mine'), basic_auth_data: { password } })
  const plain = rowsOf(await dashboard.call('GET', '/api/moves/keys', { as }), 'keys')
  assert.ok(plain.every((row) => !('key' in row) && !('password_hash' in row)))
  const open = rowsOf(await dashboard.call('GET', '/api/moves/keys/secrets', { as }), 'keys')
  assert.equal(open.find(({ key_hash }) => key_hash === HASH)!.key, KEY)
  const bob = open.find(({ user_name }) => user_name === 'bob')!
  assert.match(String(bob.password_hash), /^\$argon2id\$/)
  // A user that is there keeps the password when none is sent.
  const kept = await post('/api/moves/keys', { user_name: 'bob', session: { access_rights: rights('theirs') } })
  assert.equal(kept.status, 200)
  const after = rowsOf(await dashboard.call('GET', '/api/moves/keys/secrets', { as }), 'keys')
  assert.equal(after.find(({ user_name }) => user_name === 'bob')!.password_hash, bob.password_hash)
})

test('with ownership on, everybody moves what they own', async (t) => {
  const { dashboard, as, post } = await world(t, { SVC_DB_ENABLEOWNERSHIP: 'true' })
  const [mine] = await owning(dashboard, as)
  await post('/api/moves/keys', { key_hash: HASH, session: { access_rights: rights('theirs') } })
  await post('/api/moves/keys', { key_hash: 'b'.repeat(64), session: { access_rights: rights('mine') } })
  const seen = async (path: string, name: string, id: string) =>
    rowsOf(await dashboard.call('GET', path, { as: mine }), name).map((row) => row[id])
  assert.deepEqual(await seen('/api/moves/apis', 'apis', 'api_id'), ['mine'])
  assert.deepEqual(await seen('/api/moves/apis?ids=theirs,mine', 'apis', 'api_id'), ['mine'])
  assert.deepEqual(await seen('/api/moves/keys', 'keys', 'key_hash'), ['b'.repeat(64)])
  assert.deepEqual(await seen(`/api/moves/keys?ids=${HASH}`, 'keys', 'key_hash'), [])
  const taken = await post('/api/moves/keys', { key_hash: HASH, session: { access_rights: rights('mine') } }, mine)
  assert.equal(taken.status, 401)
  const given = await post(
    '/api/moves/keys',
    { key_hash: 'c'.repeat(64), session: { access_rights: rights('theirs') } },
    mine,
  )
  assert.equal(given.status, 401)
  const client = { client_id: 'app', api_ids: ['theirs'], redirect_uris: ['https://app.example/cb'] }
  assert.equal((await post('/api/moves/clients', client, mine)).status, 401)
})

test('clients: secrets for those who may write APIs, ids of other organisations are theirs', async (t) => {
  const { dashboard, as, post } = await world(t)
  const oauth = JSON.parse(JSON.stringify(oasApi('books', '/books/'))) as JsonObject
  const flows = { clientCredentials: { tokenUrl: 'oauth/token', scopes: {} } }
  const extension = oauth['x-svc-api-gateway'] as JsonObject
  const server = {
    ...(extension.server as JsonObject),
    authentication: { enabled: true, securitySchemes: { app: { enabled: true } } },
  }
  await post('/api/apis/oas', {
    ...oauth,
    components: { securitySchemes: { app: { type: 'oauth2', flows } } },
    security: [{ app: [] }],
    'x-svc-api-gateway': { ...extension, server },
  })
  const made = await post('/api/moves/clients', { client_id: 'app', secret: 'a-secret-of-the-app', api_ids: ['books'] })
  assert.equal(made.status, 200, made.text)
  const secrets = async (user: TestUser) =>
    rowsOf(await dashboard.call('GET', '/api/moves/clients/secrets', { as: user }), 'clients').map(
      ({ secret }) => secret,
    )
  assert.deepEqual(await secrets(as), ['a-secret-of-the-app'])
  assert.deepEqual(await secrets(await dashboard.user({ oauth: 'write', apis: 'read' })), [''])
  const foreign = await dashboard.admin(await dashboard.organisation())
  const stolen = await post('/api/moves/clients', { client_id: 'app', api_ids: [], policies: ['x'] }, foreign)
  assert.ok(stolen.status >= 400)
  const check = await post('/api/moves/check', { client_ids: ['app', 'free'], key_hashes: ['x'] }, foreign)
  assert.deepEqual(bodyOf(check).obstacles, [
    { kind: 'client', id: 'app', why: 'this ID cannot be used, choose another one' },
  ])
  const api = { format: 'oas', definition: oasApi('free', 'no slash') }
  const [bad] = bodyOf(await post('/api/moves/check', { apis: [api] })).obstacles as JsonObject[]
  assert.deepEqual([bad!.kind, bad!.id], ['definition', 'free'])
})

test('a check reports for each API what its write would, without conflicts with itself', async (t) => {
  for (const ownership of [false, true]) {
    const { dashboard, as } = await world(t, { SVC_DB_ENABLEOWNERSHIP: String(ownership) })
    const [mine, other] = await owning(dashboard, as)
    const post = (path: string, body: unknown, user: TestUser) => dashboard.call('POST', path, { as: user, body })
    const policy = (id: string, api: string) =>
      post('/api/portal/policies', { id, name: id, rate: 1, per: 1, access_rights: rights(api) }, as)
    for (const [id, api] of [
      ['p-mine', 'mine'],
      ['p-theirs', 'theirs'],
    ] as const)
      assert.equal((await policy(id, api)).status, 200)
    const foreigner = await dashboard.admin(await dashboard.organisation())
    await post('/api/apis/oas', oasApi('abroad', '/abroad/'), foreigner)
    const upstream = (id: string, url: string) => {
      const api = oasApi(id, `/${id}/`)
      ;(api['x-svc-api-gateway'] as { upstream: JsonObject }).upstream.url = url
      return api
    }
    const jwt = (id: string, policyId: string) =>
      classicApi(id, `/${id}/`, {
        ...{
          use_keyless: false,
          enable_jwt: true,
          jwt_signing_method: 'hmac',
          jwt_source: Buffer.alloc(32, 'x').toString('base64'),
        },
        jwt_default_policies: [policyId],
      })
    await post('/api/apis/oas', oasApi('nested', '/theirs/nested/'), as)
    const access = { userIds: [mine.id], userGroupIds: [] }
    await dashboard.call('PUT', '/api/apis/nested/access', { as, body: access })
    const asItIs = bodyOf(await dashboard.call('GET', '/api/apis/oas/mine', { as }))
    /** Each API, and whether it is in the way only for a mover who does not own what it touches. */
    const cases: readonly (readonly [what: string, api: JsonObject, ofOthers: boolean])[] = [
      ['itself, unchanged', asItIs, false],
      ['one that stays where an administrator put it', oasApi('nested', '/theirs/nested/'), false],
      ['a new one', oasApi('new', '/new/'), false],
      ['below an API of the mover', oasApi('new', '/mine/v2/'), false],
      ['an API of others', bodyOf(await dashboard.call('GET', '/api/apis/oas/theirs', { as })), true],
      ['below an API of others', oasApi('new', '/theirs/v2/'), true],
      ['leads to an API of the mover', upstream('new', 'svc://mine/x'), false],
      ['leads to itself', upstream('new', 'svc://new/x'), false],
      ['leads to an API of others', upstream('new', 'svc://theirs/x'), true],
      ['names a policy of the mover', jwt('new', 'p-mine'), false],
      ['names a policy of others', jwt('new', 'p-theirs'), true],
    ]
    const checked = async (user: TestUser, apis: readonly JsonObject[], more: JsonObject = {}) => {
      const sent = apis.map((definition) => ({
        format: definition.openapi === undefined ? 'classic' : 'oas',
        definition,
      }))
      const answer = await post('/api/moves/check', { apis: sent, ...more }, user)
      assert.equal(answer.status, 200, answer.text)
      return bodyOf(answer).obstacles as JsonObject[]
    }
    for (const [what, api, ofOthers] of cases) {
      const found = await checked(mine, [api])
      assert.equal(found.length > 0, ownership && ofOthers, `${what}: ${JSON.stringify(found)}`)
      assert.deepEqual(await checked(as, [api]), [], `${what}, an administrator`)
      if ((api['x-svc-api-gateway'] as { info: JsonObject } | undefined)?.info.id !== 'new' && api.api_id !== 'new')
        continue
      const path = api.openapi === undefined ? '/api/apis' : '/api/apis/oas'
      const body = api.openapi === undefined ? { api_definition: api } : api
      const written = await post(path, body, mine)
      assert.equal(written.status === 200, found.length === 0, `${what}, written: ${written.text}`)
      if (written.status === 200) await dashboard.call('DELETE', '/api/apis/new', { as })
    }
    // References to objects of the same move are allowed, in any part.
    const pair = [upstream('one', 'svc://two/x'), upstream('two', 'svc://one/x')]
    assert.deepEqual(await checked(mine, pair), [])
    assert.deepEqual(await checked(mine, [pair[0]!], { api_ids: ['one', 'two'] }), [])
    assert.deepEqual(await checked(mine, [jwt('new', 'p-new')], { policy_ids: ['p-new'] }), [])
    assert.equal((await checked(mine, [pair[0]!])).length, ownership ? 1 : 0)
    // Other organisations are in the way of everybody.
    for (const user of [mine, as])
      for (const api of [oasApi('new', '/abroad/v2/'), oasApi('abroad', '/new/')])
        assert.equal((await checked(user, [api])).length, 1)
    const keys = { key_hashes: [HASH] }
    await post('/api/moves/keys', { key_hash: HASH, session: { access_rights: rights('theirs') } }, as)
    assert.equal((await checked(mine, [], keys)).length, ownership ? 1 : 0)
    assert.deepEqual(await checked(other, [], keys), [])
  }
})

test('a check of a thousand definitions lets other calls be answered meanwhile', async (t) => {
  const { dashboard, post } = await world(t)
  const apis = Array.from({ length: 1000 }, (_, index) => {
    const id = `moved-${index}`
    return { id, format: 'oas', definition: defined({ id, url: 'http://127.0.0.1:1', keyIn: 'Authorization' }) }
  })
  let [isDone, answered] = [false, 0]
  const check = post('/api/moves/check', { apis }).finally(() => {
    isDone = true
  })
  while (!isDone) {
    await dashboard.call('GET', '/hello')
    if (!isDone) answered++
  }
  assert.deepEqual(rowsOf(await check, 'obstacles'), [])
  assert.ok(answered >= 5, String(answered))
  const more = await post('/api/moves/check', { apis: [...apis, ...apis] })
  assert.equal(more.status, 400)
  assert.match(more.text, /more than 1000 entries/)
})
