import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { addCertificate } from '../../../src/publish/certificates/certificates.ts'
import { nodeDocumentId, writeNodeStatus } from '../../../src/publish/nodes/node-status.ts'
import { deleteOrganisation, newOrganisation } from '../../../src/publish/organisations/organisations.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'
import { selfSigned } from '../../worlds/wire/engine-certificate.ts'

const DAY_MS = 86_400_000

async function world(t: TestContext) {
  const dashboard = await startTestDashboard()
  t.after(dashboard.close)
  return { ...dashboard, admin: await dashboard.admin() }
}

test('everybody reads the own organisation, without secrets and inner settings', async (t) => {
  const { call, organisation, user, orgId } = await world(t)
  const event_options = { api_event: { webhook: 'https://h.test/?token=x' } }
  const own = await organisation({ owner_name: 'Mine', event_options, portal_secret: 'very-secret' })
  const somebody = await user({ portal: 'read' }, { orgId: own })
  for (const path of ['/api/org', '/api/organisations/']) {
    const answer = await call('GET', path, { as: somebody })
    assert.equal(answer.status, 200)
    const { id, owner_name } = answer.json as JsonObject
    assert.deepEqual([id, owner_name], [own, 'Mine'])
    assert.ok(!/very-secret|h\.test/.test(answer.text), answer.text)
    assert.equal((await call('GET', path)).status, 401)
    assert.equal((await call('GET', path, { as: await user({ IsAdmin: 'admin' }, { orgId: '' }) })).status, 404)
    const other = await call('GET', path, { as: await user({ keys: 'read' }) })
    assert.equal((other.json as JsonObject).id, orgId)
  }
})

test('whoever belongs to no organisation lists all of them, everybody else the own one', async (t) => {
  const { call, admin, organisation, user, orgId } = await world(t)
  const other = await organisation({ owner_name: 'Other', portal_secret: 'very-secret' })
  const ids = async (as: typeof admin) => {
    const answer = await call('GET', '/api/organisations/list?p=-1', { as })
    assert.ok(!answer.text.includes('very-secret'))
    return (answer.json as { organisations: { id: string }[] }).organisations.map(({ id }) => id)
  }
  assert.deepEqual((await ids(await user({ IsAdmin: 'admin' }, { orgId: '' }))).sort(), [orgId, other].sort())
  assert.deepEqual(await ids(await user({ keys: 'read' }, { orgId: other })), [other])
  assert.deepEqual(await ids(admin), [orgId])
})

test('rules of the rule engine are kept, and refused where somebody counts on them', async (t) => {
  const { call, admin, user } = await world(t)
  const put = (body: unknown, as = admin) => call('PUT', '/api/org/opa', { as, body })
  const rules = 'package dashboard\ndefault allow = false'
  assert.deepEqual((await call('GET', '/api/org/opa', { as: admin })).json, {
    open_policy: { enabled: false, rules: '' },
  })
  const kept = await put({ open_policy: { enabled: false, rules } })
  assert.deepEqual(kept.json, { Status: 'OK', Message: 'OPA rules has been updated on org level.', Meta: null })
  const reader = await user({ system: 'read' })
  assert.deepEqual((await call('GET', '/api/org/opa', { as: reader })).json, { open_policy: { enabled: false, rules } })
  const refused = await put({ open_policy: { enabled: true, rules: '' } })
  assert.equal(refused.status, 400)
  assert.match(refused.text, /Invalid OPA rules: rules are kept, not evaluated/)
  for (const body of [
    {},
    { open_policy: {} },
    { open_policy: { enabled: 'no', rules } },
    { open_policy: { enabled: false, rules: 1 } },
  ])
    assert.equal((await put(body)).status, 400)
  assert.equal((await put({ open_policy: { enabled: false, rules: '' } }, reader)).status, 403)
  assert.deepEqual((await call('GET', '/api/org/opa', { as: admin })).json, { open_policy: { enabled: false, rules } })
})

