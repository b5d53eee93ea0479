import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../../src/model/json/json.ts'
import { hashKey } from '../../../../src/model/secrets/secret.ts'
import { developerById } from '../../../../src/publish/portal/developers/developer-change.ts'
import { issueAccess } from '../../../../src/publish/portal/developers/developer-keys.ts'
import type { SessionRow } from '../../../../src/store/ports/ports.ts'
import { eventually } from '../../../worlds/base/eventually.ts'
import { refusal } from '../../../worlds/dashboard/key-world.ts'
import { assertSound, DEVELOPERS, developerWorld, standing } from '../../../worlds/portal/developer-world.ts'

const NEVER = '0001-01-01T00:00:00Z'

test('a created key works at once, inherits the sign-up fields, and is in the record', async (t) => {
  const world = await developerWorld(t)
  await world.keyed('orders')
  await world.keyed('stock')
  await world.policy('gold', ['orders'])
  await world.configure({ signup_fields: ['Company', 'Absent'] })
  const ada = await world.developer('Ada@example.test', { fields: { Company: 'ACME', Name: 'Ada' } })
  const body = { apply_policies: ['gold'], fields: { why: 'trial', Company: 'forged', svc_developer_id: 'forged' } }
  const made = await world.asked(200, 'POST', `${DEVELOPERS}/${ada}/keys`, world.root, body)
  assert.deepEqual(Object.keys(made), ['RawKey', 'Password'])
  assert.equal(made.Password, '')
  const key = String(made.RawKey)
  assert.equal(await world.use('/orders/', key), 200)
  assert.equal(await world.use('/stock/', key), 403)
  const hash = hashKey(key).toString('hex')
  const record = await world.record(ada)
  assert.deepEqual([record.keys, record.subscriptions], [{ [hash]: ['gold'] }, { gold: hash }])
  const session = (await world.asked(200, 'GET', `/api/keys/${hash}?hashed=1`, world.root)).data as JsonObject
  assert.equal(session.alias, 'Ada@example.test')
  assert.deepEqual(session.meta_data, { why: 'trial', Company: 'ACME', svc_developer_id: ada })
  assert.equal('developer_id' in session, false)
  await assertSound(world.store)
})

test('the spellings of the call: subscriptions, policy_id, paths, storage ids of policies', async (t) => {
  const world = await developerWorld(t, { SVC_COMPAT_VENDORALIASES: 'acme' })
  await world.keyed('orders')
  const ids = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => world.policy(id, ['orders'])))
  const ada = await world.developer('ada@example.test')
  const paths = ['/api/portal', '/portal', '/api//portal'].map((base) => `${base}/developers/${ada}`)
  await world.asked(200, 'POST', `${paths[0]}/subscriptions/`, world.root, { policy_id: 'a' })
  await world.asked(200, 'POST', `${paths[1]}/subscriptions`, world.root, { apply_policies: ['b'], policy_id: 'a' })
  await world.asked(200, 'POST', `${paths[1]}/keys/`, world.root, { apply_policies: [ids[2]] })
  await world.asked(200, 'POST', `${paths[2]}/keys`, world.root, { apply_policies: ['d', ids[3], 'e'], fields: null })
  const { keys, subscriptions } = await world.record(ada)
  assert.deepEqual(Object.values(keys as JsonObject), [['a'], ['b'], ['c'], ['d', 'e']])
  assert.deepEqual(Object.keys(subscriptions as JsonObject), ['a', 'b', 'c', 'd', 'e'])
  const [first = ''] = Object.keys(keys as JsonObject)
  const { fields } = await world.asked(200, 'GET', `/portal/developers/${ada}/keys/${first}/`, world.root)
  assert.deepEqual(fields, { svc_developer_id: ada, acme_developer_id: ada })
})

