import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { OAuthClient } from '../../../src/model/oauth-clients/oauth-client.ts'
import { epochAt } from '../../../src/model/oauth-clients/oauth-registration.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { removeApi } from '../../../src/publish/apis/apis.ts'
import { apisOfClient, listClients } from '../../../src/publish/oauth-clients/oauth-client-lists.ts'
import {
  createClient,
  deleteClient,
  endAllTokens,
  registeredAt,
  rotateClient,
  updateClient,
} from '../../../src/publish/oauth-clients/oauth-clients.ts'
import { removePolicy } from '../../../src/publish/policies/policies.ts'
import { actor, made, now, opened, REDIRECT, refused, sweepsEnded } from '../../worlds/publish/client-world.ts'
import { putPolicy, putToken } from '../../worlds/publish/stored.ts'

test('a client of one API is listed only there; one of a policy at every OAuth API of the policy', async (t) => {
  const parts = await opened(t)
  const single = (await made(parts)).client
  const { client } = await createClient(parts, { body: { policy_id: 'gold', redirect_uri: REDIRECT }, actor })
  assert.equal(client.registered_by_policy, 'gold')
  const at = (who: OAuthClient, apiId: string, orgId = '') =>
    registeredAt(who, { apiId, orgId }, () => ({ access_rights: { orders: { api_id: 'orders' } } }))
  assert.deepEqual([at(single, 'orders'), at(single, 'stock'), at(single, 'orders', 'other')], [true, false, false])
  assert.deepEqual([at(client, 'orders'), at(client, 'stock')], [true, false])
  assert.deepEqual(await apisOfClient(parts, client.client_id, ''), ['orders', 'stock'])
  assert.deepEqual(await apisOfClient(parts, single.client_id, ''), ['orders'])
  assert.deepEqual(await apisOfClient(parts, 'nobody', ''), [])
  await putPolicy(parts.store, 'closed', ['open'])
  await assert.rejects(
    createClient(parts, { body: { policy_id: 'closed', redirect_uri: REDIRECT }, actor }),
    refused('query_invalid', /API is not OAuth2/),
  )
  await assert.rejects(
    updateClient(parts, client, { body: { redirect_uri: REDIRECT }, actor }),
    refused('oauth_client_invalid', /policy_id/),
  )
})

test('the same id at a further API is a registration of its own, and taken at the same one', async (t) => {
  const parts = await opened(t)
  const { client, secret } = await made(parts, { client_id: 'app', secret: 'the-secret' })
  const further = { client_id: 'app', api_id: 'stock', redirect_uri: 'https://b.example/' }
  await assert.rejects(made(parts, { ...further, api_id: 'orders', secret }), refused('id_taken', /app/))
  const second = await made(parts, further)
  assert.notEqual(second.secret, secret)
  assert.equal(second.client.registration_id, 'stock')
  assert.deepEqual([second.client.api_ids, second.client.redirect_uris], [['stock'], ['https://b.example/']])
  await assert.rejects(made(parts, further), refused('id_taken', /app/))
  const byPolicy = { client_id: 'app', policy_id: 'gold', redirect_uri: REDIRECT }
  await assert.rejects(made(parts, byPolicy), refused('id_taken', /app/))
  assert.deepEqual((await now(parts, 'app'))?.api_ids, ['orders'])
  await deleteClient(parts, second.client, { apiId: 'stock', actor })
  assert.deepEqual(await now(parts, 'app'), client)
  assert.equal(await deleteClient(parts, second.client, { apiId: 'stock', actor }), undefined)
  await deleteClient(parts, client, { apiId: 'orders', actor })
  assert.equal(await now(parts, 'app'), undefined)
})

test('a registration at several APIs that loses one ends the tokens of that one only', async (t) => {
  const parts = await opened(t)
  const { client } = await made(parts, { client_id: 'app', api_ids: ['orders', 'stock'], api_id: '' })
  for (const apiId of ['orders', 'stock'])
    await putToken(parts, `token-${apiId}`, { clientId: 'app', epoch: client.epoch, apiId })
  await deleteClient(parts, client, { apiId: 'stock', actor })
  await sweepsEnded(parts)
  assert.equal(await parts.tokens.getSession(hashKey('token-stock')), undefined)
  assert.ok(await parts.tokens.getSession(hashKey('token-orders')))
  const moved = { apiIds: ['orders', 'stock'], secret: '' }
  const { client: again } = await updateClient(parts, client, { body: { redirect_uri: REDIRECT }, moved, actor })
  assert.deepEqual([epochAt(again, 'orders'), again.api_ids], [client.epoch, ['orders', 'stock']])
  assert.notEqual(epochAt(again, 'stock'), client.epoch)
})