test('expiring certificates are reported: warning at 30 days, critical at 7', async (t) => {
  const { call, admin, parts, clock, orgId, user, organisation } = await world(t)
  const { cert } = selfSigned('api.example.org')
  const { id } = await addCertificate(parts, { pem: cert, orgId, actor: 'test' })
  const [stored] = (await parts.documents.list('certificate', { limit: 1 })).rows
  const endsAt = Date.parse(String(stored!.body.not_after))
  const told = async (as = admin) =>
    (await call('GET', '/api/org/notifications?refresh=true', { as })).json as (JsonObject & { data: JsonObject })[]
  clock.wallMs = endsAt - 30 * DAY_MS - 1000
  assert.deepEqual(await told(), [])
  clock.advance(2000)
  const [warning] = await told()
  const names = ['id', 'created_at', 'org_id', 'hash', 'kind', 'topic', 'title', 'message', 'data']
  assert.deepEqual(Object.keys(warning!), names)
  assert.deepEqual([warning!.kind, warning!.topic, warning!.data.cert_id], ['warning', 'certificate.expiry', id])
  assert.match(String(warning!.id), /^[0-9a-f]{24}$/)
  clock.advance(DAY_MS)
  assert.equal((await told())[0]!.id, warning!.id)
  clock.wallMs = endsAt - 7 * DAY_MS + 1000
  const [critical] = await told()
  assert.equal(critical!.kind, 'critical')
  assert.notEqual(critical!.id, warning!.id)
  clock.wallMs = endsAt + 2 * DAY_MS
  assert.match(String((await told())[0]!.message), /expired 2 days ago/)
  assert.deepEqual(await told(await user({ system: 'read' }, { orgId: await organisation() })), [])
  assert.equal((await call('GET', '/api/org/notifications', { as: await user({ certs: 'write' }) })).status, 403)
})

test('nodes are listed with what they run with, and nothing is limited', async (t) => {
  const { call, admin, parts, clock, user } = await world(t)
  const seen_at = new Date(clock.wall()).toISOString()
  const node = (name: string, more = {}) =>
    writeNodeStatus(parts, {
      ...{ name, hostname: `${name}.test`, version: '1', management: false, up: true, behind: false, revision: 1 },
      ...{
        loaded: 2,
        troubled: 1,
        troubles: [{ api_id: 'hidden', state: 'failed' as const, reason: 'r', revision: 0 }],
      },
      ...{ segmented: true, tags: ['eu'], started_at: seen_at, seen_at, ...more },
    })
  const load = { requests_per_second: 12.5, connections: 3, busy: 0.25, memory_bytes: 100_000_000 }
  await node('one', { load })
  await node('two', { up: false, segmented: false, tags: [], load })
  const answer = await call('GET', '/api/system/nodes', { as: admin })
  const { data } = answer.json as { data: { nodes: JsonObject[] } & JsonObject }
  assert.deepEqual(
    data.nodes.map(({ id, hostname, active, tags }) => [id, hostname, active, tags]),
    [
      [nodeDocumentId('one'), 'one.test', true, ['eu']],
      [nodeDocumentId('two'), 'two.test', false, []],
    ],
  )
  assert.deepEqual(
    [data.nodes[0]!.load, data.nodes[1]!.load],
    [load, undefined],
    'of a node that is gone there is none',
  )
  assert.deepEqual([data.active_node_count, data.nodes_available, data.nodes_remaining], [1, -1, -1])
  assert.ok(Number(data.valid_until) * 1000 > clock.wall() + 1000 * DAY_MS)
  assert.ok(!answer.text.includes('hidden'), 'APIs may be those of other organisations')
  assert.deepEqual((await call('GET', '/api/system/nodes?p=2', { as: admin })).status, 200)
  const path = `/api/system/node/${nodeDocumentId('one')}`
  const one = (await call('GET', `${path}/one.test`, { as: admin })).json as { data: JsonObject }
  assert.deepEqual(one.data.db_app_conf_options, { node_is_segmented: true, tags: ['eu'] })
  for (const wrong of [
    `${path}/two.test`,
    '/api/system/node/nonsense/one.test',
    `/api/system/node/${'f'.repeat(24)}/x`,
  ])
    assert.equal((await call('GET', wrong, { as: admin })).status, 404)
  for (const refused of ['/api/system/nodes', `${path}/one.test`, '/api/system/stats']) {
    assert.equal((await call('GET', refused)).status, 401)
    assert.equal((await call('GET', refused, { as: await user({ apis: 'read' }) })).status, 403)
  }
  clock.advance(DAY_MS)
  const later = (await call('GET', '/api/system/nodes', { as: admin })).json as { data: JsonObject }
  assert.equal(later.data.active_node_count, 0)
})

