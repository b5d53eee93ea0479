import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { spread } from '../../worlds/base/spread.ts'
import { bodyOf, classicApi, oasApi, plainOas } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard, type TestDashboard, type TestUser } from '../../worlds/dashboard/harness.ts'
import { setApiOwners } from '../../worlds/dashboard/set-owners.ts'

/** Listen paths that overlap `/pay/`: at it, below it, and such as a placeholder may put there. */
const OVERLAPS = ['/pay/', '/pay/v2/', '/{any}/svc/', '/{any}/', '/pay/{id}/x/', '/']

/** Each entry point is tried with one in so many of these, unless the run is a long one: each starts a dashboard. */
const SPREAD = 3

interface World extends TestDashboard {
  /** Saves `own` at `/own/` as the caller, so that there is something to change. */
  readonly as: TestUser
}

/** Every call of the dashboard that gives an API a listen path. Answers the status, 409 where the import says no. */
const WAYS: Readonly<Record<string, (w: World, listenPath: string) => Promise<number>>> = {
  'POST classic': async ({ call, as }, path) =>
    (await call('POST', '/api/apis', { as, body: { api_definition: classicApi('new', path) } })).status,
  'POST OpenAPI': async ({ call, as }, path) =>
    (await call('POST', '/api/apis/oas', { as, body: oasApi('new', path) })).status,
  'PUT OpenAPI': async ({ call, as }, path) => {
    assert.equal((await call('POST', '/api/apis/oas', { as, body: oasApi('own', '/own/') })).status, 200)
    return (await call('PUT', '/api/apis/oas/own', { as, body: oasApi('own', path) })).status
  },
  'PUT classic': async ({ call, as }, path) => {
    const body = { api_definition: classicApi('own', '/own/') }
    assert.equal((await call('POST', '/api/apis', { as, body })).status, 200)
    return (await call('PUT', '/api/apis/own', { as, body: { api_definition: classicApi('own', path) } })).status
  },
  PATCH: async ({ call, as }, path) => {
    assert.equal((await call('POST', '/api/apis/oas', { as, body: oasApi('own', '/own/') })).status, 200)
    const query = new URLSearchParams({ listenPath: path })
    return (await call('PATCH', `/api/apis/oas/own?${query}`, { as, body: plainOas('own') })).status
  },
  'import of a document': async ({ call, as }, path) => {
    const query = new URLSearchParams({ listenPath: path, upstreamURL: 'http://upstream.test/' })
    return (await call('POST', `/api/apis/oas/import?${query}`, { as, body: plainOas('new') })).status
  },
  'a version': async ({ call, as }, path) => {
    assert.equal((await call('POST', '/api/apis/oas', { as, body: oasApi('own', '/own/') })).status, 200)
    const query = 'base_api_id=own&base_api_version_name=v1&new_version_name=v2'
    return (await call('POST', `/api/apis/oas?${query}`, { as, body: oasApi('new', path) })).status
  },
  'switched off': async ({ call, as }, path) =>
    (await call('POST', '/api/apis/oas', { as, body: oasApi('new', path, { state: { active: false } }) })).status,
  undo: async ({ call, as, store, parts }, path) => {
    // The space was free when the API was deleted, and is taken when that is undone.
    const held = (await store.documents.find('api', 'api_id', 'held'))!
    await store.documents.commit([{ op: 'delete', kind: 'api', id: held.id }], undefined)
    assert.equal((await call('POST', '/api/apis/oas', { as, body: oasApi('new', path) })).status, 200)
    assert.equal((await call('DELETE', '/api/apis/oas/new', { as })).status, 200)
    const [row] = (await store.audit.list({ orgId: as.orgId, limit: 1 })).rows
    const { id, body } = held
    await store.documents.commit([{ op: 'put', kind: 'api', id, body, ifRevision: 0 }], undefined)
    assert.ok(parts.settled)
    return (await call('POST', `/api/audit-logs/${row!.id}/undo`, { as })).status
  },
  'import by the installation': async ({ call, as }, path) => {
    const api_definition = { ...classicApi('new', path), id: '65a0000000000000000000a1', org_id: as.orgId }
    const apis = [{ api_definition, hook_references: [], user_owners: [as.id], user_group_owners: [] }]
    const { json } = await call('POST', '/admin/apis/import', { as: 'installation', body: { apis } })
    return ((json as JsonObject).Meta as JsonObject).new === true ? 200 : 409
  },
}

/** Ways that are the installation's own: whose owners the APIs get is its word. */
const OF_THE_INSTALLATION: ReadonlySet<string> = new Set(['import by the installation'])

