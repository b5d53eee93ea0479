import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DOCUMENT_KINDS } from '../../../src/model/documents/kinds.ts'
import { TOMBSTONE } from '../../../src/model/documents/tombstone.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { purgeTombstones } from '../../../src/publish/documents/purge-tombstones.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'
import { definition as oauthDefinition, openUndoWorld, type UndoWorld } from '../../worlds/dashboard/undo-world.ts'

const STORAGE_ID = '65a00000000000000000abcd'
const DAY_MS = 86_400_000
const PROFILE = {
  ...{ ID: 'taken', Name: 'Directory', ActionType: 'GenerateOrLoginUserProfile', ProviderName: 'ADProvider' },
  ProviderConfig: { LDAPServer: 'ldap.test', LDAPUserDN: 'uid=*USERNAME*,dc=test' },
}
const definition = (id: string, path = `/${id}/`) => defined({ id, path, url: 'http://127.0.0.1:1' })

/** How an object of a kind is made with ids of the caller's choice, and where it is deleted. */
interface Chosen {
  readonly path: string | ((which: string) => string)
  /** An API that each of the two organisations needs before. */
  readonly api?: (which: string) => JsonObject
  /** `which` makes other members than the ids differ. */
  readonly body: (which: string) => JsonObject
  readonly remove: string
}

const withDbId = (which: string): JsonObject => {
  const document = definition(`own-${which}`)
  const extension = document['x-svc-api-gateway'] as { info: JsonObject }
  return { ...document, 'x-svc-api-gateway': { ...extension, info: { ...extension.info, dbId: STORAGE_ID } } }
}

const CHOSEN: Readonly<Record<string, readonly Chosen[]>> = {
  api: [
    { path: '/api/apis/oas', body: (which) => definition('taken', `/${which}/`), remove: '/api/apis/oas/taken' },
    { path: '/api/apis/oas', body: withDbId, remove: `/api/apis/oas/${STORAGE_ID}` },
  ],
  policy: [
    {
      path: '/api/portal/policies',
      body: (which) => ({ _id: STORAGE_ID, id: which, name: which, rate: 1, per: 1, quota_max: -1, access_rights: {} }),
      remove: `/api/portal/policies/${STORAGE_ID}`,
    },
  ],
  asset: [
    {
      path: '/api/assets',
      body: (which) => ({ _id: STORAGE_ID, id: which, kind: 'oas-template', name: which, data: {} }),
      remove: `/api/assets/${STORAGE_ID}`,
    },
  ],
  idp_profile: [{ path: '/api/tib/profiles', body: () => PROFILE, remove: '/api/tib/profiles/taken' }],
  oauth_client: [
    {
      path: (which) => `/api/apis/oauth/${which}`,
      api: (which) => ({ api_definition: oauthDefinition(which, '') }),
      body: () => ({ client_id: 'taken', redirect_uri: 'https://app.test/cb' }),
      remove: '/api/apis/oauth/first/taken',
    },
  ],
  hook: [
    {
      path: '/api/hooks',
      body: (which) => ({ id: STORAGE_ID, name: which, method: 'POST', target_path: 'https://h.test/' }),
      remove: `/api/hooks/${STORAGE_ID}`,
    },
  ],
}

/** The document of a kind that an organisation has. */
async function storedOf({ store }: UndoWorld, kind: string, orgId: string) {
  const member = kind === 'idp_profile' ? 'OrgID' : 'org_id'
  for await (const batch of store.documents.scan(kind))
    for (const document of batch) if (document.body[member] === orgId) return document
  return undefined
}

/** Text of an answer without what differs in any two. */
const plain = ({ text }: { text: string }) => text.replaceAll(/first|second/g, '_')

