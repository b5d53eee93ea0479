import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'
import { type KeyWorld, keyWorld, POLICIES, refusal, rightsOn } from '../../worlds/dashboard/key-world.ts'
import { setApiOwners } from '../../worlds/dashboard/set-owners.ts'

interface Names {
  readonly data: { readonly keys: readonly string[] }
  readonly pages: number
}

async function names({ asked }: KeyWorld, as: TestUser, path: string): Promise<readonly [readonly string[], number]> {
  const { data, pages } = (await asked(200, 'GET', path, as)) as unknown as Names
  return [data.keys, pages]
}

test('an empty list has one page', async (t) => {
  const world = await keyWorld(t)
  const answer = await world.call('GET', '/api/apis/keys', { as: world.root })
  assert.equal(answer.text, '{"data":{"keys":[]},"pages":1}')
  assert.equal(
    (await world.call('GET', '/api/apis/keys?p=-1', { as: world.root })).text,
    '{"data":{"keys":[]},"pages":0}',
  )
})

test('the list of an API holds the keys with access to it and no others, each once', async (t) => {
  const world = await keyWorld(t, { env: { SVC_DB_PAGESIZE: '2' } })
  const { root, api, policy, key } = world
  await api('a')
  await api('b')
  await policy('on-a', ['a'])
  await policy('on-b', ['b'])
  await policy('on-both', ['a', 'b'])
  const own = await key({ access_rights: rightsOn('a') })
  const byPolicy = await key({ apply_policies: ['on-a'] })
  const elsewhere = await key({ apply_policies: ['on-b'] })
  const both = await key({ apply_policies: ['on-both'], access_rights: rightsOn('a', 'b') })
  const listed = [own.hash, byPolicy.hash, both.hash]
  assert.deepEqual(await names(world, root, '/api/apis/a/keys?p=-1'), [listed, 0])
  assert.deepEqual(await names(world, root, '/api/apis/a/keys'), [listed.slice(0, 2), 2])
  assert.deepEqual(await names(world, root, '/api/apis/a/keys?p=2'), [listed.slice(2), 2])
  assert.deepEqual(await names(world, root, '/api/apis/a/keys?p=3'), [[], 2])
  assert.deepEqual(await names(world, root, '/api/apis/b/keys?p=-1'), [[elsewhere.hash, both.hash], 0])
  const stored = await world.store.documents.find('api', 'api_id', 'a')
  assert.deepEqual(await names(world, root, `/api/apis/${stored!.id}/keys?p=0`), [listed, 0])
  const all = [own.hash, byPolicy.hash, elsewhere.hash, both.hash]
  const more = await key({ apply_policies: ['on-a'] })
  assert.deepEqual(await names(world, root, '/api/apis/a/keys?p=2'), [[both.hash, more.hash], 2])
  assert.deepEqual(await names(world, root, '/api/apis/keys?p=3'), [[more.hash], 3])
  await world.asked(200, 'DELETE', `/api/keys/${more.key}`, root)
  assert.deepEqual(await names(world, root, '/api/apis/keys?p=3'), [[], 2])
  for (const path of ['/api/apis/keys', '/api/apis/-/keys']) {
    assert.deepEqual(await names(world, root, `${path}?p=-1`), [all, 0])
    assert.deepEqual(await names(world, root, `${path}?p=2`), [all.slice(2), 2])
  }
  assert.deepEqual(refusal(await world.call('GET', '/api/apis/nothing/keys', { as: root })), [404, 'API not found'])
})