test('placement tells which nodes would load an API, why, and where nodes contradict each other', async (t) => {
  const { call, admin, parts, clock, user } = await world(t)
  const seen_at = new Date(clock.wall()).toISOString()
  const node = (name: string, more: object) =>
    writeNodeStatus(parts, {
      ...{ name, hostname: name, version: '1', management: false, up: true, behind: false, revision: 1 },
      ...{ loaded: 0, troubled: 0, troubles: [], segmented: true, tags: [], started_at: seen_at, seen_at, ...more },
    })
  await node('eu', { tags: ['eu', 'gold'] })
  await node('us', { tags: ['us'] })
  await node('bare', {})
  await node('gone', { up: false, segmented: false })
  const ask = async (query: string) => {
    const { nodes, warnings } = (await call('GET', `/api/system/placement${query}`, { as: admin })).json as {
      nodes: { node: string; loads: boolean; reason: string }[]
      warnings: string[]
    }
    return { loads: nodes.filter(({ loads }) => loads).map(({ node: name }) => name), nodes, warnings }
  }
  const both = await ask('?tags=gold,%20us')
  assert.deepEqual(both.loads, ['eu', 'us'])
  assert.deepEqual(
    both.nodes.map(({ reason }) => reason),
    ['it is segmented and has no tags: it loads nothing', 'it has the tag gold', 'it has the tag us'],
  )
  assert.deepEqual((await ask('?tags=EU')).loads, [], 'compared exactly')
  assert.deepEqual((await ask('')).loads, [])
  assert.match(both.warnings.join(), /every node is segmented/)
  await node('control', { segmented: false, management: true })
  const later = await ask('')
  assert.deepEqual(later.loads, ['control'])
  assert.match(later.warnings.join(), /^control has gateway\.management_node set/)
  assert.equal((await call('GET', '/api/system/placement')).status, 401)
  assert.equal((await call('GET', '/api/system/placement', { as: await user({ apis: 'read' }) })).status, 403)
})

test('stats count what is there today, and no other day', async (t) => {
  const { call, admin, clock } = await world(t)
  const today = new Date(clock.wall()).toISOString().slice(0, 10)
  const stats = async (query: string) => call('GET', `/api/system/stats${query}`, { as: admin })
  const all = { apis: [{ date: today, count: 0 }], dataplanes: [{ date: today, count: 0 }] }
  assert.deepEqual((await stats('')).json, {
    status: 'Success',
    message: '',
    stats: { ...all, dataplanes_gateways: [{ date: today, count: 0 }] },
  })
  const some = await stats(`?entity=apis&start_day=${today}&end_day=${today}&resolution=day`)
  assert.deepEqual((some.json as { stats: JsonObject }).stats, {
    apis: all.apis,
    dataplanes: [],
    dataplanes_gateways: [],
  })
  const past = await stats('?start_day=2001-01-01&end_day=2001-02-01')
  assert.equal(past.status, 404)
  assert.equal((past.json as { Message: string }).Message, 'Stats not found.')
  for (const wrong of ['?start_day=x', '?entity=all', '?resolution=year'])
    assert.equal((await stats(wrong)).status, 400)
})

test('who asks for a licence is told that none is needed', async (t) => {
  const { call, admin } = await world(t)
  for (const path of ['/api/licence', '/api/license']) {
    assert.equal((await call('GET', path, { as: admin })).status, 200)
    assert.equal((await call('GET', path)).status, 401)
  }
  assert.equal((await call('POST', '/license', { body: 'license=x' })).status, 200)
})

test('a new organisation has its first labels from the same commit on, and takes them with it', async (t) => {
  const { parts, store } = await world(t)
  const { organisation, revision } = await newOrganisation(parts, { owner_name: 'New' }, { actor: 'test' })
  const labels = async () =>
    (await store.documents.list('label', { where: { org_id: organisation.id }, limit: 10 })).rows
  assert.deepEqual(
    (await labels()).map((label) => label.revision),
    [revision, revision],
  )
  await deleteOrganisation(parts, organisation, 'test')
  assert.deepEqual(await labels(), [])
})
