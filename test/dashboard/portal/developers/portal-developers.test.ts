import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { DocumentId } from '../../../../src/model/documents/ids.ts'
import { isObject, type JsonObject } from '../../../../src/model/json/json.ts'
import type { Answer } from '../../../worlds/base/client.ts'
import { assertDone, assertRefused, bodyOf } from '../../../worlds/dashboard/people.ts'
import { cheapHash } from '../../../worlds/dashboard/sign-in-world.ts'
import { DEVELOPERS, portalPeople } from '../../../worlds/portal/portal-people.ts'

const MEMBERS = [
  ...[
    'id',
    '_id',
    'email',
    'date_created',
    'inactive',
    'org_id',
    'keys',
    'subscriptions',
    'api_keys',
    'fields',
    'nonce',
  ],
  ...['sso_key', 'oauth_clients', 'password_max_days', 'password_updated', 'PWHistory', 'last_login_date'],
]
const NEVER = '0001-01-01T00:00:00Z'
const rows = (page: JsonObject) => page.Data as JsonObject[]

test('a developer is made, read in three ways, replaced, changed in part and deleted', async (t) => {
  const world = await portalPeople(t)
  const record = {
    email: 'Ada@Example.test',
    password: 'in clear',
    fields: { Name: 'Ada', Team: '3' },
    sso_key: 'Ada@IdP',
  }
  const made = await world.asked(200, 'POST', `${DEVELOPERS}/`, record)
  assert.deepEqual(Object.keys(made), ['Status', 'Message', 'Meta'])
  assert.equal(made.Meta, null)
  const id = String(made.Message)
  assert.match(id, /^[0-9a-f]{24}$/)

  const shown = await world.read(id)
  assert.deepEqual(Object.keys(shown), MEMBERS)
  assert.deepEqual(shown, {
    ...{ id, _id: id, email: 'Ada@Example.test', inactive: false, org_id: world.orgId },
    ...{ keys: {}, subscriptions: {}, api_keys: {}, oauth_clients: {}, fields: record.fields, sso_key: 'Ada@IdP' },
    ...{ nonce: '', password_max_days: 0, PWHistory: [], last_login_date: NEVER },
    date_created: new Date(world.clock.wall()).toISOString(),
    password_updated: new Date(world.clock.wall()).toISOString(),
  })
  for (const path of ['email/ada%40example.TEST', 'email/ADA%40EXAMPLE.TEST/', 'ssokey/ada%40idp', 'ssokey/ADA@IDP'])
    assert.deepEqual(await world.asked(200, 'GET', `${DEVELOPERS}/${path}`), shown, path)

  const changed = { ...shown, inactive: true, fields: { Name: 'Countess' }, later: { added: [1] } }
  assert.equal((await world.asked(200, 'PUT', `${DEVELOPERS}/${id}`, changed)).Message, 'Data updated')
  assert.deepEqual(await world.read(id), changed)
  await world.asked(200, 'PATCH', `${DEVELOPERS}/${id}`, { fields: { Team: 4, Name: null }, inactive: false })
  assert.deepEqual(await world.read(id), { ...changed, fields: { Team: '4' }, inactive: false })

  assertDone(await world.call('DELETE', `${DEVELOPERS}/${id}`, { as: world.portal }), 'Data deleted')
  for (const [method, path] of [
    ['GET', id],
    ['DELETE', id],
    ['GET', 'email/ada%40example.test'],
    ['GET', 'ssokey/ada%40idp'],
  ] as const)
    assertRefused(await world.call(method, `${DEVELOPERS}/${path}`, { as: world.portal }), 404, 'Developer not found')
})

test('every call answers without the /api prefix too', async (t) => {
  const world = await portalPeople(t)
  const short = '/portal/developers'
  const id = String((await world.asked(200, 'POST', short, { email: 'a@b.test' })).Message)
  assert.deepEqual(await world.asked(200, 'GET', `${short}/${id}/`), await world.read(id))
  assert.equal((await world.asked(200, 'GET', `${short}/email/a%40b.test`)).id, id)
  assert.equal(rows(await world.asked(200, 'GET', short)).length, 1)
  await world.asked(200, 'PATCH', `${short}/${id}`, { inactive: true })
  await world.asked(200, 'DELETE', `${short}/${id}`)
})

