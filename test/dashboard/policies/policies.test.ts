import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { keyWorld, POLICIES, policyOf, refusal, rightsOn } from '../../worlds/dashboard/key-world.ts'

const KEYS = [
  ...[
    '_id',
    'id',
    'org_id',
    'name',
    'active',
    'is_inactive',
    'state',
    'rate',
    'per',
    'quota_max',
    'quota_renewal_rate',
  ],
  ...['throttle_interval', 'throttle_retry_limit', 'max_query_depth', 'key_expires_in', 'hmac_enabled', 'tags'],
  ...['meta_data', 'partitions', 'access_rights', 'date_created', 'last_updated'],
]

interface List {
  readonly Data: readonly JsonObject[]
  readonly Pages: number
}

test('of rights at APIs that nobody has the first hundred are named, and the others counted', async (t) => {
  const { call, root } = await keyWorld(t)
  for (const [count, listed, last] of [
    [100, 100, 'access_rights.none99'],
    [101, 101, 'access_rights'],
    [3000, 101, 'access_rights'],
  ] as const) {
    const rights = Array.from({ length: count }, (_, index) => `none${index}`)
    const made = await call('POST', POLICIES, { as: root, body: policyOf(`many-${count}`, rights) })
    const { Warnings } = made.json as { Warnings: { path: string; message: string }[] }
    assert.equal(Warnings.length, listed)
    assert.equal(Warnings.at(-1)!.path, last)
    if (count > 100) assert.match(Warnings.at(-1)!.message, new RegExp(`^${count - 100} more rights`))
  }
})

test('a policy is created, read by either id, listed, replaced and deleted', async (t) => {
  const { call, root, orgId, api } = await keyWorld(t)
  await api('orders')
  const made = await call('POST', `${POLICIES}/`, { as: root, body: policyOf('gold', ['orders']) })
  const _id = String((made.json as JsonObject).Message)
  assert.equal(made.text, `{"Status":"OK","Message":"${_id}","Meta":null}`)
  const one = await call('GET', `${POLICIES}/gold`, { as: root })
  const policy = one.json as JsonObject
  assert.deepEqual(Object.keys(policy), KEYS)
  assert.deepEqual([policy._id, policy.id, policy.org_id, policy.last_updated], [_id, 'gold', orgId, '1700000000'])
  assert.deepEqual(policy.access_rights, rightsOn('orders'))
  assert.deepEqual((await call('GET', `${POLICIES}/${_id}`, { as: root })).json, policy)
  // The list speaks of it in the same words.
  assert.equal((await call('GET', POLICIES, { as: root })).text, `{"Data":[${one.text}],"Pages":1}`)
  assert.equal((await call('GET', `${POLICIES}/?p=-2`, { as: root })).text, `{"Data":[${one.text}],"Pages":0}`)
  const changed = await call('PUT', `${POLICIES}/${_id}`, { as: root, body: { ...policy, rate: 7 } })
  assert.equal(changed.text, '{"Status":"OK","Message":"Data updated","Meta":null}')
  const after = (await call('GET', `${POLICIES}/gold`, { as: root })).json as JsonObject
  assert.deepEqual(after, { ...policy, rate: 7 })
  const gone = await call('DELETE', `${POLICIES}/gold/`, { as: root })
  assert.equal(gone.text, '{"Status":"OK","Message":"Data deleted","Meta":null}')
  const [missing, again] = [
    await call('GET', `${POLICIES}/gold`, { as: root }),
    await call('DELETE', `${POLICIES}/${_id}`, { as: root }),
  ]
  assert.deepEqual(refusal(missing), [404, 'Could not retrieve portal object.'])
  assert.deepEqual(refusal(again), [404, 'Could not retrieve object for deletion'])
  assert.deepEqual((await call('GET', POLICIES, { as: root })).json, { Data: [], Pages: 1 })
})