test('what cannot be given is refused by name, and nothing changes', async (t) => {
  const world = await developerWorld(t)
  await world.keyed('orders')
  await world.keyed('open', { use_keyless: true })
  await world.oauth({ id: 'shop' })
  await world.policy('gold', ['orders'])
  await world.policy('silver', ['orders'])
  await world.policy('free', ['open'])
  await world.policy('client', ['shop'])
  await world.policy('both', ['orders', 'shop'])
  await world.policy('draft', ['orders'], { state: 'draft' })
  await world.policy('basic', ['orders'], { auth_type: 'basic' })
  for (const [id, types] of [
    ['jwt', ['jwt']],
    ['hmac', ['hmac']],
    ['cert', ['mutualTLS']],
  ] as const)
    await world.policy(id, [], { auth_types: [...types], access_rights: {} })
  const ada = await world.developer('ada@example.test')
  await world.add(ada, ['gold'])
  const elsewhere = await world.admin(await world.organisation())
  await world.policy('theirs', [], {}, elsewhere)
  const before = await standing(world.store)
  const attempt = async (body: unknown, id = ada) =>
    refusal(await world.call('POST', `${DEVELOPERS}/${id}/keys`, { as: world.root, body }))
  const by = (...policies: string[]) => attempt({ apply_policies: policies })
  const no = 'The subscription is refused: apply_policies: '
  assert.deepEqual(await by('nothing'), [400, `${no}there is no policy nothing`])
  assert.deepEqual(await by('silver', "' OR 1=1 --"), [400, `${no}there is no policy ' OR 1=1 --`])
  assert.deepEqual(await by('__proto__'), [400, `${no}there is no policy __proto__`])
  assert.deepEqual(await by('theirs'), [400, `${no}there is no policy theirs`])
  assert.deepEqual(await by('draft'), [400, `${no}policy draft is not active`])
  assert.deepEqual(await by('gold'), [400, `${no}there is a subscription to gold already`])
  assert.deepEqual(await by('silver', 'gold'), [400, `${no}there is a subscription to gold already`])
  assert.deepEqual(await by('free'), [400, 'Key requests are not possible for keyless APIs.'])
  assert.deepEqual(await by('silver', 'client'), [400, `${no}some ask for a key, others for an OAuth client`])
  for (const [id, sort] of Object.entries({ basic: 'basic', jwt: 'jwt', hmac: 'hmac', cert: 'mutualTLS' }))
    assert.deepEqual(await by(id), [400, `This type of key is not supported: ${sort}`])
  for (const [name, sort] of Object.entries({ jwt_secret: 'jwt', certificate: 'mutualTLS', hmac_string: 'hmac' }))
    assert.deepEqual(await attempt({ apply_policies: ['silver'], [name]: 'x' }), [
      400,
      `This type of key is not supported: ${sort}`,
    ])
  assert.deepEqual(await attempt({}), [400, `${no}is missing`])
  assert.deepEqual(await attempt({ apply_policies: [] }), [400, `${no}is missing`])
  assert.deepEqual(await attempt({ apply_policies: ['silver'], expires: 1 }), [
    400,
    'Key is not valid: expires: lies in the past',
  ])
  for (const body of [
    { apply_policies: 'silver' },
    { apply_policies: [1] },
    { apply_policies: Array.from({ length: 101 }, (_, i) => `p${i}`) },
    { apply_policies: ['silver'], fields: { a: 1 } },
    { apply_policies: ['silver'], expires: 1.5 },
    { apply_policies: ['silver'], expires: 2_000_000_000, expires_in: 60 },
    { apply_policies: ['silver'], fields: { ['x'.repeat(129)]: 'y' } },
    { policy_id: { $ne: '' } },
    { apply_policies: ['silver'], oauth_info: 'x' },
  ])
    assert.equal((await attempt(body))[0], 400, JSON.stringify(body))
  assert.equal((await attempt('{"apply_policies":'))[0], 403)
  for (const id of ['f'.repeat(24), "' OR 1=1 --", '..', '__proto__'])
    assert.ok((await attempt({ apply_policies: ['silver'] }, encodeURIComponent(id)))[0] === 404, id)
  assert.equal(await standing(world.store), before)
  await assertSound(world.store)
})

test('with ownership on nobody gives a policy of APIs that others own, nor sees such keys', async (t) => {
  const world = await developerWorld(t, { SVC_DB_ENABLEOWNERSHIP: 'true' })
  const owner = await world.user({ portal: 'write' })
  const other = await world.user({ portal: 'write' })
  await world.api('hers', { users: [owner.id] })
  await world.api('anybodys')
  await world.policy('her', ['hers'])
  await world.policy('any', ['anybodys'])
  const ada = await world.developer('ada@example.test')
  const path = `${DEVELOPERS}/${ada}/keys`
  const refused = await world.call('POST', path, { as: other, body: { apply_policies: ['any', 'her'] } })
  assert.deepEqual(refusal(refused), [401, 'Not authorised'])
  const { hash } = await world.add(ada, ['her'], {}, owner)
  const shared = await world.add(ada, ['any'], {}, other)
  const list = async (as: typeof owner) =>
    ((await world.asked(200, 'GET', path, as)).Data as JsonObject[]).map(({ key_id }) => key_id)
  assert.deepEqual(await list(owner), [hash, shared.hash])
  assert.deepEqual(await list(other), [shared.hash])
  for (const [method, suffix, body] of [
    ['GET', '', undefined],
    ['PUT', '', { apply_policies: ['any'] }],
    ['DELETE', '', undefined],
    ['POST', '/rotate', {}],
    ['POST', '/reset_quota', {}],
  ] as const) {
    const answer = await world.call(method, `${path}/${hash}${suffix}`, { as: other, body })
    assert.deepEqual(refusal(answer), [401, 'Not authorised'], `${method} ${suffix}`)
  }
  const given = await world.call('PUT', `${path}/${shared.hash}`, { as: other, body: { apply_policies: ['her'] } })
  assert.deepEqual(refusal(given), [401, 'Not authorised'])
  // The rights that the key has already may stay.
  await world.policy('too', ['anybodys'])
  await world.asked(200, 'PUT', `${path}/${shared.hash}`, world.root, { apply_policies: ['any', 'too'] })
  await world.asked(200, 'PUT', `${path}/${shared.hash}`, other, { apply_policies: ['too'] })
})