test('a list has pages, finds by a part of the address, and is sorted', async (t) => {
  const world = await portalPeople(t)
  assert.deepEqual(await world.asked(200, 'GET', DEVELOPERS), { Data: [], Pages: 1 })
  for (const name of ['mia', 'Zoe', 'ben', 'Ada']) {
    await world.developer({ email: `${name}@example.test` })
    world.clock.advance(1000)
  }
  for (let i = 0; i < 8; i++) await world.developer({ email: `other-${i}@elsewhere.test` })
  const first = await world.asked(200, 'GET', DEVELOPERS)
  assert.deepEqual([rows(first).length, first.Pages, rows(first)[0]!.email], [10, 2, 'mia@example.test'])
  assert.equal(rows(await world.asked(200, 'GET', `${DEVELOPERS}?p=2`)).length, 2)
  for (const p of ['-1', '-2', '0']) {
    const all = await world.asked(200, 'GET', `${DEVELOPERS}?p=${p}`)
    assert.deepEqual([rows(all).length, all.Pages], [12, 0])
    assert.match(String(rows(all)[0]!._id), /^[0-9a-f]{24}$/)
  }
  const emails = async (query: string) =>
    rows(await world.asked(200, 'GET', `${DEVELOPERS}?${query}`)).map(({ email }) => String(email).split('@')[0])
  assert.deepEqual(await emails('q=EXAMPLE.t&sort=email'), ['Ada', 'ben', 'mia', 'Zoe'])
  assert.deepEqual(await emails('q=example.t&sort=-date_created'), ['Ada', 'ben', 'Zoe', 'mia'])
  assert.deepEqual(await emails(`q=${encodeURIComponent("' OR 1=1 --")}`), [])
  assert.deepEqual(await emails('q=%25'), [])
  await world.asked(400, 'GET', `${DEVELOPERS}?sort=password`)
})

test('an address stands once in an organisation, whatever the case of its letters', async (t) => {
  const world = await portalPeople(t)
  await world.developer({ email: 'ada@example.test' })
  const ben = await world.developer({ email: 'ben@example.test' })
  const taken = 'Developer email already exists for this org.'
  for (const email of ['ada@example.test', 'ADA@example.TEST', ' ada@Example.test ']) {
    const made = await world.call('POST', DEVELOPERS, { as: world.portal, body: { email } })
    assertRefused(made, 403, taken)
    const put = await world.call('PUT', `${DEVELOPERS}/${ben}`, { as: world.portal, body: { email } })
    assertRefused(put, 403, taken)
  }
  const other = await world.user({ portal: 'write' }, { orgId: await world.organisation() })
  assert.equal((await world.call('POST', DEVELOPERS, { as: other, body: { email: 'ada@example.test' } })).status, 200)
  await world.asked(200, 'PUT', `${DEVELOPERS}/${ben}`, { email: 'Ben@example.test' })
  assert.equal((await world.read(ben)).email, 'Ben@example.test')
  // Of many at once one is made.
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      world.call('POST', DEVELOPERS, { as: world.portal, body: { email: i % 2 ? 'zoe@b.test' : 'ZOE@b.test' } }),
    ),
  )
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
})

test('a whole record keeps password, keys and apps that it omits', async (t) => {
  const world = await portalPeople(t)
  const id = await world.developer({
    ...{ email: 'ada@example.test', password: cheapHash('secret one'), inactive: true, sso_key: 'a', nonce: 'n' },
    ...{ fields: { Name: 'Ada' }, password_max_days: 3 },
  })
  const [before, kept] = [await world.read(id), await world.stored(id)]
  await world.asked(200, 'PUT', `${DEVELOPERS}/${id}`, { email: 'ada@example.test', password: '' })
  assert.deepEqual(await world.read(id), {
    ...before,
    ...{ inactive: false, sso_key: '', nonce: '', fields: {}, password_max_days: 0 },
  })
  assert.equal((await world.stored(id)).password, kept.password)
  await world.asked(200, 'PUT', `${DEVELOPERS}/${id}`, {
    email: 'ada@example.test',
    password: null,
    keys: null,
    oauth_clients: null,
  })
  assert.equal((await world.stored(id)).password, kept.password)
  assert.equal(await world.verify('ada@example.test', 'secret one'), 200)
  // Nobody but the product writes these.
  const forged = {
    id: 'x',
    _id: 'y',
    org_id: 'z',
    date_created: '2001-01-01T00:00:00Z',
    last_login_date: 'x',
    password_updated: 'x',
  }
  const login = (await world.read(id)).last_login_date
  await world.asked(200, 'PUT', `${DEVELOPERS}/${id}`, { email: 'ada@example.test', PWHistory: ['x'], ...forged })
  const after = await world.read(id)
  assert.deepEqual(
    [after.id, after.org_id, after.date_created, after.last_login_date, after.password_updated, after.PWHistory],
    [id, world.orgId, before.date_created, login, before.password_updated, []],
  )
  await world.asked(400, 'PUT', `${DEVELOPERS}/${id}`, { fields: {} })
})

