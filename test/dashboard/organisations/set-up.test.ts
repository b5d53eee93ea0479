import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { verifyPassword } from '../../../src/model/passwords/passwords.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openInstallation, readInstallation, setupToken } from '../../../src/publish/organisations/installation.ts'
import { findByEmail } from '../../../src/publish/people/users.ts'
import { KeyedMutex } from '../../../src/runtime/keyed-mutex.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { assertRefused, asUser, bodyOf, dashboardFor } from '../../worlds/dashboard/people.ts'

const CLOSED = /^The set-up link is not valid/

/** A dashboard of an installation that nobody has set up. */
async function freshInstallation(t: TestContext) {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  t.after(() => store.close())
  const sealKey = randomBytes(32)
  const { documents, tokens, counters } = store
  const config = { gateway: {}, compat: { vendor_aliases: [] } } as never
  const installation = await openInstallation({
    documents,
    tokens,
    counters,
    config,
    sealKey,
    defaultOrg: () => '',
    locks: new KeyedMutex(),
    clock,
  })
  const dashboard = await dashboardFor(t, {
    clock,
    store,
    parts: { sealKey, defaultOrg: () => installation.default_org },
  })
  const wanted = {
    token: setupToken({ sealKey }),
    organisation: 'Acme',
    email: 'Ada@example.test',
    password: 'correct horse battery',
    first_name: 'Ada',
  }
  const post = (body: unknown) => dashboard.call('POST', '/api/bootstrap', { body })
  const open = async () => bodyOf(await dashboard.call('GET', '/api/bootstrap')).open
  return { dashboard, installation, wanted, post, open }
}

test('the link makes the first organisation and its administrator, once', async (t) => {
  const { dashboard, installation, wanted, post, open } = await freshInstallation(t)
  assert.equal(await open(), true)
  const made = bodyOf(await post(wanted))
  const { org_id: orgId, user } = made.Meta as { org_id: string; user: JsonObject }
  assert.equal(orgId, installation.default_org, 'what was made before belongs to it')
  assert.deepEqual([user.org_id, user.email_address, user.first_name], [orgId, 'ada@example.test', 'Ada'])
  assert.deepEqual(user.user_permissions, { IsAdmin: 'admin' })
  bodyOf(await dashboard.call('GET', '/api/org/permissions', { as: asUser(user) }))
  const [stored] = await findByEmail(dashboard.parts, 'ada@example.test')
  assert.ok(await verifyPassword(stored!.password_hash, wanted.password))
  const shown = bodyOf(await dashboard.call('GET', `/admin/organisations/${orgId}`, { as: 'installation' }))
  assert.equal(shown.owner_name, 'Acme')
  assert.equal(await open(), false)
  assertRefused(await post({ ...wanted, email: 'b@example.test' }), 403, CLOSED)
})

test('of many who use the link at once one comes through, and nothing of the others stays', async (t) => {
  const { dashboard, wanted, post } = await freshInstallation(t)
  const all = await Promise.all(
    Array.from({ length: 5 }, (_, i) => post({ ...wanted, organisation: `Org ${i}`, email: `u${i}@example.test` })),
  )
  assert.equal(all.filter(({ status }) => status === 200).length, 1)
  for (const answer of all.filter(({ status }) => status !== 200)) assertRefused(answer, 403, CLOSED)
  const { documents } = dashboard.store
  assert.equal((await documents.list('user', { limit: 1 })).total, 1)
  assert.equal((await documents.list('organisation', { limit: 1 })).total, 2, "the harness's and the new one")
})