test('a search finds a part of the alias, the beginning of the hash, or the whole key', async (t) => {
  const world = await keyWorld(t)
  const { root, api, policy, key, asked } = world
  await api('a')
  await policy('on-a', ['a'])
  await policy('on-b', ['b'])
  const ada = await key({ apply_policies: ['on-a'], alias: 'Ada Lovelace' })
  const grace = await key({ apply_policies: ['on-b'], alias: 'Grace Hopper, of LOVE' })
  const q = (path: string, text: string) => names(world, root, `${path}?q=${encodeURIComponent(text)}`)
  assert.deepEqual(await q('/api/apis/a/keys/search', 'LOVE'), [[ada.hash], 1])
  assert.deepEqual(await q('/api/apis/-/keys/search', 'love'), [[ada.hash, grace.hash], 1])
  assert.deepEqual(await q('/api/apis/-/keys/search', grace.hash), [[grace.hash], 1])
  for (const length of [4, 11, 63])
    assert.deepEqual(await q('/api/apis/-/keys/search', grace.hash.slice(0, length).toUpperCase()), [[grace.hash], 1])
  assert.deepEqual(await q('/api/apis/a/keys/search', grace.hash.slice(0, 9)), [[], 1], 'of another API')
  assert.deepEqual(await q('/api/apis/-/keys/search', ada.key), [[ada.hash], 1])
  assert.deepEqual(await q('/api/apis/a/keys/search', grace.key), [[], 1])
  assert.deepEqual(await q('/api/apis/a/keys/search', '%_*('), [[], 1])
  const detailed = (await asked(200, 'GET', '/api/keys/detailed/?q=hopper', root)) as unknown as { keys: JsonObject[] }
  assert.deepEqual([detailed.keys.length, detailed.keys[0]?.key_hash, detailed.keys[0]?.key_id], [1, grace.hash, ''])
  const sized = async (path: string) => {
    const { pages, total } = await asked(200, 'GET', path, root)
    return [pages, total]
  }
  assert.deepEqual(await sized('/api/keys/detailed?page_size=1&p=2'), [2, 2])
  assert.deepEqual(await sized('/api/keys/detailed?page_size=25&q=hopper'), [1, 1])
  assert.deepEqual(await sized('/api/keys/detailed'), [1, undefined])
  const { Pages, total, Data } = await asked(200, 'GET', '/api/portal/policies/search?page_size=1&p=2&sort=name', root)
  assert.deepEqual([Pages, total, (Data as JsonObject[]).map(({ id }) => id)], [2, 2, ['on-b']])
  assert.equal((await world.call('GET', `/api/keys/detailed?q=${'x'.repeat(1025)}`, { as: root })).status, 400)
})

test('tokens of OAuth clients are no keys', async (t) => {
  const world = await keyWorld(t)
  await world.store.documents.commit(
    [
      {
        op: 'putSession',
        hash: Buffer.alloc(32, 1),
        row: { body: {}, orgId: world.orgId, apiIds: [], policyIds: [], clientId: 'app', evictAt: 0 },
      },
    ],
    undefined,
  )
  assert.deepEqual(await names(world, world.root, '/api/apis/keys'), [[], 1])
})