test('property: unknown members are those of the last whole record, as merge patches left them', async (t) => {
  const world = await portalPeople(t)
  const id = await world.developer({ email: 'ada@example.test' })
  const known = new Set(Object.keys(await world.read(id)))
  const value = fc.oneof(
    fc.integer(),
    fc.string(),
    fc.constant(null),
    fc.dictionary(fc.constantFrom('a', 'b'), fc.integer(), { noNullPrototype: true }),
  )
  const members = fc.dictionary(fc.constantFrom('plan', 'notes', 'Plan', 'custom field'), value, {
    noNullPrototype: true,
  })
  const step = fc.record({ method: fc.constantFrom('PUT', 'PATCH'), members })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      let model: JsonObject = {}
      await world.asked(200, 'PUT', `${DEVELOPERS}/${id}`, { email: 'ada@example.test' })
      for (const { method, members } of steps) {
        await world.asked(200, method, `${DEVELOPERS}/${id}`, { email: 'ada@example.test', ...members })
        if (method === 'PUT') model = {}
        for (const [name, sent] of Object.entries(members)) {
          const before = model[name]
          if (sent === null) delete model[name]
          else model[name] = isObject(sent) && isObject(before ?? null) ? { ...(before as JsonObject), ...sent } : sent
        }
        const read = Object.entries(await world.read(id)).filter(([name]) => !known.has(name))
        assert.deepEqual(Object.fromEntries(read), model)
      }
    }),
    { numRuns: 12 },
  )
})

test('the date of a record that comes from elsewhere is kept', async (t) => {
  const world = await portalPeople(t)
  const made = async (date_created: unknown) =>
    (
      await world.read(
        await world.developer({
          email: `d${date_created}@b.test`.replace(/[^a-z0-9@.]/g, ''),
          date_created,
        } as JsonObject),
      )
    ).date_created
  assert.equal(await made('2020-05-06T07:08:09+02:00'), '2020-05-06T05:08:09.000Z')
  for (const none of ['0001-01-01T00:00:00Z', 'yesterday', 17])
    assert.equal(await made(none), new Date(world.clock.wall()).toISOString())
})

test('neither password nor hash is in any answer, log or audit entry', async (t) => {
  const world = await portalPeople(t)
  const admin = await world.admin()
  const password = 'never to be seen 1'
  const texts: string[] = []
  const kept = async (answer: Promise<Answer>) => void texts.push((await answer).text)
  const id = await world.developer({ email: 'ada@example.test', password })
  const hash = String((await world.stored(id)).password)
  assert.match(hash, /^\$argon2id\$/)
  await kept(world.call('GET', DEVELOPERS, { as: world.portal }))
  await kept(world.call('GET', `${DEVELOPERS}/${id}`, { as: world.portal }))
  await kept(world.call('GET', `${DEVELOPERS}/email/ada%40example.test`, { as: world.portal }))
  await kept(world.call('PUT', `${DEVELOPERS}/${id}`, { as: world.portal, body: { email: 'x', password } }))
  await kept(world.call('POST', `${DEVELOPERS}/password/${id}`, { as: world.portal, body: { password } }))
  await kept(world.call('GET', '/api/audit-logs?p=-1', { as: admin }))
  const shown = texts.join() + JSON.stringify(world.log)
  for (const secret of [password, hash, '$argon2id']) assert.ok(!shown.includes(secret), secret)
})