test('a deleted client’s tokens are revoked, and a new one of its id has another epoch', async (t) => {
  const parts = await opened(t)
  const { client } = await made(parts, { client_id: 'app' })
  await putToken(parts, 'token-1', { clientId: 'app', epoch: client.epoch, apiId: 'orders' })
  assert.ok(await deleteClient(parts, { client_id: 'app' }, { actor }))
  await sweepsEnded(parts)
  assert.equal(await parts.tokens.getSession(hashKey('token-1')), undefined)
  assert.equal(await deleteClient(parts, { client_id: 'app' }, { actor }), undefined)
  const { client: next } = await made(parts, { client_id: 'app' })
  assert.notEqual(next.epoch, client.epoch)
})

test('a deleted API leaves its clients, ends tokens, and deletes clients without API', async (t) => {
  const parts = await opened(t)
  const { client: only } = await made(parts)
  const { client: two } = await createClient(parts, {
    body: { api_ids: ['orders', 'stock'], redirect_uri: REDIRECT },
    actor,
  })
  const { client: byPolicy } = await createClient(parts, { body: { policy_id: 'gold', redirect_uri: REDIRECT }, actor })
  const { client: other } = await made(parts, { api_id: 'stock' })
  for (const each of [only, two, byPolicy, other])
    await putToken(parts, each.client_id, { clientId: each.client_id, epoch: each.epoch, apiId: 'orders' })
  await removeApi(parts, { apiId: 'orders', actor })
  await sweepsEnded(parts)
  assert.equal(await now(parts, only.client_id), undefined)
  assert.deepEqual((await now(parts, two.client_id))?.api_ids, ['stock'])
  const still = await now(parts, byPolicy.client_id)
  assert.notEqual(epochAt(still!, 'orders'), byPolicy.epoch)
  assert.equal(epochAt(still!, 'stock'), byPolicy.epoch)
  assert.deepEqual(await now(parts, other.client_id), other)
  const left = [only, two, byPolicy, other].map(
    async (each) => (await parts.tokens.getSession(hashKey(each.client_id))) !== undefined,
  )
  assert.deepEqual(await Promise.all(left), [false, false, false, true])
})

test('a deleted policy ends the tokens of its clients, and deletes those registered by it', async (t) => {
  const parts = await opened(t)
  const { client: named } = await made(parts, { policies: ['gold', 'silver'] })
  const { client: byPolicy } = await createClient(parts, { body: { policy_id: 'gold', redirect_uri: REDIRECT }, actor })
  const { client: free } = await made(parts)
  for (const each of [named, byPolicy, free])
    await putToken(parts, each.client_id, { clientId: each.client_id, epoch: each.epoch, apiId: 'orders' })
  await removePolicy(parts, { id: 'gold' }, actor)
  await sweepsEnded(parts)
  const after = await now(parts, named.client_id)
  assert.notEqual(after?.epoch, named.epoch)
  // Without any policy, key_rules would apply alone: the id stays, and the client gets no access by it.
  assert.deepEqual(after?.policies, ['gold', 'silver'])
  assert.equal(await now(parts, byPolicy.client_id), undefined)
  assert.deepEqual(await now(parts, free.client_id), free)
  assert.equal(await parts.tokens.getSession(hashKey(named.client_id)), undefined)
  assert.ok(await parts.tokens.getSession(hashKey(free.client_id)))
})

test('pages of a list are those of the whole list, whatever clients are registered by', async (t) => {
  const parts = await opened(t)
  const ids: string[] = []
  for (let i = 0; i < 7; i++) ids.push((await made(parts)).client.client_id)
  for (let i = 0; i < 5; i++) {
    const body = { policy_id: 'gold', redirect_uri: REDIRECT }
    ids.push((await createClient(parts, { body, actor })).client.client_id)
  }
  await made(parts, { api_id: 'stock' })
  const api = { apiId: 'orders', orgId: '' }
  const page = async (offset: number, limit: number) =>
    (await listClients(parts, api, { offset, limit })).clients.map(({ client_id }) => client_id)
  const whole = await page(0, 100)
  assert.deepEqual([...whole].sort(), [...ids].sort())
  assert.equal((await listClients(parts, api, { offset: 3, limit: 2 })).total, 12)
  await fc.assert(
    fc.asyncProperty(fc.nat(14), fc.integer({ min: 1, max: 14 }), async (offset, limit) => {
      assert.deepEqual(await page(offset, limit), whole.slice(offset, offset + limit))
    }),
    { numRuns: 60 },
  )
})

test('changes side by side are all kept', async (t) => {
  const parts = await opened(t)
  const { client } = await made(parts)
  const clientId = client.client_id
  await Promise.all([
    rotateClient(parts, { client_id: clientId }, { overlapS: 60, actor }),
    endAllTokens(parts, client, actor),
    updateClient(parts, { client_id: clientId }, { body: { redirect_uri: REDIRECT, description: 'new' }, actor }),
  ])
  const after = await now(parts, clientId)
  assert.equal(after?.secrets.length, 2)
  assert.notEqual(after?.epoch, client.epoch)
  assert.equal(after?.description, 'new')
})

test('of many registrations of one id at once, one is made', async (t) => {
  const parts = await opened(t)
  const tries = await Promise.allSettled(Array.from({ length: 20 }, () => made(parts, { client_id: 'app' })))
  assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1)
})