test('supplied ids are kept, a missing id is the storage id, and neither is used twice', async (t) => {
  const { call, root, asked } = await keyWorld(t)
  const _id = '5f0c0c0c0c0c0c0c0c0c0c0c'
  const made = await asked(200, 'POST', POLICIES, root, { ...policyOf('demo.policy_1~a', []), _id })
  assert.equal(made.Message, _id)
  for (const id of [_id, 'demo.policy_1~a']) assert.equal((await asked(200, 'GET', `${POLICIES}/${id}`, root))._id, _id)
  const { Message: alone } = await asked(200, 'POST', POLICIES, root, { name: 'No id' })
  const read = await asked(200, 'GET', `${POLICIES}/${alone}`, root)
  assert.deepEqual([read.id, read._id, read.access_rights], [alone, alone, {}])
  for (const body of [
    { name: 'a', _id },
    { name: 'b', id: 'demo.policy_1~a' },
  ])
    assert.equal((await call('POST', POLICIES, { as: root, body })).status, 409)
  assert.deepEqual(refusal(await call('POST', POLICIES, { as: root, body: { name: 'No id' } })), [
    400,
    'This policy name has already been used. Please choose another one.',
  ])
  const taken = await call('PUT', `${POLICIES}/${alone}`, { as: root, body: { name: 'Policy demo.policy_1~a' } })
  assert.equal(taken.status, 400)
  assert.equal(
    (await call('PUT', `${POLICIES}/${alone}`, { as: root, body: { name: 'No id', id: 'other' } })).status,
    400,
  )
})

test('two policies of one name at the same moment: one gets through', async (t) => {
  const { call, root } = await keyWorld(t)
  const made = await Promise.all([1, 2, 3].map(() => call('POST', POLICIES, { as: root, body: { name: 'Same' } })))
  assert.deepEqual(made.map(({ status }) => status).sort(), [200, 400, 400])
})

test('ids are replaced or let through where the settings say so', async (t) => {
  const strict = await keyWorld(t, { env: { SVC_DB_ALLOWEXPLICITPOLICYID: 'false' } })
  const { Message: _id } = await strict.asked(200, 'POST', POLICIES, strict.root, policyOf('mine', []))
  assert.equal((await strict.asked(200, 'GET', `${POLICIES}/${_id}`, strict.root)).id, _id)
  assert.equal((await strict.call('GET', `${POLICIES}/mine`, { as: strict.root })).status, 404)
  const body = policyOf('a/b c', [])
  assert.equal((await strict.call('POST', POLICIES, { as: strict.root, body })).status, 400)
  assert.deepEqual(refusal(await strict.call('GET', `${POLICIES}/a%2Fb%20c`, { as: strict.root })), [
    400,
    'Invalid policy ID.',
  ])
  const loose = await keyWorld(t, { env: { SVC_DB_ALLOWUNSAFEPOLICYIDS: 'true' } })
  await loose.asked(200, 'POST', POLICIES, loose.root, body)
  assert.equal((await loose.asked(200, 'GET', `${POLICIES}/a%2Fb+c`, loose.root)).id, 'a/b c')
})

test('rights may come as a list and are answered as a map', async (t) => {
  const { root, asked, call } = await keyWorld(t)
  const right = (id: string, rate: number) => ({ api_id: id, api_name: id, versions: ['v1'], limit: { rate, per: 1 } })
  const body = {
    id: 'p',
    name: 'p',
    access_rights: rightsOn('a', 'b'),
    access_rights_array: [right('b', 2), right('c', 3)],
  }
  await asked(200, 'POST', POLICIES, root, body)
  const { access_rights: rights, access_rights_array: list } = await asked(200, 'GET', `${POLICIES}/p`, root)
  assert.deepEqual(Object.keys(rights as JsonObject), ['a', 'b', 'c'])
  assert.deepEqual((rights as JsonObject).b, { ...right('b', 2), allowed_urls: [] })
  assert.equal(list, undefined)
  for (const access_rights_array of [{}, 'x', [1], [{ api_name: 'no id' }]])
    assert.equal((await call('POST', POLICIES, { as: root, body: { name: 'x', access_rights_array } })).status, 400)
})

