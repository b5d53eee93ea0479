import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { labelConditions } from '../../../src/dashboard/labels/label-filter.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { defaultLabels } from '../../../src/publish/labels/labels.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Documents } from '../../../src/store/ports/ports.ts'
import { startTestDashboard, type TestDashboardOptions } from '../../worlds/dashboard/harness.ts'

interface Shape {
  id: string
  name: string
  key: string
  values: string[]
  value_type: string
}

async function world(t: TestContext, options: TestDashboardOptions = {}) {
  const dashboard = await startTestDashboard(options)
  t.after(dashboard.close)
  const admin = await dashboard.admin()
  const { call, parts, orgId } = dashboard
  return {
    ...dashboard,
    admin,
    async label(body: object): Promise<Shape> {
      const answer = await call('POST', '/api/labels/', { as: admin, body })
      assert.equal(answer.status, 200, answer.text)
      return answer.json as Shape
    },
    async api(apiId: string, org = orgId) {
      const definition = {
        ...{ api_id: apiId, name: apiId, org_id: org, active: true, use_keyless: true },
        proxy: { listen_path: `/${apiId}/`, target_url: 'http://127.0.0.1:1/' },
        version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
      }
      return publishApi(parts, { format: 'classic', definition, actor: 'test' })
    },
  }
}

test('a label is created with X-API-Key, listed, read, changed and deleted', async (t) => {
  const { call, admin, user } = await world(t)
  const body = { name: 'Compliance Level', values: ['PCI-DSS', 'GDPR', 'GDPR'] }
  const made = await call('POST', '/api/labels/', { headers: { 'X-API-Key': admin.key }, body })
  assert.equal(made.status, 200)
  const label = made.json as Shape
  assert.deepEqual(Object.keys(label).slice(0, 3), ['id', 'name', 'values'])
  assert.deepEqual(
    [label.name, label.key, label.values, label.value_type],
    ['Compliance Level', 'compliance_level', ['PCI-DSS', 'GDPR'], 'predefined'],
  )
  const reader = await user({ apis: 'read' })
  assert.deepEqual((await call('GET', `/api/labels/${label.id}`, { as: reader })).json, label)
  assert.deepEqual((await call('GET', '/api/labels', { as: reader })).json, { labels: [label], pages: 1 })
  assert.deepEqual((await call('GET', '/api/labels?p=-1', { as: reader })).json, { labels: [label], pages: 0 })
  const changed = await call('PUT', `/api/labels/${label.id}`, { as: admin, body: { name: 'Rules', values: [] } })
  assert.deepEqual(changed.json, { ...label, name: 'Rules', values: [], value_type: 'free_text' })
  const gone = await call('DELETE', `/api/labels/${label.id}`, { as: admin })
  assert.deepEqual(gone.json, { Status: 'OK', Message: 'Label deleted', Meta: null })
  assert.equal((await call('GET', `/api/labels/${label.id}`, { as: reader })).status, 404)
})