test('who may only read sees no nonce: it opens the session of its developer', async (t) => {
  const world = await portalPeople(t)
  const id = await world.developer({ email: 'ada@example.test', nonce: 'bm9uY2U=' })
  const path = `${DEVELOPERS}/${id}`
  assert.equal((await world.read(id)).nonce, 'bm9uY2U=')
  for (const as of [await world.user({ portal: 'read' }), await world.user({ portal: 'write' }, { orgId: '' })])
    assert.equal(bodyOf(await world.call('GET', path, { as })).nonce, '')
})

test('developers of another organisation are not found and never change', async (t) => {
  const world = await portalPeople(t)
  const id = await world.developer({ email: 'ada@example.test', sso_key: 'ada', password: cheapHash('secret one') })
  const before = JSON.stringify(await world.stored(id))
  const as = await world.admin(await world.organisation())
  const calls: [string, string, unknown?][] = [
    ['GET', id],
    ['GET', 'email/ada%40example.test'],
    ['GET', 'ssokey/ada'],
    ['PUT', id, { email: 'mine@example.test' }],
    ['PATCH', id, { inactive: true }],
    ['DELETE', id],
  ]
  for (const [method, path, body] of calls)
    assertRefused(await world.call(method, `${DEVELOPERS}/${path}`, { as, body }), 404, 'Developer not found')
  const reset = await world.call('POST', `${DEVELOPERS}/password/${id}`, { as, body: { password: 'mine now' } })
  assertRefused(reset, 400, 'Developer password validation failed.')
  const verify = { username: 'ada@example.test', password: 'secret one' }
  assert.equal((await world.call('POST', `${DEVELOPERS}/verify_credentials`, { as, body: verify })).status, 401)
  assert.deepEqual(bodyOf(await world.call('GET', `${DEVELOPERS}?p=-1`, { as })).Data, [])
  assert.equal(JSON.stringify(await world.stored(id)), before)
})

test('hostile records are refused with the member named, and nothing is stored', async (t) => {
  const world = await portalPeople(t)
  const id = await world.developer({ email: 'ada@example.test' })
  const before = JSON.stringify(await world.stored(id))
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`f${i}`, 'x']))
  const bad: [JsonObject, RegExp][] = [
    ...['', 'no address', 'a@b@c', 'a@b.test\r\nBcc: c@d.test', 'a@b.test\n', '"a"@b.test', `${'a'.repeat(250)}@b.test`]
      .filter((email) => email.trim() !== 'a@b.test')
      .map((email): [JsonObject, RegExp] => [{ email }, /email/]),
    [{ email: 7 }, /email/],
    [{ email: ['a@b.test'] }, /email/],
    [{ email: 'a@b.test', fields: [] }, /fields: must be an object/],
    [{ email: 'a@b.test', fields: { Name: { a: 1 } } }, /fields: every value/],
    [{ email: 'a@b.test', fields: { Name: 'x'.repeat(4097) } }, /fields: a value/],
    [{ email: 'a@b.test', fields: { ['n'.repeat(129)]: 'x' } }, /fields: a name/],
    [{ email: 'a@b.test', fields: { 'a\r\nb': 'x' } }, /fields: a name/],
    [{ email: 'a@b.test', fields: many }, /fields: at most 100/],
    [{ email: 'a@b.test', inactive: 'yes' }, /inactive/],
    [{ email: 'a@b.test', password_max_days: -1 }, /password_max_days/],
    [{ email: 'a@b.test', sso_key: 'a\nb' }, /sso_key/],
    [{ email: 'a@b.test', nonce: 'x'.repeat(513) }, /nonce/],
    [{ email: 'a@b.test', password: 5 }, /password/],
    [{ email: 'a@b.test', keys: [] }, /keys/],
    [{ email: 'a@b.test', blob: 'x'.repeat(70_000) }, /larger than/],
  ]
  for (const [body, named] of bad) {
    assertRefused(await world.call('POST', DEVELOPERS, { as: world.portal, body }), 400, named)
    assertRefused(await world.call('PUT', `${DEVELOPERS}/${id}`, { as: world.portal, body }), 400, named)
  }
  for (const body of [
    '{"email":"a@b.test","__proto__":{}}',
    '{"email":"a@b.test","fields":{"__proto__":"x"}}',
    '{',
    '[]',
  ])
    assertRefused(await world.call('POST', DEVELOPERS, { as: world.portal, body }), 403, 'Request body malformed')
  assert.equal(JSON.stringify(await world.stored(id)), before)
  assert.equal((await world.store.documents.list('developer', { limit: 1 })).total, 1)
})