/** True for an index under which objects of two organisations have one value. */
function isSameInAll(read: (body: JsonObject) => string | readonly string[] | undefined): boolean {
  const special: JsonObject = { api_ids: ['same'], is_homepage: true, access_before: { hmac: 'same' } }
  const of = (orgId: string) =>
    read(
      new Proxy(special, {
        get: (_, name) => (/^org_?id$/i.test(String(name)) ? orgId : (special[String(name)] ?? 'same')),
      }),
    )
  const [one, two] = [of('one'), of('two')]
  return one !== undefined && JSON.stringify(one) === JSON.stringify(two)
}

/** Values that are the same in all organisations and that nobody chooses freely, with the reason. */
const NOT_CHOSEN: Readonly<Record<string, string>> = {
  'certificate.cert_id': 'begins with the organisation',
  'key_request.waiting': 'the developer, who is of one organisation',
  'user.access_hmac': 'a hash of a secret that is made',
  'user.access_hmac_before': 'a hash of a secret that is made',
  'user.sso_identity': 'a person at a provider, bound by signing in',
}

test('every kind whose ids are those of the installation is tried', () => {
  const shared = Object.entries(DOCUMENT_KINDS).filter(([, { sharedIds }]) => sharedIds !== undefined)
  assert.deepEqual(Object.keys(CHOSEN).toSorted(), shared.map(([kind]) => kind).toSorted())
  const unnoticed = Object.entries(DOCUMENT_KINDS).flatMap(([kind, { unique, sharedIds }]) =>
    Object.entries(unique)
      .filter(([index, read]) => index !== sharedIds?.index && isSameInAll(read))
      .map(([index]) => `${kind}.${index}`),
  )
  assert.deepEqual(unnoticed.toSorted(), Object.keys(NOT_CHOSEN).toSorted())
})

for (const [kind, ways] of Object.entries(CHOSEN))
  describe(kind, () => {
    for (const [number, { path, api, body, remove }] of ways.entries())
      test(`${kind} ${number}: a deleted id stays with its organisation, and looks used`, async (t) => {
        const w = await openUndoWorld(t)
        const orgId = await w.organisation()
        const other = await w.user({ IsAdmin: 'admin' }, { orgId })
        const pathOf = (which: string) => (typeof path === 'string' ? path : path(which))
        for (const [as, which] of [
          [w.admin, 'first'],
          [other, 'second'],
        ] as const)
          if (api !== undefined) {
            const made = await w.call('POST', '/api/apis', { as, body: api(which) })
            assert.equal(made.status, 200, made.text)
          }
        const make = async () => {
          const answer = await w.call('POST', pathOf('first'), { as: w.admin, body: body('first') })
          assert.ok(answer.status < 300, answer.text)
        }
        await make()
        const { id } = (await storedOf(w, kind, w.orgId))!
        const take = () => w.call('POST', pathOf('second'), { as: other, body: body('second') })
        const there = await take()
        const given = await storedOf(w, kind, orgId)
        assert.notEqual(given?.id, id)
        if (given !== undefined) await w.store.documents.commit([{ op: 'delete', kind, id: given.id }], undefined)
        const removed = await w.call('DELETE', remove, { as: w.admin })
        assert.equal(removed.status, 200, removed.text)
        const gone = await take()
        assert.equal(gone.status, there.status, gone.text)
        if (there.status >= 300) assert.equal(plain(gone), plain(there))
        assert.notEqual((await storedOf(w, kind, orgId))?.id, id)
        const undone = await w.undo()
        assert.equal(undone.status, 200, undone.text)
        assert.equal((await storedOf(w, kind, w.orgId))?.id, id)
        // Its own organisation takes it again.
        await w.sent('DELETE', remove)
        await make()
      })
  })