test('parallel additions to one developer all land; of two for one policy one does', async (t) => {
  const world = await developerWorld(t)
  await world.keyed('orders')
  const names = Array.from({ length: 12 }, (_, i) => `p${i}`)
  for (const name of names) await world.policy(name, ['orders'])
  const ada = await world.developer('ada@example.test')
  const post = (policy: string) =>
    world.call('POST', `${DEVELOPERS}/${ada}/keys`, { as: world.root, body: { apply_policies: [policy] } })
  const first = await Promise.all(names.slice(0, 10).map(post))
  assert.deepEqual(new Set(first.map(({ status }) => status)), new Set([200]))
  const { keys, subscriptions } = await world.record(ada)
  assert.equal(Object.keys(keys as JsonObject).length, 10)
  assert.equal(Object.keys(subscriptions as JsonObject).length, 10)
  const same = await Promise.all(Array.from({ length: 6 }, () => post('p11')))
  assert.deepEqual(same.map(({ status }) => status).sort(), [200, 400, 400, 400, 400, 400])
  // The record is changed by others meanwhile: nothing of that is lost either.
  const put = () => world.call('PATCH', `${DEVELOPERS}/${ada}`, { as: world.root, body: { inactive: true } })
  const mixed = await Promise.all([post('p10'), put(), put()])
  assert.deepEqual(
    mixed.map(({ status }) => status),
    [200, 200, 200],
  )
  assert.equal((await world.record(ada)).inactive, true)
  await assertSound(world.store)
})

test('two processes that add at once both succeed: the second reads the developer again', async (t) => {
  const world = await developerWorld(t)
  await world.keyed('orders')
  for (const name of ['a', 'b', 'c']) await world.policy(name, ['orders'])
  const ada = await world.developer('ada@example.test')
  const developer = (await developerById(world.parts, ada))!
  // Separate parts share no locks, as threads and processes share none.
  const process = () => ({ ...world.parts, documents: { ...bound(world.parts.documents) } })
  const issued = await Promise.all(
    ['a', 'b', 'c'].map((policy) =>
      issueAccess(process(), { developer, policies: [policy], actor: 'test', action: 'test' }),
    ),
  )
  assert.equal(new Set(issued.map((each) => each.kind === 'key' && each.keyHash)).size, 3)
  assert.deepEqual(Object.keys((await world.record(ada)).subscriptions as JsonObject).sort(), ['a', 'b', 'c'])
  await assertSound(world.store)
})

function bound<T extends object>(documents: T): T {
  return new Proxy(documents, { get: (target, name) => (Reflect.get(target, name) as () => void).bind(target) })
}

