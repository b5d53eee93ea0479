import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { loadConfig } from '../../../src/config/load.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import type { SecretParts } from '../../../src/publish/documents/parts.ts'
import { createBasicUser, findBasicUser } from '../../../src/publish/keys/basic-auth-users.ts'
import { createKey } from '../../../src/publish/keys/keys.ts'
import {
  openInstallation,
  putInstallation,
  readInstallation,
  setupToken,
} from '../../../src/publish/organisations/installation.ts'
import { newOrganisation } from '../../../src/publish/organisations/organisations.ts'
import { setUpUnattended } from '../../../src/publish/organisations/set-up.ts'
import { createPolicy } from '../../../src/publish/policies/policies.ts'
import { KeyedMutex } from '../../../src/runtime/keyed-mutex.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'

const ADA = { organisation: 'Acme', email: 'a@example.test', password: 'correct horse', firstName: '', lastName: '' }

/** The dependencies of publishers, over a separate store; `org` owns objects without an organisation. */
function emptyParts(t: TestContext): SecretParts & { org: string } {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  t.after(() => store.close())
  const { documents, tokens, counters } = store
  const { config } = loadConfig({ env: {}, cwd: import.meta.dirname })
  const parts = {
    documents,
    tokens,
    counters,
    clock,
    config,
    sealKey: new Uint8Array(32),
    locks: new KeyedMutex(),
    org: '',
  }
  return { ...parts, defaultOrg: () => parts.org }
}

/** An API, a policy, a key of both, and a user, none of which names an organisation. */
async function fill(parts: SecretParts): Promise<void> {
  const definition = {
    api_id: 'a1',
    name: 'One',
    active: true,
    use_keyless: true,
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    proxy: { listen_path: '/one/', target_url: 'http://upstream.test/' },
  }
  await publishApi(parts, { format: 'classic', definition, actor: 'test' })
  const access_rights = { a1: { api_id: 'a1', api_name: 'One', versions: ['Default'] } }
  await createPolicy(parts, { id: 'p1', name: 'P', rate: 1, per: 1, access_rights }, 'test')
  await createKey(parts, {
    session: { apply_policies: ['p1'] },
    key: 'a-key-of-my-own-1',
    keepQuota: true,
    actor: 'test',
  })
  const session = { access_rights, basic_auth_data: { password: 'correct horse' } }
  await createBasicUser(parts, { name: 'bob', session, keepQuota: true, actor: 'test' })
}

/** Organisations of everything that is stored. */
async function organisationsOf({ documents, tokens }: SecretParts): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const kind of ['api', 'policy']) {
    const { rows } = await documents.list(kind, { limit: 100 })
    found[kind] = rows.map(({ body }) => String(body.org_id))
    if (kind === 'api')
      found.definition = rows.map(({ body }) => String((body.definition as { org_id?: string }).org_id))
  }
  const { rows } = await tokens.listSessions({ limit: 100 })
  found.sessions = rows.map(({ orgId }) => orgId)
  found.bodies = rows.map(({ body }) => String(body.org_id))
  return found
}

const all = (orgId: string) => ({
  ...{ api: [orgId], definition: [orgId], policy: [orgId] },
  ...{ sessions: [orgId, orgId], bodies: [orgId, orgId] },
})

test('objects without organisation get the default one at the first start', async (t) => {
  const parts = emptyParts(t)
  await fill(parts)
  const { default_org: orgId, setup_hash } = await openInstallation(parts)
  assert.match(orgId, /^[0-9a-f]{24}$/)
  assert.match(setup_hash, /^[0-9a-f]{64}$/)
  assert.deepEqual(await organisationsOf(parts), all(orgId))
  assert.ok(await findBasicUser(parts, orgId, 'bob'), 'a user is found under the new organisation')
  assert.equal(await findBasicUser(parts, '', 'bob'), undefined)
  const before = await parts.documents.revision()
  assert.deepEqual(await openInstallation(parts), { ...(await readInstallation(parts))! })
  assert.equal(await parts.documents.revision(), before, 'a second start writes nothing')
})