test('a move refuses a client that another organisation deleted like one that it has', async (t) => {
  const w = await openUndoWorld(t)
  const other = await w.user({ IsAdmin: 'admin' }, { orgId: await w.organisation() })
  for (const [as, which] of [
    [w.admin, 'first'],
    [other, 'second'],
  ] as const) {
    const made = await w.call('POST', '/api/apis', { as, body: { api_definition: oauthDefinition(which, '') } })
    assert.equal(made.status, 200, made.text)
  }
  await w.sent('POST', '/api/apis/oauth/first', { client_id: 'app', redirect_uri: 'https://app.test/cb' })
  const move = async () => {
    const body = { client_id: 'app', secret: 'a-secret-of-the-app', api_ids: ['second'] }
    const moved = await w.call('POST', '/api/moves/clients', { as: other, body })
    const looked = await w.call('POST', '/api/moves/check', { as: other, body: { client_ids: ['app'] } })
    return [moved.status, moved.text, looked.status, looked.text]
  }
  const live = await move()
  assert.equal(live[0], 409)
  await w.sent('DELETE', '/api/apis/oauth/first/app')
  assert.deepEqual([await move(), await move()], [live, live])
})

test('the organisation that deleted an object releases its id, and no other does', async (t) => {
  const w = await openUndoWorld(t)
  const [here, there] = ['/first/', '/second/'].map((path) => definition('moved', path))
  const other = await w.user({ IsAdmin: 'admin' }, { orgId: await w.organisation() })
  const plainUser = await w.user({ IsAdmin: 'false', apis: 'write' })
  const take = async () => (await w.call('POST', '/api/apis/oas', { as: other, body: there! })).status
  const release = async (as: TestUser, path = '/api/deleted-ids/api/moved') =>
    (await w.call('DELETE', path, { as })).status
  await w.sent('POST', '/api/apis/oas', here!)
  assert.equal(await release(w.admin), 404, 'it is not deleted')
  await w.sent('DELETE', '/api/apis/oas/moved')
  assert.equal(await take(), 409)
  assert.equal(await release(other), 404, 'another organisation')
  assert.equal(await release(other, '/api/deleted-ids/api/unknown'), 404)
  assert.equal(await release(w.admin, '/api/deleted-ids/constructor/moved'), 404)
  assert.equal(await release(plainUser), 403)
  assert.equal(await take(), 409)
  assert.equal(await release(w.admin), 200)
  assert.equal((await w.last()).action, 'deleted_id.release')
  assert.equal(await release(w.admin), 404)
  assert.equal(await take(), 200)
})

test('operators release the id of whichever organisation deleted it', async (t) => {
  const w = await openUndoWorld(t)
  const other = await w.user({ IsAdmin: 'admin' }, { orgId: await w.organisation() })
  await w.sent('POST', '/api/hooks', { ...HOOK, id: STORAGE_ID })
  await w.sent('DELETE', `/api/hooks/${STORAGE_ID}`)
  const take = async () => (await w.call('POST', '/api/hooks', { as: other, body: { ...HOOK, id: STORAGE_ID } })).status
  assert.equal(await take(), 409)
  const released = await w.call('DELETE', `/admin/deleted-ids/hook/${STORAGE_ID}`, { as: 'installation' })
  assert.equal(released.status, 200, released.text)
  assert.equal(await take(), 200)
})

const HOOK = { name: 'h', method: 'POST', target_path: 'https://h.test/' }
const idOf = (number: number) => number.toString(16).padStart(24, '0')

test('an id can be taken by others once its deletion cannot be undone any more', async (t) => {
  const w = await openUndoWorld(t)
  const other = await w.user({ IsAdmin: 'admin' }, { orgId: await w.organisation() })
  await w.sent('POST', '/api/hooks', { ...HOOK, id: STORAGE_ID })
  await w.sent('DELETE', `/api/hooks/${STORAGE_ID}`)
  const take = async () => (await w.call('POST', '/api/hooks', { as: other, body: { ...HOOK, id: STORAGE_ID } })).status
  const purge = (auditDays: number, now: number) => purgeTombstones(w.store, { now, auditDays, recordDays: 0 })
  const now = w.clock.wall()
  for (const [days, at] of [
    [30, now + 29 * DAY_MS],
    [0, now + 99_999 * DAY_MS],
  ] as const) {
    assert.equal(await purge(days, at), 0)
    assert.equal(await take(), 409)
  }
  assert.equal(await purge(30, now + 31 * DAY_MS), 1)
  assert.equal(await take(), 200)
})