test('a key expires as sent or by policy, the earlier, and lists show what is left', async (t) => {
  const world = await developerWorld(t)
  await world.keyed('orders')
  await world.policy('long', ['orders'], { key_expires_in: 1000, quota_max: 5, quota_renewal_rate: 3600 })
  await world.policy('ever', ['orders'])
  await world.policy('short', ['orders'], { key_expires_in: 100 })
  const ada = await world.developer('ada@example.test')
  const now = Math.floor(world.clock.wall() / 1000)
  const keys = [
    await world.add(ada, ['long'], { expires: now + 500 }),
    await world.add(ada, ['ever'], { expires_in: 50 }),
    await world.add(ada, ['short'], { expires_in: 5000 }),
  ]
  for (let i = 0; i < 2; i++) assert.equal(await world.use('/orders/', keys[0]!.key), 200)
  const list = async () => (await world.asked(200, 'GET', `${DEVELOPERS}/${ada}/keys?p=-1`, world.root)) as JsonObject
  const used = new Date(world.clock.wall()).toISOString()
  await eventually('the requests are counted', async () => ((await list()).Data as JsonObject[])[0]!.last_used === used)
  const { Data, Pages } = await list()
  assert.equal(Pages, 0)
  const entries = Data as JsonObject[]
  assert.deepEqual(
    entries.map(({ expires }) => Number(expires) - now),
    [500, 50, 100],
  )
  assert.deepEqual(entries[0], {
    ...{ key_id: keys[0]!.hash, policies: ['long'], alias: 'ada@example.test', status: 'active' },
    fields: { svc_developer_id: ada },
    date_created: new Date(world.clock.wall()).toISOString(),
    expires: now + 500,
    last_used: used,
    ...{ quota_max: 5, quota_remaining: 3, quota_renews: now + 3600 },
    access_rights: entries[0]!.access_rights,
    ...{ rotated_from: '', rotated_to: '', valid_until: '' },
  })
  assert.equal(entries[1]!.last_used, NEVER)
  assert.equal(entries[1]!.quota_max, -1)
  world.clock.advance(51_000)
  assert.equal(await world.use('/orders/', keys[1]!.key), 401)
  assert.deepEqual(
    ((await list()).Data as JsonObject[]).map(({ status }) => status),
    ['active', 'expired', 'active'],
  )
  // A key of an installation that kept no date.
  const [{ key: known, hash }] = keys as [{ key: string; hash: string }]
  const row = (await world.store.tokens.getSession(hashKey(known)))!
  const { date_created: _date, ...undated } = row.body
  await world.store.documents.commit(
    [{ op: 'putSession', hash: row.hash, row: { ...row, body: undated } as SessionRow }],
    undefined,
  )
  assert.equal(((await list()).Data as JsonObject[])[0]!.date_created, NEVER)
  const { facts } = await world.asked(200, 'GET', `/api/keys/${hash}?hashed=1&facts=1`, world.root)
  assert.equal((facts as JsonObject).date_created, NEVER)
  const page = await world.asked(200, 'GET', `${DEVELOPERS}/${ada}/keys?p=2`, world.root)
  assert.deepEqual(page, { Data: [], Pages: 1 })
})

test('with hash_keys off the key or its hash names it; the record holds the hash', async (t) => {
  const world = await developerWorld(t, { SVC_GW_HASHKEYS: 'false' })
  await world.keyed('orders')
  await world.policy('gold', ['orders'])
  await world.policy('silver', ['orders'])
  const ada = await world.developer('ada@example.test')
  const { key, hash } = await world.add(ada, ['gold'])
  assert.equal(hash, hashKey(key).toString('hex'))
  for (const name of [key, hash]) {
    const { key_id } = await world.asked(200, 'GET', `${DEVELOPERS}/${ada}/keys/${name}`, world.root)
    assert.equal(key_id, hash)
  }
  await world.asked(200, 'PUT', `${DEVELOPERS}/${ada}/keys/${key}`, world.root, { apply_policies: ['silver'] })
  const rotated = await world.asked(200, 'POST', `${DEVELOPERS}/${ada}/keys/${key}/rotate`, world.root)
  await world.asked(200, 'DELETE', `${DEVELOPERS}/${ada}/keys/${rotated.RawKey}`, world.root)
  assert.deepEqual((await world.record(ada)).keys, {})
})

test('a raw key is in no list, no record and no audit', async (t) => {
  const world = await developerWorld(t, { SVC_DB_AUDIT_DETAILEDRECORDING: 'true', SVC_DB_AUDIT_READS: 'true' })
  await world.keyed('orders')
  await world.policy('gold', ['orders'])
  const ada = await world.developer('ada@example.test')
  const { key, hash } = await world.add(ada, ['gold'])
  const path = `${DEVELOPERS}/${ada}/keys`
  const rotated = await world.asked(200, 'POST', `${path}/${hash}/rotate`, world.root, { overlap_seconds: 100 })
  const told: string[] = []
  for (const each of [path, `${path}/${hash}`, `${DEVELOPERS}/${ada}`, '/api/audit-logs?p=-1'])
    told.push((await world.call('GET', each, { as: world.root })).text)
  told.push(JSON.stringify((await world.store.audit.list({ limit: 100 })).rows))
  told.push(JSON.stringify(world.log))
  for (const secret of [key, String(rotated.RawKey)])
    for (const text of told) assert.equal(text.includes(secret), false)
})
