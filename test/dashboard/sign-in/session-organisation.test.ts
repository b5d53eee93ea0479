import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { isUnbounded } from '../../../src/dashboard/access/actor.ts'
import { intentOf, permit } from '../../../src/dashboard/access/permit.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import {
  type Browser,
  message,
  type Person,
  person,
  signedIn,
  signInWorld,
} from '../../worlds/dashboard/sign-in-world.ts'

const CHOICE = '/api/session/organisation'
const DENIED = 'access denied: You do not have permission to access  '

/** Two organisations with an API, a user and a developer each, and an unbounded administrator in a browser. */
async function world(t: TestContext, permissions: JsonObject = { IsAdmin: 'admin' }, ownership = 'true') {
  const dashboard = await signInWorld(t, { env: { SVC_DB_ENABLEOWNERSHIP: ownership } })
  const { call, admin, organisation, user } = dashboard
  const first = await admin()
  const otherOrg = await organisation({ owner_name: 'Other' })
  const second = await user({ IsAdmin: 'admin' }, { orgId: otherOrg })
  for (const [as, name] of [
    [first, 'ours'],
    [second, 'theirs'],
  ] as const) {
    const definition = { name, api_id: name, slug: name, active: true, use_keyless: true }
    const proxy = { listen_path: `/${name}/`, target_url: 'http://127.0.0.1:9/' }
    const body = { api_definition: { ...definition, proxy, user_owners: [as.id] } }
    const made = await call('POST', '/api/apis', { as, body })
    assert.equal(made.status, 200, made.text)
    const developer = { email: `${name}@example.test`, password: 'Correct-horse-7' }
    assert.equal((await call('POST', '/api/portal/developers', { as, body: developer })).status, 200)
  }
  const root = await person(dashboard, { org_id: '', user_permissions: permissions })
  return { ...dashboard, first, second, otherOrg, root, browser: await signedIn(dashboard, root) }
}

const listed = async (browser: Browser, path: string, name: string, member: string) => {
  const answer = await browser.send('GET', path)
  assert.equal(answer.status, 200, answer.text)
  return ((answer.json as Record<string, JsonObject[]>)[name] ?? []).map((row) => String(row[member])).sort()
}
const developers = (browser: Browser) => listed(browser, '/api/portal/developers', 'Data', 'email')
const apis = async (browser: Browser) =>
  ((await browser.send('GET', '/api/apis')).json as { apis: { api_definition: { name: string } }[] }).apis
    .map(({ api_definition: { name } }) => name)
    .sort()
const shownOrganisation = async (browser: Browser) => {
  const { organisation, unbounded } = (await browser.send('GET', '/api/session')).json as JsonObject
  return { id: (organisation as JsonObject | null)?.id, unbounded }
}

for (const ownership of ['true', 'false'])
  test(`an unbounded user looks at one organisation after the other, with ownership ${ownership}`, async (t) => {
    const { browser, otherOrg, orgId, root } = await world(t, { apis: 'write', portal: 'write' }, ownership)
    assert.deepEqual(await shownOrganisation(browser), { id: undefined, unbounded: true })
    assert.deepEqual(await developers(browser), ['ours@example.test', 'theirs@example.test'])
    const all = await apis(browser)
    for (const [org, name] of [
      [orgId, 'ours'],
      [otherOrg, 'theirs'],
    ] as const) {
      assert.equal((await browser.send('PUT', CHOICE, { org_id: org })).status, 200)
      assert.deepEqual(await shownOrganisation(browser), { id: org, unbounded: true })
      assert.deepEqual(await developers(browser), [`${name}@example.test`])
      assert.deepEqual(await apis(browser), [name], 'owned by somebody else, and seen all the same')
      const organisations = await listed(browser, '/api/organisations/list', 'organisations', 'id')
      assert.deepEqual(organisations, [orgId, otherOrg].sort(), 'the others can still be chosen')
      assert.equal(((await browser.send('GET', '/api/org')).json as JsonObject).id, org)
    }
    assert.equal((await browser.send('GET', '/api/apis/ours')).status, 400, 'what is in another is not there')
    assert.equal((await browser.send('GET', `/api/users/${root.id}`)).status, 200, 'the own record is')
    assert.equal((await browser.send('PUT', CHOICE, { org_id: '' })).status, 200)
    assert.deepEqual(await apis(browser), all)
    assert.deepEqual(await shownOrganisation(browser), { id: undefined, unbounded: true })
  })