async function world(ownership: boolean): Promise<TestDashboard & { readonly holder: TestUser }> {
  const dashboard = await startTestDashboard({ env: { SVC_DB_ENABLEOWNERSHIP: String(ownership) } })
  const holder = await dashboard.admin()
  const saved = await dashboard.call('POST', '/api/apis/oas', { as: holder, body: oasApi('held', '/pay/') })
  assert.equal(saved.status, 200, saved.text)
  dashboard.clock.advance(1000)
  return { ...dashboard, holder }
}

/** The dashboard; a refusal that names the API in the way, which the caller may not see, fails. */
function discreet<W extends TestDashboard>(w: W): W {
  const call: TestDashboard['call'] = async (...asked) => {
    const answer = await w.call(...asked)
    if (answer.status === 409) assert.doesNotMatch(answer.text, /held/i)
    return answer
  }
  return { ...w, call }
}

for (const [turn, [name, way]] of Object.entries(WAYS).entries()) {
  test(`${name}: no listen path of another organisation is overlapped`, async () => {
    for (const path of spread(OVERLAPS, turn, SPREAD)) {
      const w = await world(false)
      try {
        const as = await w.admin(await w.organisation())
        assert.equal(await way({ ...discreet(w), as }, path), 409, path)
      } finally {
        await w.close()
      }
    }
  })

  if (OF_THE_INSTALLATION.has(name)) continue
  test(`${name}: with ownership on, no listen path may overlap a foreign API of the organisation`, async () => {
    for (const path of spread(OVERLAPS, turn, SPREAD)) {
      const w = await world(true)
      try {
        const [owner, as] = [await w.user({ apis: 'write' }), await w.user({ apis: 'write', audit_logs: 'read' })]
        await setApiOwners(w.parts, 'held', [owner.id])
        assert.equal(await way({ ...discreet(w), as }, path), 409, path)
      } finally {
        await w.close()
      }
    }
  })

  test(`${name}: with ownership off, listen paths of one organisation may lie below each other`, async () => {
    const w = await world(false)
    try {
      assert.equal(await way({ ...w, as: w.holder }, '/pay/v2/'), 200)
    } finally {
      await w.close()
    }
  })
}

test('of two saves at once that overlap, of different organisations, one is refused', async (t) => {
  const dashboard = await startTestDashboard()
  t.after(() => dashboard.close())
  const [one, other] = [await dashboard.admin(), await dashboard.admin(await dashboard.organisation())]
  for (let round = 0; round < 10; round++) {
    const [above, below] = [`/team-${round}/`, `/team-${round}/{any}/x/`]
    const answers = await Promise.all([
      dashboard.call('POST', '/api/apis/oas', { as: one, body: oasApi(`above-${round}`, above) }),
      dashboard.call('POST', '/api/apis/oas', { as: other, body: oasApi(`below-${round}`, below) }),
    ])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
  }
})

test('an unclaimed host name is no bypass, and a custom domain belongs to one organisation', async (t) => {
  const dashboard = await startTestDashboard()
  t.after(() => dashboard.close())
  const [one, other] = [await dashboard.admin(), await dashboard.admin(await dashboard.organisation())]
  const save = async (as: TestUser, id: string, domain: string, path: string) => {
    const body = oasApi(id, path)
    const { server } = body['x-svc-api-gateway'] as { server: JsonObject }
    if (domain !== '') server.customDomain = { enabled: true, name: domain }
    return (await dashboard.call('POST', '/api/apis/oas', { as, body })).status
  }
  assert.equal(await save(one, 'a', '', '/pay/'), 200)
  assert.equal(await save(other, 'b', 'localhost', '/pay/v2/'), 409, 'below it at a name of the gateway')
  assert.equal(await save(other, 'c', 'localhost', '/own/'), 200)
  assert.equal(await save(one, 'd', '', '/own/v2/'), 409, 'and the other way round')
  assert.equal(await save(other, 'e', 'pay.example.test', '/pay/'), 200)
  assert.equal(await save(one, 'f', 'pay.example.test', '/elsewhere/'), 409)
})

/** With ownership on: places of the owner's APIs, and whether another user of the organisation may save an API at a place. */
const OF_OWNERS: readonly (readonly [held: Spot, wanted: Spot, may: boolean])[] = [
  [['', '/pay/'], ['d.example.test', '/pay/'], false],
  [['', '/pay/'], ['d.example.test', '/pay/q/'], false],
  [['', '/pay/'], ['d.example.test', '/{any}/q/'], false],
  [['', '/pay/'], ['d.example.test', '/'], false],
  [['', '/{any}/'], ['d.example.test', '/pay/'], false],
  [['', '/pay/'], ['d.example.test', '/else/'], true],
  [['d.example.test', '/pay/'], ['d.example.test', '/pay/q/'], false],
  [['d.example.test', '/pay/'], ['d.example.test', '/else/'], true],
  [['d.example.test', '/pay/'], ['', '/pay/q/'], false],
  [['d.example.test', '/pay/'], ['', '/else/'], true],
  [['d.example.test', '/pay/'], ['e.example.test', '/pay/q/'], true],
  [['', '/pay/', 'x'], ['', '/pay/q/', 'y'], false],
  [['', '/pay/', 'x'], ['', '/pay/', 'y'], false],
  [['', '/pay/'], ['', '/pay/'], false],
  [['', '/pay/'], ['', '/%70ay'], false],
]
type Spot = readonly [domain: string, path: string, tag?: string]