test('state and flags say one thing, whichever is edited', async (t) => {
  const { root, asked, policy } = await keyWorld(t)
  await policy('p', [])
  const edit = async (change: JsonObject) => {
    const before = await asked(200, 'GET', `${POLICIES}/p`, root)
    await asked(200, 'PUT', `${POLICIES}/p`, root, { ...before, ...change })
    const { state, active, is_inactive } = await asked(200, 'GET', `${POLICIES}/p`, root)
    return [state, active, is_inactive]
  }
  assert.deepEqual(await edit({ is_inactive: true }), ['deny', true, true])
  assert.deepEqual(await edit({ state: 'active' }), ['active', true, false])
  assert.deepEqual(await edit({ state: 'deny' }), ['deny', true, true])
  assert.deepEqual(await edit({ is_inactive: false, active: false }), ['draft', false, false])
  assert.deepEqual(await edit({ state: 'active' }), ['active', true, false])
})

test('PATCH changes parts; unknown fields and the date of creation stay', async (t) => {
  const { root, asked, policy, clock } = await keyWorld(t)
  await policy('p', ['a'], {
    tags: ['x'],
    meta_data: { plan: 'gold', old: 1 },
    graphql_enabled: true,
    own: { deep: [1] },
  })
  const before = await asked(200, 'GET', `${POLICIES}/p`, root)
  clock.advance(5000)
  const patch = { rate: 3, meta_data: { old: null, more: true }, tags: null, org_id: 'other', _id: before._id }
  await asked(200, 'PATCH', `${POLICIES}/p`, root, patch)
  const after = await asked(200, 'GET', `${POLICIES}/p`, root)
  const expected: JsonObject = {
    ...before,
    rate: 3,
    meta_data: { plan: 'gold', more: true },
    tags: [],
    last_updated: '1700000006',
  }
  assert.deepEqual(after, expected)
  assert.deepEqual([after.graphql_enabled, after.own], [true, { deep: [1] }])
})

test('policies are searched, filtered, sorted and paged', async (t) => {
  const { root, asked, policy, call } = await keyWorld(t, { env: { SVC_DB_PAGESIZE: '3' } })
  const ids = new Map<string, string>()
  for (const [id, more, apis] of [
    ['alpha', { name: 'Silver', auth_type: 'jwt' }, ['a']],
    ['beta', { name: 'gold plus', auth_types: ['oauth', 'jwt'] }, ['b']],
    ['gamma', { name: 'Bronze', state: 'draft' }, ['a', 'b']],
    ['golden', { name: 'Copper', is_inactive: true }, []],
  ] as const)
    ids.set(id, await policy(id, apis, more as JsonObject))
  const found = async (query: string) => {
    const list = (await asked(200, 'GET', `${POLICIES}/search?${query}`, root)) as unknown as List
    return [...list.Data.map(({ id }) => id), list.Pages]
  }
  assert.deepEqual(await found('q=GOLD'), ['beta', 'golden', 1])
  assert.deepEqual(await found(`policy_ids=${ids.get('alpha')},gamma,nothing`), ['alpha', 'gamma', 1])
  assert.deepEqual(await found('state=deny,draft'), ['gamma', 'golden', 1])
  assert.deepEqual(await found('active=1'), ['alpha', 'beta', 1])
  assert.deepEqual(await found('api_id=b&auth_type=oauth,custom'), ['beta', 1])
  assert.deepEqual(await found('sort=name&p=-1'), ['gamma', 'golden', 'beta', 'alpha', 0])
  assert.deepEqual(await found('sort=-name'), ['alpha', 'beta', 'golden', 2])
  assert.deepEqual(await found('sort=-name&p=2'), ['gamma', 2])
  assert.deepEqual(await found('sort=state&p=0'), ['alpha', 'beta', 'golden', 'gamma', 0])
  assert.deepEqual(await found('q=nobody'), [1])
  const active = (await asked(200, 'GET', `${POLICIES}?active=true&p=-1`, root)) as unknown as List
  assert.equal(active.Data.length, 2)
  assert.deepEqual(refusal(await call('GET', `${POLICIES}/search?policy_ids=a%2Fb`, { as: root })), [
    400,
    'Policy ID is not in hex format.',
  ])
  for (const query of ['state=gone', 'sort=rate', 'p=x'])
    assert.equal((await call('GET', `${POLICIES}/search?${query}`, { as: root })).status, 400)
})