test('an organisation that is imported first takes everything over in the commit that makes it', async (t) => {
  const parts = emptyParts(t)
  const { default_org: reserved } = await openInstallation(parts)
  const filled = { ...parts, defaultOrg: () => reserved }
  await fill(filled)
  assert.deepEqual(await organisationsOf(parts), all(reserved))
  const before = await parts.documents.revision()
  const id = '5e9d9544a1dcd60001d0ed20' as typeof reserved
  const { revision } = await newOrganisation(filled, { owner_name: 'Demo' }, { id, actor: 'test' })
  assert.equal(revision, before + 1)
  assert.deepEqual(await organisationsOf(parts), all(id))
})

test('an import under another id is refused where the first organisation owns too much', async (t) => {
  const parts = emptyParts(t)
  const { default_org: reserved } = await openInstallation(parts)
  const filled = { ...parts, defaultOrg: () => reserved }
  for (let i = 0; i < 1001; i++) {
    const put = {
      op: 'putSession',
      hash: Buffer.alloc(32, `${i}`.padStart(8, 'x')),
      row: { body: { org_id: reserved }, orgId: reserved, apiIds: [], policyIds: [], clientId: '', evictAt: 0 },
    } as const
    await parts.documents.commit([put], undefined)
  }
  const id = '5e9d9544a1dcd60001d0ed20' as typeof reserved
  await assert.rejects(newOrganisation(filled, { owner_name: 'Demo' }, { id, actor: 'test' }), {
    code: 'organisation_in_use',
    message: new RegExp(`give it the id ${reserved}`),
  })
  assert.equal((await parts.documents.list('organisation', { limit: 1 })).total, 0)
  const { organisation } = await newOrganisation(filled, { owner_name: 'Demo' }, { actor: 'test' })
  assert.equal(organisation.id, reserved)
})

test('the token of the link is the same at every start, and another for every installation', (t) => {
  const parts = emptyParts(t)
  assert.equal(setupToken(parts), setupToken(parts))
  assert.notEqual(setupToken(parts), setupToken({ sealKey: new Uint8Array(32).fill(1) }))
})

test('set-up by settings happens once', async (t) => {
  const parts = emptyParts(t)
  await openInstallation(parts)
  assert.equal(await setUpUnattended(parts, ADA), true)
  assert.equal(await setUpUnattended(parts, { ...ADA, email: 'b@example.test' }), false)
  assert.equal((await parts.documents.list('user', { limit: 1 })).total, 1)
})

test('an installation that has users already has no link', async (t) => {
  const parts = emptyParts(t)
  await openInstallation(parts)
  await setUpUnattended(parts, ADA)
  await parts.documents.commit([{ op: 'delete', kind: 'installation', id: '0'.repeat(24) as never }], undefined)
  const again = await openInstallation(parts)
  const { rows } = await parts.documents.list('organisation', { limit: 1 })
  assert.deepEqual([again.default_org, again.setup_hash], [rows[0]!.id, ''])
})

test('another seal key than the first one is refused; older versions note theirs', async (t) => {
  const parts = emptyParts(t)
  const made = await openInstallation(parts)
  assert.match(made.seal_hash, /^[0-9a-f]{64}$/)
  assert.equal((await openInstallation(parts)).seal_hash, made.seal_hash)
  const other = { ...parts, sealKey: new Uint8Array(32).fill(9) }
  await assert.rejects(openInstallation(other), { code: 'seal_key_differs' })
  const { revision } = (await readInstallation(parts))!
  await parts.documents.commit([putInstallation({ ...made, seal_hash: '' }, revision)], undefined)
  assert.equal((await openInstallation(parts)).seal_hash, made.seal_hash)
  await assert.rejects(openInstallation(other), { code: 'seal_key_differs' })
})