test('names of the language and pieces of SQL are texts like others', async (t) => {
  const world = await portalPeople(t)
  const fields = { constructor: 'a', toString: "'; DROP TABLE document; --", hasOwnProperty: '🦊', prototype: '' }
  const id = await world.developer({ email: "o'brien@example.test", fields, sso_key: "x' OR '1'='1" })
  assert.deepEqual((await world.read(id)).fields, fields)
  assert.equal((await world.asked(200, 'GET', `${DEVELOPERS}/email/o'brien%40example.test`)).id, id)
  assert.equal((await world.asked(200, 'GET', `${DEVELOPERS}/ssokey/${encodeURIComponent("X' OR '1'='1")}`)).id, id)
  for (const hostile of [
    "x' OR 1=1 --",
    '%27%20OR%201=1',
    '__proto__',
    'constructor',
    '..%2f..',
    '%00',
    `${'f'.repeat(24)}`,
  ]) {
    const path = encodeURIComponent(hostile)
    for (const place of [path, `email/${path}`, `ssokey/${path}`])
      assert.equal((await world.call('GET', `${DEVELOPERS}/${place}`, { as: world.portal })).status, 404, place)
    assert.equal((await world.call('DELETE', `${DEVELOPERS}/${path}`, { as: world.portal })).status, 404)
  }
  assert.equal((await world.store.documents.list('developer', { limit: 1 })).total, 1)
})

test('the organisation says how many developers there may be, and counts them', async (t) => {
  const world = await portalPeople(t)
  const set = async (developer_quota: number) => {
    const { id, body } = (await world.store.documents.get('organisation', world.orgId as DocumentId))!
    await world.store.documents.commit(
      [{ op: 'put', kind: 'organisation', id, body: { ...body, developer_quota } }],
      undefined,
    )
  }
  const count = async () =>
    (await world.store.documents.get('organisation', world.orgId as DocumentId))!.body.developer_count
  await set(3)
  const answers = await Promise.all(
    Array.from({ length: 7 }, (_, i) =>
      world.call('POST', DEVELOPERS, { as: world.portal, body: { email: `d${i}@b.test` } }),
    ),
  )
  assert.equal(answers.filter(({ status }) => status === 200).length, 3)
  assert.equal(await count(), 3)
  const full = await world.call('POST', DEVELOPERS, { as: world.portal, body: { email: 'one@more.test' } })
  assertRefused(full, 403, 'The developer quota of the organisation has been reached.')
  const made = answers.find(({ status }) => status === 200)!
  await world.asked(200, 'DELETE', `${DEVELOPERS}/${isObject(made.json) ? made.json.Message : ''}`)
  assert.equal(await count(), 2)
  await world.developer({ email: 'one@more.test' })
  await set(0)
  await world.developer({ email: 'another@more.test' })
  assert.equal(await count(), 4)
})

test('an administrator who replaces the organisation does not change the count', async (t) => {
  const world = await portalPeople(t)
  await world.developer({ email: 'ada@example.test' })
  const path = `/admin/organisations/${world.orgId}`
  const body = { owner_name: 'Renamed', developer_count: 900, developer_quota: 5 }
  assert.equal((await world.call('PUT', path, { as: 'installation', body })).status, 200)
  const shown = bodyOf(await world.call('GET', path, { as: 'installation' }))
  assert.deepEqual([shown.owner_name, shown.developer_count, shown.developer_quota], ['Renamed', 1, 5])
})

test('two who change one developer at once both come through', async (t) => {
  const world = await portalPeople(t)
  const id = await world.developer({ email: 'ada@example.test' })
  await Promise.all(
    Array.from({ length: 6 }, (_, i) =>
      world.asked(200, 'PATCH', `${DEVELOPERS}/${id}`, { fields: { [`f${i}`]: 'x' } }),
    ),
  )
  assert.equal(Object.keys((await world.read(id)).fields as JsonObject).length, 6)
})