test('with ownership, policies and keys follow their APIs', async (t) => {
  const world = await keyWorld(t, { env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  const { api, policy, key, user, call, asked, root } = world
  const group = await world.group({ keys: 'write', policies: 'write' })
  const owner = await user({ keys: 'write', policies: 'write' })
  const member = await user({}, { groupId: group })
  const other = await user({ keys: 'write', policies: 'write' })
  await api('mine', { users: [owner.id], groups: [group] })
  await api('theirs', { users: [other.id] })
  await api('open')
  await policy('mine', ['mine'])
  await policy('mixed', ['mine', 'theirs'])
  await policy('theirs', ['theirs'])
  await policy('open', ['open'])
  await policy('orphan', ['deleted'])
  const keys = {
    mine: await key({ apply_policies: ['mine'] }),
    mixed: await key({ apply_policies: ['mixed'] }),
    theirs: await key({ access_rights: rightsOn('theirs') }),
    open: await key({ access_rights: rightsOn('open') }),
  }
  const seenBy = async (as: TestUser) => {
    const { Data } = (await asked(200, 'GET', `${POLICIES}?p=-1`, as)) as unknown as { Data: JsonObject[] }
    const [hashes] = await names(world, as, '/api/apis/keys?p=-1')
    const [paged] = await names(world, as, '/api/apis/-/keys')
    assert.deepEqual(paged, hashes)
    const known = Object.entries(keys).filter(([, { hash }]) => hashes.includes(hash))
    return [Data.map(({ id }) => id), known.map(([name]) => name)]
  }
  const everything = [
    ['mine', 'mixed', 'theirs', 'open', 'orphan'],
    ['mine', 'mixed', 'theirs', 'open'],
  ]
  assert.deepEqual(await seenBy(root), everything)
  for (const as of [owner, member])
    assert.deepEqual(await seenBy(as), [
      ['mine', 'mixed', 'open', 'orphan'],
      ['mine', 'mixed', 'open'],
    ])
  assert.deepEqual(await seenBy(other), [
    ['mixed', 'theirs', 'open', 'orphan'],
    ['mixed', 'theirs', 'open'],
  ])
  for (const [method, path] of [
    ['GET', `${POLICIES}/theirs`],
    ['PUT', `${POLICIES}/theirs`],
    ['DELETE', `${POLICIES}/theirs`],
    ['GET', `/api/keys/${keys.theirs.key}`],
    ['GET', `/api/apis/-/keys/${keys.theirs.hash}?hashed=1`],
    ['PUT', `/api/keys/${keys.theirs.key}`],
    ['DELETE', `/api/keys/${keys.theirs.key}`],
    ['GET', '/api/apis/theirs/keys'],
    ['GET', '/api/apis/theirs/keys/search?q=x'],
  ] as const) {
    const answer = await call(method, path, { as: owner, ...(method === 'PUT' && { body: { name: 'x' } }) })
    assert.deepEqual(refusal(answer), [401, 'Not authorised'], `${method} ${path}`)
  }
  // No policy takes the storage id of another one for its id.
  const { _id } = await asked(200, 'GET', `${POLICIES}/mine`, owner)
  const taken = { id: String(_id), name: 'taken', access_rights: rightsOn('theirs') }
  await asked(409, 'POST', POLICIES, root, taken)
  await asked(200, 'GET', `${POLICIES}/${_id}`, owner)
  // The search for a key by itself shows no more than the list.
  assert.deepEqual(await names(world, owner, `/api/apis/-/keys/search?q=${keys.theirs.key}`), [[], 1])
  await asked(200, 'GET', `/api/keys/${keys.mixed.key}`, owner)
  // Changes are seen at once.
  await setApiOwners(world.parts, 'theirs', [owner.id])
  assert.deepEqual(await seenBy(owner), everything)
  await setApiOwners(world.parts, 'mine', [other.id])
  assert.deepEqual((await seenBy(owner))[0], ['mixed', 'theirs', 'open', 'orphan'])
  await asked(200, 'DELETE', `${POLICIES}/orphan`, owner)
  assert.deepEqual((await seenBy(owner))[0], ['mixed', 'theirs', 'open'])
})

test('with ownership, nobody gives rights on what others own', async (t) => {
  const world = await keyWorld(t, { env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  const { api, policy, key, user, asked, admin, organisation } = world
  const owner = await user({ keys: 'write', policies: 'write' })
  const other = await user({})
  const foreign = await admin(await organisation())
  await api('mine', { users: [owner.id] })
  await api('theirs', { users: [other.id] })
  await api('far', { orgId: foreign.orgId, users: [foreign.id] })
  await policy('mixed', ['mine', 'theirs'])
  await policy('theirs', ['theirs'])
  await policy('mine', ['mine'], {}, owner)
  for (const access_rights of [rightsOn('theirs'), rightsOn('mine', 'theirs')]) {
    await asked(401, 'POST', POLICIES, owner, { name: 'new', access_rights })
    await asked(401, 'PUT', `${POLICIES}/mine`, owner, { name: 'Policy mine', access_rights })
    await asked(401, 'PATCH', `${POLICIES}/mine`, owner, { access_rights })
    await asked(401, 'POST', '/api/keys', owner, { access_rights })
    await asked(401, 'POST', '/api/keys/preview', owner, { access_rights })
    await asked(401, 'POST', '/api/apis/keys/basic/x', owner, { access_rights, basic_auth_data: { password: 'x' } })
  }
  const access_rights_array = [{ api_id: 'theirs', api_name: '', versions: [] }]
  await asked(401, 'POST', POLICIES, owner, { name: 'new', access_rights_array })
  await asked(401, 'POST', '/api/keys', owner, { apply_policies: ['theirs'] })
  // An API of another organisation is one that is not there: nobody from whom something is hidden names it before it is.
  await asked(401, 'POST', POLICIES, owner, { name: 'far', access_rights: rightsOn('far') })
  await asked(401, 'POST', POLICIES, owner, { name: 'nothing', access_rights: rightsOn('not-there') })
  await asked(200, 'POST', POLICIES, world.root, { name: 'nothing', access_rights: rightsOn('not-there') })
  // Access to a policy is access to no other API of it: those rights stay as they are, and all that holds for them.
  const mixed = await asked(200, 'GET', `${POLICIES}/mixed`, owner)
  const rights = mixed.access_rights as Record<string, JsonObject>
  const own = { ...rights, mine: { ...rights.mine, allowed_urls: [{ url: '/y', methods: ['GET'] }] } }
  await asked(200, 'PUT', `${POLICIES}/mixed`, owner, mixed)
  await asked(200, 'PUT', `${POLICIES}/mixed`, owner, { ...mixed, access_rights: own })
  await asked(200, 'PATCH', `${POLICIES}/mixed`, owner, { access_rights: rights })
  for (const more of [
    { rate: 9 },
    { tags: ['x'] },
    { state: 'deny' },
    { key_expires_in: 1 },
    { partitions: { acl: true } },
  ]) {
    const refused = await asked(403, 'PUT', `${POLICIES}/mixed`, owner, { ...mixed, ...more })
    assert.match(String(refused.Message), /1 API that others own/)
    assert.ok(!String(refused.Message).includes('theirs'))
    await asked(403, 'PATCH', `${POLICIES}/mixed`, owner, more)
  }
  await asked(403, 'DELETE', `${POLICIES}/mixed`, owner)
  const wider = { ...rights, theirs: { ...rights.theirs, allowed_urls: [{ url: '/x', methods: ['GET'] }] } }
  await asked(401, 'PUT', `${POLICIES}/mixed`, owner, { ...mixed, access_rights: wider })
  await asked(401, 'PATCH', `${POLICIES}/mixed`, owner, { access_rights: { theirs: null } })
  // A key is sent back as it was read; rights that its policies gave do not become its own.
  const made = await key({ apply_policies: ['mixed'], alias: 'before' })
  const { data } = await asked(200, 'GET', `/api/keys/${made.key}`, owner)
  await asked(200, 'PUT', `/api/keys/${made.key}`, owner, data as JsonObject)
  const row = await world.store.tokens.getSession(Buffer.from(made.hash, 'hex'))
  assert.deepEqual([row!.body.access_rights, row!.body.alias], [undefined, 'before'])
  await asked(401, 'PUT', `/api/keys/${made.key}`, owner, { ...(data as JsonObject), apply_policies: ['theirs'] })
  for (const more of [
    { rate: 9, per: 1 },
    { tags: ['x'] },
    { alias: 'after' },
    { is_inactive: true },
    { expires: 9 },
    { apply_policies: ['mine'] },
  ])
    await asked(403, 'PUT', `/api/keys/${made.key}`, owner, { ...(data as JsonObject), ...more })
  for (const [method, path] of [
    ['DELETE', ''],
    ['POST', '/rotate'],
    ['POST', '/reset_quota'],
  ] as const)
    await asked(403, method, `/api/keys/${made.key}${path}`, owner, {})
  await asked(403, 'POST', `/api/keys/${made.key}`, owner, { apply_policies: ['mine'] })
  await asked(401, 'POST', '/api/keys', owner, { apply_policies: ['mixed'] })
  const now = await world.store.tokens.getSession(Buffer.from(made.hash, 'hex'))
  assert.deepEqual(now!.body, row!.body)
})

test('tags and metadata of hidden policies do not show on their keys', async (t) => {
  const world = await keyWorld(t, { env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  const { api, policy, key, user, asked, root } = world
  const owner = await user({ keys: 'write', policies: 'write' })
  const other = await user({})
  await api('mine', { users: [owner.id] })
  await api('theirs', { users: [other.id] })
  const labels = (name: string) => ({ tags: [`${name}-tag`], meta_data: { [name]: `${name}-value` } })
  await policy('mine', ['mine'], labels('mine'))
  await policy('theirs', ['theirs'], labels('theirs'))
  const all = { tags: ['mine-tag', 'theirs-tag'], meta_data: { mine: 'mine-value', theirs: 'theirs-value', own: 1 } }
  const seen = { tags: ['mine-tag'], meta_data: { mine: 'mine-value', own: 1 } }
  const made = await key({ apply_policies: ['mine', 'theirs'], meta_data: { own: 1 } })
  const labelsIn = ({ tags, meta_data }: JsonObject) => ({ tags, meta_data })
  const path = `/api/keys/${made.key}`
  const read = async (as: typeof owner) => (await asked(200, 'GET', path, as)).data as JsonObject
  assert.deepEqual(labelsIn(await read(root)), all)
  const stored = async () => (await world.store.tokens.getSession(Buffer.from(made.hash, 'hex')))!.body
  const before = await stored()
  for (let round = 0; round < 2; round++) {
    const shown = await read(owner)
    assert.deepEqual(labelsIn(shown), seen)
    const { keys } = await asked(200, 'GET', '/api/keys/detailed?p=-1', owner)
    assert.deepEqual(labelsIn((keys as { data: JsonObject }[])[0]!.data), seen)
    // Sent back as it was read, it changes nothing.
    const answer = await asked(200, 'PUT', path, owner, shown)
    assert.deepEqual(labelsIn(answer.data as JsonObject), seen)
    const { last_updated: _then, ...kept } = await stored()
    const { last_updated: _before, ...had } = before
    assert.deepEqual(kept, had)
  }
  assert.deepEqual(labelsIn(await read(root)), all)
})

test('lists count all rows where one page of a given size is requested, and only there', async (t) => {
  const world = await keyWorld(t)
  const { root, api, policy, key, asked } = world
  await api('a')
  await policy('on-a', ['a'])
  const { hash } = await key({ apply_policies: ['on-a'] })
  const lists = ['/api/apis?', '/api/portal/policies?', '/api/portal/policies/search?', '/api/apis/oauth/a?']
  for (const list of [...lists, '/api/keys/detailed?', `/api/keys/detailed?q=${hash}&`])
    for (const size of ['', '&page_size=5'])
      for (const p of ['', '&p=1', '&p=0', '&p=-1']) {
        const answer = await asked(200, 'GET', `${list}${size}${p}`, root)
        assert.equal('total' in answer, size !== '' && !/=(0|-1)/.test(p), `${list}${size}${p}`)
      }
})