test('what is no policy is refused and changes nothing', async (t) => {
  const { root, call, store } = await keyWorld(t)
  const revision = await store.documents.revision()
  for (const body of ['{', '', '[1]', '{"name":"x","__proto__":{"rate":1}}', `{"a":${'['.repeat(200)}`])
    assert.equal((await call('POST', POLICIES, { as: root, body })).status, body === '[1]' ? 400 : 403, body)
  for (const body of [
    ...[{ name: 5 }, { name: 'x', rate: '5' }, { name: 'x', id: 'a/b' }, { name: 'x', _id: '../x' }],
    ...[
      { name: 'x', access_rights: [] },
      { name: 'x', access_rights: { a: { api_id: 'b' } } },
    ],
    { name: 'x', date_created: 'yesterday' },
    { name: 'x', access_rights: { a: { allowed_urls: [{ url: '(a+)+$('.repeat(9), methods: ['GET'] }] } } },
  ])
    assert.equal((await call('POST', POLICIES, { as: root, body })).status, 400, JSON.stringify(body))
  assert.equal(await store.documents.revision(), revision)
  const harmless = { name: 'x', access_rights: { constructor: {}, toString: {} }, meta_data: { hasOwnProperty: 1 } }
  assert.equal((await call('POST', POLICIES, { as: root, body: harmless })).status, 200)
})

test('a policy with thousands of APIs is taken and answered', async (t) => {
  const { root, asked, policy } = await keyWorld(t)
  const apis = Array.from({ length: 5000 }, (_, i) => `api-${i}`)
  const _id = await policy('wide', apis)
  const read = await asked(200, 'GET', `${POLICIES}/${_id}`, root)
  assert.equal(Object.keys(read.access_rights as JsonObject).length, 5000)
  const found = (await asked(200, 'GET', `${POLICIES}/search?api_id=api-4999`, root)) as unknown as List
  assert.equal(found.Data.length, 1)
})

test('organisations do not see each other', async (t) => {
  const { root, call, asked, policy, admin, organisation, user } = await keyWorld(t)
  const other = await admin(await organisation())
  const _id = await policy('p', ['a'])
  await asked(200, 'POST', POLICIES, other, { ...policyOf('p', []), name: 'Theirs', org_id: root.orgId })
  const theirs = await asked(200, 'GET', `${POLICIES}/p`, other)
  assert.deepEqual([theirs.org_id, theirs.name], [other.orgId, 'Theirs'])
  for (const [method, body] of [['GET'], ['PUT', { name: 'y' }], ['PATCH', { name: 'y' }], ['DELETE']] as const)
    assert.equal((await call(method, `${POLICIES}/${_id}`, { as: other, ...(body && { body }) })).status, 404)
  await asked(200, 'PUT', `${POLICIES}/p`, other, { name: 'z', org_id: root.orgId })
  assert.equal((await asked(200, 'GET', `${POLICIES}/p`, other)).org_id, other.orgId)
  assert.equal((await asked(200, 'GET', `${POLICIES}/p`, root)).name, 'Policy p')
  const list = (await asked(200, 'GET', `${POLICIES}/search?policy_ids=${_id}`, other)) as unknown as List
  assert.deepEqual(list.Data, [])
  const unbounded = await user({ policies: 'write' }, { orgId: '' })
  const all = (await asked(200, 'GET', POLICIES, unbounded)) as unknown as List
  assert.equal(all.Data.length, 2)
  assert.equal((await call('DELETE', `${POLICIES}/${_id}`, { as: unbounded })).status, 403)
  assert.equal((await call('GET', `${POLICIES}/p`, { as: unbounded })).status, 400)
})

test('rights decide who may read and who may write', async (t) => {
  const { call, policy, user } = await keyWorld(t)
  await policy('p', [])
  const [reader, nobody] = [await user({ policies: 'read' }), await user({ apis: 'write', policies: 'deny' })]
  assert.equal((await call('GET', POLICIES, { as: reader })).status, 200)
  assert.deepEqual(refusal(await call('DELETE', `${POLICIES}/p`, { as: reader })), [
    403,
    `access denied: You do not have permission to access  ${POLICIES}/p`,
  ])
  assert.equal((await call('GET', `${POLICIES}/p`, { as: nobody })).status, 403)
  assert.deepEqual(refusal(await call('GET', POLICIES)), [401, 'Not authorised'])
})