test('what an unbounded user looks at it does not write, and no secret of it is shown', async (t) => {
  const { browser, orgId, first, dashboard } = await world(t)
  await browser.send('PUT', CHOICE, { org_id: orgId })
  const refused = await browser.send('DELETE', '/api/apis/ours')
  assert.deepEqual([refused.status, message(refused)], [403, `${DENIED}/api/apis/ours`])
  const seen = (await browser.send('GET', `/api/users/${first.id}`)).json as JsonObject
  assert.equal(seen.access_key, '')
  const reset = { new_password: 'Another-horse-8' }
  assert.equal((await browser.send('POST', `/api/users/${first.id}/actions/reset`, reset)).status, 403)
  const [row] = await listed(browser, '/api/audit-logs', 'audit_logs', '_id')
  assert.equal((await browser.send('POST', `/api/audit-logs/${row}/undo`)).status, 403)

  const actor = { userId: 'u', email: '', orgId, groupId: '', permissions: { IsAdmin: 'admin' }, admin: true } as const
  const viewer = { ...actor, sessionId: undefined, viewing: true } as const
  assert.ok(isUnbounded(viewer))
  const ruled = dashboard.routes.filter(({ access }) => access === 'admin' || typeof access === 'object')
  assert.ok(ruled.length > 100)
  for (const route of ruled) {
    const asked = { route, params: {}, path: route.path, actor: viewer, installation: false }
    const isRefused = permit(asked) !== undefined
    assert.equal(isRefused, intentOf(route) === 'write', `${route.method} ${route.path}`)
  }
})

test('only a browser session of a user without an organisation can choose one', async (t) => {
  const dashboard = await world(t)
  const { browser, call, root, first, orgId, otherOrg, user, store } = dashboard
  const member: Person = await person(dashboard)
  const theirs = await signedIn(dashboard, member)
  assert.equal((await theirs.send('PUT', CHOICE, { org_id: otherOrg })).status, 403)
  assert.deepEqual(await shownOrganisation(theirs), { id: orgId, unbounded: false })
  const unbounded = await user({ IsAdmin: 'admin' }, { orgId: '' })
  assert.equal((await call('PUT', CHOICE, { as: unbounded, body: { org_id: orgId } })).status, 403, 'no browser')
  for (const [body, status] of [
    [{ org_id: 'f'.repeat(24) }, 404],
    [{ org_id: '../x' }, 404],
    [{ org_id: 1 }, 400],
    [{}, 400],
  ] as const)
    assert.equal((await browser.send('PUT', CHOICE, body)).status, status)
  assert.deepEqual(await shownOrganisation(browser), { id: undefined, unbounded: true })

  // A session that is prolonged by the same call.
  dashboard.clock.advance(120_000)
  assert.equal((await browser.send('PUT', CHOICE, { org_id: orgId })).status, 200)
  dashboard.clock.advance(120_000)
  assert.deepEqual(await shownOrganisation(browser), { id: orgId, unbounded: true })
  assert.deepEqual(await shownOrganisation(browser), { id: orgId, unbounded: true }, 'also once it is prolonged')
  const log = (await call('GET', '/api/audit-logs?action=Look%20at%20organisation', { as: first })).json as {
    audit_logs: JsonObject[]
  }
  assert.deepEqual(
    log.audit_logs.map(({ user: who, action }) => [who, action]),
    [[root.email, 'Look at organisation']],
  )
  const other = await signedIn(dashboard, root)
  assert.deepEqual(await shownOrganisation(other), { id: undefined, unbounded: true }, 'each session has its own')
  await store.documents.commit([{ op: 'delete', kind: 'organisation', id: orgId as never }], undefined)
  assert.deepEqual(
    await shownOrganisation(browser),
    { id: undefined, unbounded: true },
    'what is gone is not looked at',
  )
})
