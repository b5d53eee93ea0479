import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { policyApisOf } from '../../../src/model/policies/policy-body.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { createKey } from '../../../src/publish/keys/keys.ts'
import { EXPECTED, type Thing } from '../../worlds/access-matrix/expectations.ts'
import { callOf } from '../../worlds/access-matrix/matrix-rows.ts'
import { SECRET, startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import { rights } from '../../worlds/base/definitions.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'

/** The things that are based on several APIs. */
const SHARED: ReadonlySet<Thing> = new Set([
  ...(['policy', 'key', 'held_key', 'client', 'app', 'request', 'documentation'] as const),
])

/** In what is shared, and in nothing that the part owner has alone. */
const secretOf = ({ owned }: World) => `${SECRET}-${owned.api}`

/** Makes what others own shared: it is also for an API that everybody owns. */
async function share(world: World): Promise<void> {
  const { open, owned, store } = world
  const { documents } = store
  const policy = (await documents.list('policy', { where: { id: owned.policy }, limit: 1 })).rows[0]!
  const both = { ...rights(owned.api), ...rights(open.api) }
  const row = (await store.tokens.getSession(hashKey(owned.key)))!
  const secret = secretOf(world)
  const meta_data = { api_token: secret }
  const client = (await documents.find('oauth_client', 'client_id', owned.client))!
  const held = (await store.tokens.getSession(Buffer.from(owned.held_key, 'hex')))!
  const request = (await documents.get('key_request', owned.request as typeof policy.id))!
  const documentation = (await documents.get('portal_documentation', owned.documentation as typeof policy.id))!
  await documents.commit(
    [
      { op: 'put', kind: 'policy', id: policy.id, body: { ...policy.body, access_rights: both } },
      { op: 'put', kind: 'key_request', id: request.id, body: { ...request.body, fields: { api_token: secret } } },
      {
        op: 'put',
        kind: documentation.kind,
        id: documentation.id,
        body: { ...documentation.body, api_id: owned.policy },
      },
      { op: 'put', kind: client.kind, id: client.id, body: { ...client.body, api_ids: [owned.api, open.api] } },
      {
        op: 'putSession',
        hash: row.hash,
        row: { ...row, apiIds: [owned.api, open.api], body: { ...row.body, access_rights: both } },
      },
      { op: 'putSession', hash: held.hash, row: { ...held, body: { ...held.body, meta_data } } },
    ],
    undefined,
  )
  const stored = (await documents.list('policy', { where: { id: owned.policy }, limit: 1 })).rows[0]!
  assert.deepEqual(policyApisOf(stored.body).sort(), [open.api, owned.api].sort())
}

test('an owner of some APIs of a shared object reads it without secrets and cannot change it', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const { open, owned } = world
  await share(world)
  const secret = secretOf(world)
  // An approved request whose key can still be had once: approving it again shows the key.
  const admin = await world.admin()
  await world.call('PUT', '/api/portal/configuration', { as: admin, body: { require_key_approval: false } })
  const other = await world.call('POST', '/api/portal/developers', {
    as: admin,
    body: { email: 'shared@example.test' },
  })
  const asked = { by_user: (other.json as JsonObject).Message!, for_plan: owned.policy }
  const oauth = { ...asked, oauth_info: { redirect_uri: 'https://app.test/cb' } }
  const made = await world.call('POST', '/api/portal/requests', { as: admin, body: oauth })
  assert.equal(made.status, 200, made.text)
  const approved = String((made.json as JsonObject).Message)
  const as = (await world.actor('non-owner', { who: 'keys', names: [] })) as TestUser
  const wrong: string[] = []
  let [reads, writes] = [0, 0]
  const again = await world.call('PUT', `/api/portal/requests/approve/${approved}`, { as, body: {} })
  if (again.status !== 403) wrong.push(`gives the key of a request once more: ${again.status} ${again.text}`)
  const before = await world.fingerprint()
  for (const route of world.dashboard.routes) {
    const expected = EXPECTED.get(callOf(route))!
    const thing = expected.owned === undefined ? undefined : expected.names[expected.owned]
    if (thing === undefined || !SHARED.has(thing)) continue
    for (const request of thing === 'request' ? [owned.request, approved] : [owned.request]) {
      const names = { ...owned, request, api: open.api, oas: open.oas }
      let at = 0
      const path = route.path.replace(/\{[^}]*\}/g, () => encodeURIComponent(names[expected.names[at++] ?? 'none']))
      const isRead = (route.method === 'GET' && expected.writes !== true) || expected.reads === true
      const body = route.method === 'GET' ? undefined : (expected.body ?? {})
      const { status, text } = await world.call(route.method, path, { as, body })
      const said = `${callOf(route)} of ${thing}: ${status} ${text.slice(0, 200)}`
      if (text.includes(secret)) wrong.push(`tells a secret: ${said}`)
      // A thing that a part owner does not see at all would prove nothing.
      if (isRead && status === 401) wrong.push(`is hidden: ${said}`)
      if (isRead) reads++
      else {
        writes++
        if (status !== 403 && status !== 401) wrong.push(`is not refused: ${said}`)
        if ((await world.fingerprint()) !== before) wrong.push(`changes something: ${said}`)
        await world.restore()
      }
    }
  }
  t.diagnostic(`${reads} reads, ${writes} writes`)
  const text = Buffer.from('other').toString('base64')
  const documentation = { api_id: owned.policy, documentation: text }
  const added = await world.call('POST', '/api/portal/documentation', { as, body: documentation })
  if (added.status !== 401) wrong.push(`POST documentation: ${added.status} ${added.text}`)
  const lists = ['requests', 'catalogue', 'policies', `developers/${owned.developer}/keys`]
  for (const list of lists) {
    const { text: listed, status } = await world.call('GET', `/api/portal/${list}`, { as })
    if (status !== 200 || listed.includes(secret)) wrong.push(`list ${list}: ${status} ${listed.slice(0, 300)}`)
  }
  assert.deepEqual(wrong, [])
  assert.ok(reads > 10 && writes > 30, `${reads} reads, ${writes} writes`)
})