for (const duplicates of [false, true])
  test(`with ownership on and duplicate slugs ${duplicates ? 'on' : 'off'}, nobody takes requests of an owner's API`, async (t) => {
    const env = { SVC_DB_ENABLEOWNERSHIP: 'true', SVC_GW_ENABLEDUPLICATESLUGS: String(duplicates) }
    const { call, user, close } = await startTestDashboard({ env })
    t.after(close)
    const [owner, other] = [await user({ apis: 'write' }), await user({ apis: 'write' })]
    const save = (as: TestUser, id: string, [name, path, tag]: Spot) => {
      const server = {
        ...(name !== '' && { customDomain: { enabled: true, name } }),
        ...(tag !== undefined && { gatewayTags: { enabled: true, tags: [tag] } }),
      }
      return call('POST', '/api/apis/oas', { as, body: oasApi(id, path, {}, server) })
    }
    for (const [held, wanted, may] of OF_OWNERS) {
      const made = await save(owner, 'held', held)
      assert.equal(made.status, 200, made.text)
      const { status, text } = await save(other, 'wanted', wanted)
      assert.equal(status, may ? 200 : 409, `${wanted} beside ${held}: ${text}`)
      assert.doesNotMatch(text, /held/)
      if (may) await call('DELETE', '/api/apis/oas/wanted', { as: other })
      await call('DELETE', '/api/apis/oas/held', { as: owner })
    }
  })

/** New listen paths beside the authorization server of an API `held` at `/pay/v1/`, and whether others may have them. */
const AT_ENDPOINTS: readonly (readonly [path: string, may: boolean, ignoreCase?: boolean])[] = [
  ['/held/', false],
  ['/held/oauth/', false],
  ['/held/oauth/token/', false],
  ['/held/{x}/', false],
  ['/held/.well-known/', false],
  ['/HELD/svc/', false, true],
  ['/{any}/oauth/', false],
  ['/{any}/{b:o.*}/x/', false],
  ['/{any}/svc/', false],
  ['/{any:h.*}/', false],
  ['/{ANY}/OAuth/', false, true],
  ['/{any}/orders/', true],
  ['/held/orders/', true],
  ['/HELD/svc/', true],
  ['/{n:[0-9]+}/', true],
]

for (const duplicates of [false, true])
  test(`nobody takes the endpoints that an API has by its id, duplicate slugs ${duplicates ? 'on' : 'off'}`, async (t) => {
    const env = { SVC_DB_ENABLEOWNERSHIP: 'true', SVC_GW_ENABLEDUPLICATESLUGS: String(duplicates) }
    const { call, user, admin, organisation, close } = await startTestDashboard({ env })
    t.after(close)
    const every = { apis: 'write' }
    const [owner, other, foreign] = [await user(every), await user(every), await admin(await organisation())]
    const oauth = { use_keyless: false, use_oauth2: true, oauth_meta: { allowed_access_types: ['client_credentials'] } }
    const held = { api_definition: classicApi('held', '/pay/v1/', oauth) }
    assert.equal((await call('POST', '/api/apis', { as: owner, body: held })).status, 200)
    for (const [at, as] of [other, foreign, owner].entries())
      for (const [path, may, ignoreCase] of AT_ENDPOINTS) {
        // The id of an API that is deleted stays with its owner.
        const id = `new-${at}`
        const definition = oasApi(id, path) as { 'x-svc-api-gateway': JsonObject }
        const extension = definition['x-svc-api-gateway']
        if (ignoreCase) extension.middleware = { global: { ignoreCase: { enabled: true } } }
        const checked = await call('POST', '/api/moves/check', { as, body: { apis: [{ format: 'oas', definition }] } })
        const { status, text } = await call('POST', '/api/apis/oas', { as, body: definition })
        const isFine = may || as === owner
        assert.equal(status, isFine ? 200 : 409, `${path}: ${text}`)
        assert.equal((bodyOf(checked).obstacles as unknown[]).length, isFine ? 0 : 1, `${path}: ${checked.text}`)
        if (isFine) await call('DELETE', `/api/apis/oas/${id}`, { as })
      }
  })