test('a label that is not valid, taken, or not for the caller is refused and nothing is stored', async (t) => {
  const { call, admin, user, label, organisation } = await world(t)
  const writer = await user({ apis: 'write' })
  const other = await user({ IsAdmin: 'admin' }, { orgId: await organisation() })
  const { id } = await label({ name: 'Team', values: ['a'] })
  for (const body of [
    {},
    { name: '' },
    { name: 'x'.repeat(129) },
    { name: 'a\u0000b' },
    { name: '!!!' },
    { name: 'ok', values: 'a' },
    { name: 'ok', values: [1] },
    { name: 'ok', values: [''] },
    { name: 'ok', key: 'Not Snake' },
    { name: 'ok', key: 'a=b' },
    { name: 'ok', value_type: 'predefined' },
    { name: 'ok', value_type: 'free_text', values: ['a'] },
    { name: 'ok', values: Array.from({ length: 501 }, (_, i) => `${i}`) },
  ])
    assert.equal((await call('POST', '/api/labels', { as: admin, body })).status, 400, JSON.stringify(body))
  assert.equal((await call('POST', '/api/labels', { as: admin, body: '{' })).status, 403)
  for (const body of [{ name: 'team' }, { name: 'TEAM ' }, { name: 'Other', key: 'team' }])
    assert.equal((await call('POST', '/api/labels', { as: admin, body })).status, 409, JSON.stringify(body))
  const body = { name: 'New' }
  assert.equal((await call('POST', '/api/labels', { body })).status, 401)
  assert.equal((await call('POST', '/api/labels', { headers: { 'X-API-Key': 'no-such' }, body })).status, 401)
  assert.equal((await call('POST', '/api/labels', { as: writer, body })).status, 403)
  assert.equal((await call('PUT', `/api/labels/${id}`, { as: writer, body })).status, 403)
  assert.equal((await call('DELETE', `/api/labels/${id}`, { as: writer })).status, 403)
  assert.equal((await call('PUT', `/api/labels/${id}`, { as: admin, body: { key: 'other' } })).status, 400)
  for (const path of [`/api/labels/${id}`, '/api/labels/nonsense', '/api/labels/aaaaaaaaaaaaaaaaaaaaaaaa']) {
    assert.equal((await call('GET', path, { as: other })).status, 404, path)
    assert.equal((await call('PUT', path, { as: other, body })).status, 404, path)
    assert.equal((await call('DELETE', path, { as: other })).status, 404, path)
  }
  // the name is free in another organisation
  assert.equal((await call('POST', '/api/labels', { as: other, body: { name: 'Team' } })).status, 200)
  const { json } = await call('GET', '/api/labels', { as: admin })
  assert.deepEqual(
    (json as { labels: Shape[] }).labels.map(({ name }) => name),
    ['Team'],
  )
})

test('labels are applied to an API under both paths and in every shape, and taken off', async (t) => {
  const { call, user, label, api } = await world(t)
  await label({ name: 'Business Domain' })
  await label({ name: 'API Criticality', values: ['Tier 1', 'Tier 2'] })
  const { id } = await api('orders')
  const writer = await user({ apis: 'write' })
  const apply = (path: string, body: unknown) => call('POST', path, { as: writer, body })
  const domain = (value: string) => ({ key: 'business_domain', value })
  const criticality = (value: string) => ({ key: 'api_criticality', value })
  const shapes: [path: string, body: unknown, after: object[]][] = [
    ['/api/orders/labels', domain('Finance'), [domain('Finance')]],
    ['/api/apis/orders/labels/', { name: 'business domain', value: 'Sales' }, [domain('Sales')]],
    [`/api/apis/${id}/labels`, [criticality('Tier 1')], [domain('Sales'), criticality('Tier 1')]],
    [
      `/api/${id}/labels`,
      { labels: { business_domain: 'HR', 'API Criticality': 'Tier 2' } },
      [domain('HR'), criticality('Tier 2')],
    ],
    ['/api/orders/labels', { labels: [domain('Finance')] }, [domain('Finance'), criticality('Tier 2')]],
  ]
  for (const [path, body, after] of shapes) {
    const answer = await apply(path, body)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(answer.json, after)
    assert.deepEqual((await call('GET', '/api/orders/labels', { as: writer })).json, after)
  }
  assert.equal((await call('DELETE', '/api/apis/orders/labels/api_criticality', { as: writer })).status, 200)
  assert.equal((await call('DELETE', '/api/apis/orders/labels/api_criticality', { as: writer })).status, 404)
  assert.deepEqual((await call('GET', `/api/apis/${id}/labels`, { as: writer })).json, [domain('Finance')])
  assert.deepEqual((await call('GET', '/api/apis/labels', { as: writer })).json, {
    labels: [{ key: 'business_domain', values: [{ value: 'Finance', count: 1 }] }],
  })
})