test('keys themselves are shown to users who may write them alone, by no route and in no list', async (t) => {
  const world = await startWorld({ env: { SVC_GW_HASHKEYS: 'false' } })
  t.after(world.close)
  const { open, owned, store, parts, orgId } = world
  const raw: string[] = []
  const rawKey = async (api: string, client: string) => {
    const token = `token-of-${api}-of-the-matrix`
    const session = { access_rights: rights(api), org_id: orgId }
    await createKey(parts, { session, key: token, keepQuota: false, actor: 'test' })
    const row = (await store.tokens.getSession(hashKey(token)))!
    await store.documents.commit([{ op: 'putSession', hash: row.hash, row: { ...row, clientId: client } }], undefined)
    raw.push(token)
  }
  for (const things of [open, owned]) {
    await rawKey(things.api, things.client)
    raw.push(things.key)
  }
  await share(world)
  const reader = (await world.actor('read-only', { who: 'keys', names: [] })) as TestUser
  const partOwner = (await world.actor('non-owner', { who: 'keys', names: [] })) as TestUser
  const shown = new Map<TestUser, string[]>()
  for (const as of [await world.admin(), reader, partOwner])
    for (const route of world.dashboard.routes) {
      const expected = EXPECTED.get(callOf(route))!
      // Analytics and records of traffic name keys by their hashes, and take longest.
      if (route.method !== 'GET' || expected.who === 'public' || expected.who === 'analytics') continue
      for (const things of as === partOwner ? [owned] : [open, owned]) {
        const hash = hashKey(things.key).toString('hex')
        const names = { ...things, ...(as === partOwner && { api: open.api, oas: open.oas }), key: hash }
        let at = 0
        const path = route.path.replace(/\{[^}]*\}/g, () => encodeURIComponent(names[expected.names[at++] ?? 'none']))
        const query = expected.query ?? (expected.names.includes('key') ? '?hashed=1' : '?p=-1')
        const { text } = await world.call('GET', path + query, { as })
        const own = as === partOwner ? [owned.key, `token-of-${owned.api}-of-the-matrix`] : raw
        if (own.some((key) => text.includes(`"${key}"`))) shown.set(as, [...(shown.get(as) ?? []), callOf(route)])
      }
    }
  assert.deepEqual([shown.get(reader), shown.get(partOwner)], [undefined, undefined])
  assert.ok([...shown.values()][0]!.length >= 10, `an administrator reads them: ${JSON.stringify([...shown.values()])}`)
  // A change by a part owner that leaves what holds for others answers without the key too.
  const hash = hashKey(owned.key).toString('hex')
  const read = await world.call('GET', `/api/keys/${hash}?hashed=1`, { as: partOwner })
  const body = (read.json as JsonObject).data
  const put = await world.call('PUT', `/api/keys/${hash}?hashed=1`, { as: partOwner, body })
  assert.deepEqual([put.status, put.text.includes(`"${owned.key}"`)], [200, false], put.text)
  // Who names the key knows it.
  const named = await world.call('GET', `/api/keys/${owned.key}`, { as: partOwner })
  assert.equal((named.json as JsonObject).key_id, owned.key)
})
