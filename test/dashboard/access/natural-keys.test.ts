import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import { rights } from '../../worlds/base/definitions.ts'
import { classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'

// A creating call may find an object that is there by something in its body, and replace it: no path names the object then.

const CALLBACK = 'https://app.test/cb'
const USER = 'somebody'
const PASSWORD = { basic_auth_data: { password: 'Correct-horse-7' } }

type Creating = (session: JsonObject, world: World, apiId: string) => readonly [path: string, body: JsonObject]

/** Creating calls whose body decides where a key is stored. */
const KEYS: Readonly<Record<string, Creating>> = {
  'certificate by id': (session, { open }) => ['/api/keys', { ...session, certificate: open.certificate }],
  'certificate by fingerprint': (session, { open, orgId }) => [
    '/api/keys',
    { ...session, certificate: open.certificate.slice(orgId.length).toUpperCase() },
  ],
  'basic user by path': (session) => [`/api/apis/keys/basic/${USER}`, { ...session, ...PASSWORD }],
  'basic user by query': (session) => [`/api/keys/${USER}?username=1`, { ...session, ...PASSWORD }],
  'basic user by password': (session) => [`/api/keys/${USER}`, { ...session, ...PASSWORD }],
  'moved key': (session) => ['/api/moves/keys', { key_hash: 'd'.repeat(64), session }],
  'moved user': (session) => ['/api/moves/keys', { user_name: USER, session, password_hash: 'Correct-horse-7' }],
  'custom key': (session) => ['/api/keys/a-key-of-its-own-choice', session],
}

/** Creating calls whose body holds the id. */
const OTHERS: Readonly<Record<string, Creating>> = {
  'classic API': (_, world, id) => ['/api/apis', { api_definition: classicApi(id, `/x-${world.orgId}/`) }],
  'OpenAPI API': (_, world, id) => ['/api/apis/oas', oasApi(id, `/y-${world.orgId}/`)],
  policy: (_, { owned, open }) => [
    '/api/portal/policies',
    { id: owned.policy, name: 'new', rate: 1, per: 1, access_rights: rights(open.api) },
  ],
  'moved client': (_, { owned, open }) => [
    '/api/moves/clients',
    { client_id: owned.client, api_ids: [open.api], redirect_uris: [CALLBACK], secret: 'another-secret-of-it' },
  ],
}

test('no creating call replaces what others own, by whatever its body names it', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const { open, owned } = world
  const admin = await world.admin()
  const owner = (await world.actor('owner', { who: 'apis', names: [] })) as TestUser
  const other = (await world.actor('non-owner', { who: 'apis', names: [] })) as TestUser
  const of = (apiId: string): JsonObject => ({ access_rights: rights(apiId), alias: `of ${apiId}` })
  for (const [name, creating] of Object.entries(KEYS)) {
    const both: JsonObject = { access_rights: rights(owned.api, open.api) }
    for (const [whose, as, session] of [
      ['an owner', owner, of(owned.api)],
      ['a part owner', admin, both],
    ] as const) {
      const [path, body] = creating(session, world, owned.api)
      const made = await world.call('POST', path, { as, body })
      assert.ok(made.status < 300, `${name}: ${made.text}`)
      const before = await world.fingerprint()
      const [same, theirs] = creating(of(open.api), world, owned.api)
      const refused = await world.call('POST', same, { as: other, body: theirs })
      assert.ok(
        refused.status === 401 || refused.status === 403,
        `${name}, ${whose}: ${refused.status} ${refused.text}`,
      )
      assert.equal(await world.fingerprint(), before, `${name}, ${whose}`)
    }
    // The owner of all of it may still replace it.
    const [path, body] = creating(of(owned.api), world, owned.api)
    const again = await world.call('POST', path, { as: admin, body })
    assert.ok(again.status < 300, `${name}: ${again.text}`)
    await world.restore()
  }
  for (const [name, creating] of Object.entries(OTHERS)) {
    const before = await world.fingerprint()
    const [path, body] = creating({}, world, owned.api)
    const refused = await world.call('POST', path, { as: other, body })
    assert.ok(refused.status >= 400 && refused.status < 500, `${name}: ${refused.status} ${refused.text}`)
    assert.equal(await world.fingerprint(), before, name)
  }
})