test('a label that is not defined, not allowed, or not for the caller is not applied', async (t) => {
  const { call, admin, user, organisation, label, api } = await world(t, { env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  await label({ name: 'Tier', values: ['1'] })
  const { id } = await api('mine')
  const bad = [
    {},
    [],
    { key: 'tier' },
    { key: 'tier', value: '2' },
    { key: 'none', value: '1' },
    { labels: {} },
    'tier',
  ]
  for (const body of [
    ...bad,
    { key: 'tier', value: 1 },
    [
      { key: 'tier', value: '1' },
      { key: 'none', value: '1' },
    ],
  ])
    assert.equal((await call('POST', '/api/mine/labels', { as: admin, body: JSON.stringify(body) })).status, 400)
  const body = { key: 'tier', value: '1' }
  const reader = await user({ apis: 'read' })
  assert.equal((await call('POST', '/api/mine/labels', { as: reader, body })).status, 403)
  assert.equal((await call('DELETE', '/api/mine/labels/tier', { as: reader })).status, 403)
  assert.equal((await call('POST', '/api/mine/labels', { body })).status, 401)
  const foreign = await user({ IsAdmin: 'admin' }, { orgId: await organisation() })
  assert.equal((await call('POST', '/api/mine/labels', { as: foreign, body })).status, 404)
  assert.equal((await call('GET', `/api/${id}/labels`, { as: foreign })).status, 404)
  assert.equal((await call('POST', '/api/absent/labels', { as: admin, body })).status, 404)
  assert.deepEqual((await call('GET', '/api/mine/labels', { as: reader })).json, [])
})

test('with ownership on only an owner applies labels, by either id', async (t) => {
  const { call, user, label, api, parts } = await world(t, { env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  await label({ name: 'Tier' })
  const { id } = await api('mine')
  const owner = await user({ apis: 'write' })
  const other = await user({ apis: 'write' })
  const stored = (await parts.documents.get('api', id))!
  await parts.documents.commit(
    [{ op: 'put', kind: 'api', id, body: { ...stored.body, user_owners: [owner.id] } }],
    undefined,
  )
  const body = { key: 'tier', value: '1' }
  for (const path of ['/api/mine/labels', `/api/apis/${id}/labels`]) {
    assert.equal((await call('POST', path, { as: other, body })).status, 401, path)
    assert.equal((await call('GET', path, { as: other })).status, 401, path)
    assert.equal((await call('DELETE', `${path}/tier`, { as: other })).status, 401, path)
    assert.equal((await call('POST', path, { as: owner, body })).status, 200, path)
  }
  assert.deepEqual((await call('GET', '/api/apis/labels', { as: other })).json, { labels: [] })
})

test('a label in use keeps the values that APIs carry, and cannot be deleted', async (t) => {
  const { call, admin, label, api } = await world(t)
  const { id } = await label({ name: 'Tier', values: ['1', '2'] })
  await label({ name: 'Tier Two' })
  await api('orders')
  await call('POST', '/api/orders/labels', { as: admin, body: { key: 'tier', value: '2' } })
  const change = (values: string[]) => call('PUT', `/api/labels/${id}`, { as: admin, body: { values } })
  assert.equal((await change(['1'])).status, 409)
  assert.equal((await call('DELETE', `/api/labels/${id}`, { as: admin })).status, 409)
  assert.equal((await change(['2', '3'])).status, 200)
  assert.equal((await change([])).status, 200)
  assert.equal((await change(['9'])).status, 409)
  await call('DELETE', '/api/orders/labels/tier', { as: admin })
  assert.equal((await change(['9'])).status, 200)
  assert.equal((await call('DELETE', `/api/labels/${id}`, { as: admin })).status, 200)
})

test('an organisation begins with two labels', async (t) => {
  const { call, admin, parts, orgId } = await world(t)
  await parts.documents.commit(defaultLabels(orgId, parts.clock.wall()), undefined)
  const { labels } = (await call('GET', '/api/labels', { as: admin })).json as { labels: Shape[] }
  assert.deepEqual(
    labels.map(({ name, key, values }) => [name, key, values]),
    [
      ['API Criticality', 'api_criticality', ['Tier 1', 'Tier 2', 'Tier 3']],
      ['Business Domain', 'business_domain', []],
    ],
  )
})

test('APIs are filtered by labels in the store: no row is read that is not answered', async (t) => {
  const store = openMemoryStore()
  t.after(() => store.close())
  let rowsRead = 0
  const documents: Documents = {
    ...store.documents,
    async list(kind, query) {
      const found = await store.documents.list(kind, query)
      if (kind === 'api') rowsRead += found.rows.length
      return found
    },
    scan: () => assert.fail('the store was scanned'),
  }
  const { call, admin, label, api } = await world(t, { store: { ...store, documents } })
  await label({ name: 'Domain' })
  await label({ name: 'Tier' })
  for (let i = 0; i < 60; i++) {
    await api(`api-${i}`)
    const body = [
      { key: 'domain', value: ['Finance', 'Sales', 'HR'][i % 3] },
      { key: 'tier', value: `${i % 4}` },
    ]
    assert.equal((await call('POST', `/api/api-${i}/labels`, { as: admin, body })).status, 200)
  }
  const found = async (labels: string[], q = '') => {
    rowsRead = 0
    const query = new URLSearchParams([...labels.map((each) => ['labels', each]), ['q', q]] as string[][])
    const answer = await call('GET', `/api/apis/?${query}`, { as: admin })
    const { apis, pages } = answer.json as { apis: { api_definition: { api_id: string } }[]; pages: number }
    assert.equal(rowsRead, apis.length)
    return { ids: apis.map(({ api_definition: { api_id } }) => Number(api_id.slice(4))), pages }
  }
  const both = await found(['domain:Finance', 'tier:1'])
  assert.deepEqual(
    both.ids.sort((a, b) => a - b),
    [9, 21, 33, 45, 57],
  )
  const either = await found(['domain:Finance', 'tier:1', 'domain:Sales'])
  assert.equal(either.pages, 1)
  assert.equal(either.ids.length, 10)
  assert.ok(either.ids.every((i) => i % 4 === 1 && i % 3 < 2))
  assert.deepEqual((await found(['domain:Nothing'])).ids, [])
  assert.equal((await found([], 'fINAnc')).pages, 2)
  assert.equal((await call('GET', '/api/apis?labels=domain', { as: admin })).status, 400)
})

test('labels of one key are alternatives, of several keys conditions', async () => {
  const keys = new Map([
    ['Tier', 'tier'],
    ['tier', 'tier'],
    ['cost: center', 'cost'],
  ])
  const conditions = (given: string[]) => labelConditions(given, async (named) => keys.get(named))
  assert.deepEqual(await conditions(['a:1', 'b:x:y', 'a:2', '']), [{ label: ['a=1', 'a=2'] }, { label: ['b=x:y'] }])
  assert.deepEqual(await conditions(['Tier:1', 'tier:2:3', 'cost: center:4:5', 'cost: 6']), [
    { label: ['tier=1', 'tier=2:3'] },
    { label: ['cost=4:5', 'cost=6'] },
  ])
  for (const wrong of ['a', 'a:', ':1']) await assert.rejects(conditions([wrong]), { code: 'query_invalid' })
})

test('a query looks up a bounded number of labels', async (t) => {
  const store = openMemoryStore()
  t.after(() => store.close())
  let finds = 0
  const documents: Documents = {
    ...store.documents,
    find(kind, ...more) {
      if (kind === 'label') finds++
      return store.documents.find(kind, ...more)
    },
  }
  const { call, admin } = await world(t, { store: { ...store, documents } })
  const ask = async (count: number) => {
    const query = new URLSearchParams(Array.from({ length: count }, (_, i) => ['labels', `${i}:b:c:d:e:f:g:h:i:j`]))
    return (await call('GET', `/api/apis?${query}`, { as: admin })).status
  }
  assert.deepEqual([await ask(50), await ask(51), await ask(2000)], [200, 400, 400])
  assert.ok(finds > 0 && finds <= 1000, `${finds} labels were looked up`)
})

test('lists of APIs are filtered by the display name of a label as by its key', async (t) => {
  const { call, admin, label, api } = await world(t)
  await label({ name: 'Business Domain' })
  await label({ name: 'Cost: Center', key: 'cost' })
  for (const id of ['one', 'two']) await api(id)
  for (const [id, domain, cost] of [
    ['one', 'HR', '7:1'],
    ['two', 'Sales', '7:2'],
  ])
    await call('POST', `/api/${id}/labels`, { as: admin, body: { labels: { business_domain: domain, cost } } })
  for (const filter of [
    ...['business_domain:HR', 'Business Domain:HR', 'BUSINESS domain : HR', 'Cost: Center:7:1', 'cost:7:1'],
  ]) {
    for (const path of ['/api/apis', '/api/apis/search']) {
      const { json } = await call('GET', `${path}?labels=${encodeURIComponent(filter)}`, { as: admin })
      const { apis } = json as { apis: { api_definition: { api_id: string } }[] }
      assert.deepEqual(
        apis.map((row) => row.api_definition.api_id),
        ['one'],
        `${path} ${filter}`,
      )
    }
  }
})