test('a link that is refused leaves everything as it was', async (t) => {
  const { dashboard, wanted, post, open } = await freshInstallation(t)
  for (const token of ['', 'x', wanted.token.slice(1), `${wanted.token}x`])
    assertRefused(await post({ ...wanted, token }), 403, CLOSED)
  assertRefused(await post({ ...wanted, password: 'abc' }), 400, /does not meet the rules/)
  assertRefused(await post({ ...wanted, password: '' }), 400, /does not meet the rules/)
  assertRefused(await post({ ...wanted, email: 'nobody' }), 400, /^The set-up is not valid: email/)
  assertRefused(await post({ ...wanted, organisation: ' ' }), 400, /^The set-up is not valid: organisation/)
  assertRefused(await post({ ...wanted, organisation: 'a\nb' }), 400, /^Organisation object validation failed/)
  for (const wrong of [{}, [], { ...wanted, token: 7 }]) assert.equal((await post(wrong)).status, 400)
  assertRefused(await post('{'), 403, 'Request body malformed')
  const { rows } = await dashboard.store.documents.list('user', { limit: 1 })
  assert.deepEqual(rows, [])
  assert.equal((await dashboard.store.documents.list('organisation', { limit: 9 })).total, 1)
  assert.equal(await open(), true)
})

test('a user that the admin API makes closes the link; an organisation alone does not', async (t) => {
  const { dashboard, installation, wanted, post, open } = await freshInstallation(t)
  const call = (path: string, body: unknown) => dashboard.call('POST', path, { as: 'installation', body })
  const orgId = bodyOf(await call('/admin/organisations', { owner_name: 'Acme' })).Meta
  assert.equal(orgId, installation.default_org)
  assert.equal(await open(), true)
  bodyOf(await call('/admin/users', { email_address: 'root@example.test', org_id: orgId }))
  assert.equal(await open(), false)
  assertRefused(await post(wanted), 403, CLOSED)
})

test('the link takes an organisation of that name which the admin API has made', async (t) => {
  const { dashboard, wanted, post } = await freshInstallation(t)
  const body = { owner_name: 'Acme', cname: 'kept' }
  const orgId = bodyOf(await dashboard.call('POST', '/admin/organisations', { as: 'installation', body })).Meta
  assert.equal((bodyOf(await post(wanted)).Meta as JsonObject).org_id, orgId)
  const shown = bodyOf(await dashboard.call('GET', `/admin/organisations/${orgId}`, { as: 'installation' }))
  assert.equal(shown.cname, 'kept')
})

test('the default organisation can be deleted without users; the next one gets its id', async (t) => {
  const { dashboard, installation } = await freshInstallation(t)
  const call = (method: string, path: string, body?: unknown) =>
    dashboard.call(method, path, { as: 'installation', body })
  const policy = { Data: [{ id: 'early', name: 'Early', rate: 1, per: 1 }] }
  bodyOf(await call('POST', '/admin/policies/import', policy))
  const first = bodyOf(await call('POST', '/admin/organisations', { owner_name: 'A' })).Meta
  bodyOf(await call('DELETE', `/admin/organisations/${first}`))
  assertRefused(await call('GET', `/admin/organisations/${first}`), 404, 'Could not retrieve org detail')
  const second = bodyOf(await call('POST', '/admin/organisations', { owner_name: 'B' })).Meta
  const third = bodyOf(await call('POST', '/admin/organisations', { owner_name: 'C' })).Meta
  assert.deepEqual([first, second, third === second], [installation.default_org, first, false])
  const { rows } = await dashboard.store.documents.list('policy', { where: { org_id: String(second) }, limit: 9 })
  assert.deepEqual(
    rows.map(({ body }) => body.id),
    ['early'],
  )
})

test('an import as the first organisation becomes the default one and gets what was there', async (t) => {
  const { dashboard } = await freshInstallation(t)
  const call = (path: string, body: unknown) => dashboard.call('POST', path, { as: 'installation', body })
  bodyOf(await call('/admin/policies/import', { Data: [{ id: 'early', name: 'Early', rate: 1, per: 1 }] }))
  const id = '5e9d9544a1dcd60001d0ed20'
  assert.equal(bodyOf(await call('/admin/organisations/import', { owner_name: 'Demo', id })).Meta, id)
  assert.equal((await readInstallation(dashboard.parts))?.default_org, id)
  const { rows } = await dashboard.store.documents.list('policy', { limit: 9 })
  assert.deepEqual(
    rows.map(({ body }) => body.org_id),
    [id],
  )
})
