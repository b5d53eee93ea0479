import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { assertRefused, bodyOf, dashboardFor } from '../../worlds/dashboard/people.ts'

const ORG = '5e9d9544a1dcd60001d0ed20'
const classic = (api_id: string, path: string): JsonObject => ({
  api_model: {},
  api_definition: {
    ...{ id: '65a0000000000000000000a1', api_id, name: 'Orders', slug: 'orders', org_id: ORG, active: true },
    use_keyless: true,
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    proxy: { listen_path: path, target_url: 'http://upstream.test/', strip_listen_path: true },
  },
  hook_references: [],
  user_owners: ['65a0000000000000000000b1'],
  user_group_owners: [],
})
const oas: JsonObject = {
  api_definition: { api_id: 'orders-oas', is_oas: true },
  oas: {
    openapi: '3.0.3',
    info: { title: 'Orders', version: '1' },
    paths: {},
    'x-svc-api-gateway': {
      info: { id: 'orders-oas', dbId: '65a0000000000000000000a2', orgId: ORG, name: 'Orders', state: { active: true } },
      upstream: { url: 'http://upstream.test/' },
      server: { listenPath: { value: '/orders-oas/', strip: true } },
    },
  },
}

test('APIs are imported with ids, owners and organisations; an invalid one stops no other', async (t) => {
  const dashboard = await dashboardFor(t)
  const post = (apis: unknown) => dashboard.call('POST', '/admin/apis/import', { as: 'installation', body: { apis } })
  const answer = bodyOf(await post([classic('orders', '/orders/'), { api_definition: { api_id: 'bad' } }, oas]))
  assert.deepEqual(answer, {
    ...{ Status: 'OK', Message: 'APIs imported' },
    Meta: { orders: true, bad: false, 'orders-oas': true },
  })
  const { documents } = dashboard.store
  const one = await documents.find('api', 'api_id', 'orders')
  assert.deepEqual([one?.id, one?.body.org_id], ['65a0000000000000000000a1', ORG])
  assert.deepEqual(one?.body.user_owners, ['65a0000000000000000000b1'])
  const two = await documents.find('api', 'api_id', 'orders-oas')
  assert.deepEqual([two?.id, two?.body.org_id, two?.body.format], ['65a0000000000000000000a2', ORG, 'oas'])
  assert.deepEqual(bodyOf(await post([classic('orders', '/orders/')])).Meta, { orders: false })
  for (const wrong of [undefined, {}, [7], 'x']) assertRefused(await post(wrong), 400, /^Request body is not valid/)
})

test('an import turns CORS credentials off where any origin is allowed, and reports it', async (t) => {
  const dashboard = await dashboardFor(t)
  const old = classic('orders', '/orders/')
  const CORS = { enable: true, allowed_origins: ['*'], allow_credentials: true }
  const apis = [{ ...old, api_definition: { ...(old.api_definition as JsonObject), CORS } }, oas]
  const answer = bodyOf(await dashboard.call('POST', '/admin/apis/import', { as: 'installation', body: { apis } }))
  assert.equal(
    answer.Message,
    'APIs imported; orders: CORS credentials are off, they need origins by name: "*" allows any',
  )
  assert.deepEqual(answer.Meta, { orders: true, 'orders-oas': true })
  const stored = (await dashboard.store.documents.find('api', 'api_id', 'orders'))!
  assert.equal(((stored.body.definition as JsonObject).CORS as JsonObject).allow_credentials, false)
})

test('policies are taken over with both ids, as lists show them', async (t) => {
  const dashboard = await dashboardFor(t)
  const post = (body: unknown) => dashboard.call('POST', '/admin/policies/import', { as: 'installation', body })
  const gold = { _id: '65a0000000000000000000c1', id: 'gold', name: 'Gold', org_id: ORG, rate: 1, per: 1, active: true }
  const silver = { _id: '65a0000000000000000000c2', id: '', name: 'Silver', org_id: ORG, rate: 1, per: 1, active: true }
  const answer = bodyOf(await post({ Data: [gold, silver, { _id: 'bad', rate: 'x' }], Pages: 0 }))
  assert.equal(answer.Message, 'Policies imported')
  assert.deepEqual(answer.Meta, { [gold._id]: true, [silver._id]: true, bad: false })
  const { rows } = await dashboard.store.documents.list('policy', { where: { org_id: ORG }, limit: 10 })
  assert.deepEqual(
    rows.map(({ id, body }) => [id, body._id, body.id]),
    [
      [gold._id, gold._id, 'gold'],
      [silver._id, silver._id, silver._id],
    ],
  )
  assert.deepEqual(bodyOf(await post({ Data: [gold] })).Meta, { [gold._id]: false })
})