test('notes of deletions are bounded, and who deletes in a loop pushes out its own', async (t) => {
  const w = await openUndoWorld(t)
  const other = await w.user({ IsAdmin: 'admin' })
  const cycle = async (as: TestUser, number: number) => {
    const body = { ...HOOK, id: idOf(number) }
    assert.equal((await w.call('POST', '/api/hooks', { as, body })).status, 200)
    assert.equal((await w.call('DELETE', `/api/hooks/${idOf(number)}`, { as })).status, 200)
  }
  for (const number of [1, 2, 3]) await cycle(other, number)
  for (let number = 10; number < 40; number++) {
    w.clock.advance(1)
    await cycle(w.admin, number)
  }
  const purged = await purgeTombstones(w.store, { now: w.clock.wall(), auditDays: 0, recordDays: 0, most: 10 })
  assert.equal(purged, 23)
  const { rows } = await w.store.documents.list(TOMBSTONE, { limit: 50 })
  const left = rows.map(({ body }) => Number.parseInt(String(body.named), 16)).toSorted((one, two) => one - two)
  assert.deepEqual(left, [1, 2, 3, 33, 34, 35, 36, 37, 38, 39])
})

test('owners of what is deleted are known for as long as something is based on it', async (t) => {
  const w = await openUndoWorld(t, { env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  const owner = await w.user({ IsAdmin: 'false', apis: 'write', policies: 'write', keys: 'write' })
  const send = async (method: string, path: string, body?: JsonObject) => {
    const answer = await w.call(method, path, { as: owner, body })
    assert.equal(answer.status, 200, answer.text)
    return answer.json as JsonObject
  }
  await send('POST', '/api/apis/oas', defined({ id: 'sold', url: 'http://127.0.0.1:1', keyIn: 'Authorization' }))
  await send('POST', '/api/portal/policies', {
    id: 'gold',
    name: 'gold',
    rate: 1,
    per: 1,
    access_rights: rights('sold'),
  })
  const key = await send('POST', '/api/keys', { apply_policies: ['gold'] })
  await send('DELETE', '/api/portal/policies/gold')
  await send('DELETE', '/api/apis/oas/sold')
  const path = `/api/keys/${key.key_hash}?hashed=1`
  const stranger = await w.user({ IsAdmin: 'false', keys: 'write' })
  const seen = async () => (await w.call('GET', path, { as: stranger })).status
  const late = { now: w.clock.wall() + 400 * DAY_MS, auditDays: 365, recordDays: 0 }
  assert.equal(await seen(), 401)
  await purgeTombstones(w.store, late)
  assert.equal(await seen(), 401)
  await send('DELETE', path)
  await purgeTombstones(w.store, late)
  assert.deepEqual((await w.store.documents.list(TOMBSTONE, { limit: 5 })).rows, [])
})

test('the id of a deleted organisation is refused unless that is asked for', async (t) => {
  const w = await openUndoWorld(t)
  const orgId = await w.organisation()
  const admin = (method: string, path: string, body?: JsonObject) => w.call(method, path, { as: 'installation', body })
  assert.equal((await admin('DELETE', `/admin/organisations/${orgId}`)).status, 200)
  const path = '/admin/organisations/import'
  const body = { id: orgId, owner_name: 'Next' }
  const refused = await admin('POST', path, body)
  assert.equal(refused.status, 403)
  assert.match(refused.text, /deleted organisation.*reuse_deleted_id=true/)
  assert.equal((await admin('POST', `${path}?reuse_deleted_id=true`, body)).status, 200)
})
