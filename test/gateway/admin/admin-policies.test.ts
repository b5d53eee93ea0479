import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { oasApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'

async function start(t: TestContext, env: Record<string, string> = {}): Promise<TestGateway> {
  const gate = await startTestGateway({ env })
  t.after(() => gate.close())
  return gate
}

const seen = (answer: { json: unknown }) => answer.json as JsonObject
const said = (answer: { status: number; json: unknown }) => [answer.status, seen(answer).message]

test('a policy is made, read, listed, changed and deleted', async (t) => {
  const gate = await start(t)
  assert.equal((await gate.svc('POST', '/svc/apis/oas', oasApi('a', '/a/', { id: 'a' }))).status, 200)
  assert.deepEqual((await gate.svc('GET', '/svc/policies')).json, [])
  const made = await gate.svc('POST', '/svc/policies', {
    id: 'gold',
    name: 'Gold',
    rate: 5,
    per: 1,
    access_rights: rightsOn('a'),
    x_kept: [1],
  })
  assert.deepEqual(seen(made), { key: 'gold', status: 'ok', action: 'added' })
  const read = seen(await gate.svc('GET', '/svc/policies/gold'))
  assert.match(String(read._id), /^[0-9a-f]{24}$/)
  assert.deepEqual([read.id, read.name, read.x_kept], ['gold', 'Gold', [1]])
  assert.equal(read.last_updated, String(Math.floor(gate.clock.wall() / 1000)))
  assert.deepEqual(seen(await gate.svc('GET', `/svc/policies/${read._id}`)), read)
  assert.deepEqual((await gate.svc('GET', '/svc/policies')).json, [read])
  const changed = await gate.svc('PUT', '/svc/policies/gold', { name: 'Golden', access_rights: rightsOn('a') })
  const { warnings, ...modified } = seen(changed)
  assert.deepEqual(modified, { key: 'gold', status: 'ok', action: 'modified' })
  assert.match(JSON.stringify(warnings), /the rate limit of 5 is gone/)
  const after = seen(await gate.svc('GET', '/svc/policies/gold/'))
  assert.deepEqual([after.id, after._id, after.name, after.rate], ['gold', read._id, 'Golden', undefined])
  assert.deepEqual(seen(await gate.svc('DELETE', '/svc/policies/gold')), {
    key: 'gold',
    status: 'ok',
    action: 'deleted',
  })
  assert.deepEqual(said(await gate.svc('GET', '/svc/policies/gold')), [404, 'Policy not found'])
})

test('policies that are not there or not right are refused', async (t) => {
  const gate = await start(t)
  await gate.svc('POST', '/svc/policies', { id: 'gold' })
  assert.deepEqual(said(await gate.svc('DELETE', '/svc/policies/none')), [404, 'Policy not found'])
  assert.deepEqual(said(await gate.svc('PUT', '/svc/policies/none', { id: 'none' })), [404, 'Policy not found'])
  assert.match(
    (await gate.svc('POST', '/svc/policies', { name: 'nameless' })).text,
    /Unable to create policy without id/,
  )
  assert.equal((await gate.svc('POST', '/svc/policies', { id: 'gold' })).status, 409)
  assert.equal((await gate.svc('PUT', '/svc/policies/gold', { id: 'silver' })).status, 400)
  assert.equal((await gate.svc('PUT', '/svc/policies/gold', { org_id: 'elsewhere' })).status, 400)
  for (const body of [
    { id: 'a b' },
    { id: 'a/b' },
    { id: 5 },
    { id: 'x', rate: '1' },
    { id: 'x', partitions: { per_api: true, acl: true } },
  ]) {
    const refused = await gate.svc('POST', '/svc/policies', body)
    assert.equal(refused.status, 400, JSON.stringify(body))
    assert.match(refused.text, /Policy is not valid/)
  }
  assert.equal(((await gate.svc('GET', '/svc/policies')).json as unknown[]).length, 1)
})

test('two organisations may use one id', async (t) => {
  const gate = await start(t)
  for (const org of ['one', 'two'])
    assert.equal((await gate.svc('POST', `/svc/policies?org_id=${org}`, { id: 'gold', name: org })).status, 200)
  const either = await gate.svc('GET', '/svc/policies/gold')
  assert.equal(either.status, 400)
  assert.match(either.text, /org_id/)
  assert.equal(seen(await gate.svc('GET', '/svc/policies/gold?org_id=two')).name, 'two')
  assert.equal((await gate.svc('GET', '/svc/policies/gold?org_id=three')).status, 404)
  assert.equal((await gate.svc('DELETE', '/svc/policies/gold?org_id=one')).status, 200)
  assert.equal(seen(await gate.svc('GET', '/svc/policies/gold')).name, 'two')
  assert.equal((await gate.svc('POST', '/svc/policies?org_id=one', { id: 'x', org_id: 'two' })).status, 400)
  assert.equal(((await gate.svc('GET', '/svc/policies?org_id=two')).json as unknown[]).length, 1)
})

test('a storage id that comes with a policy is kept, unless it is in use', async (t) => {
  const gate = await start(t)
  const _id = '0123456789abcdef01234567'
  assert.equal(seen(await gate.svc('POST', '/svc/policies', { _id })).key, _id)
  assert.equal(seen(await gate.svc('GET', `/svc/policies/${_id}`)).id, _id)
  assert.equal((await gate.svc('POST', '/svc/policies', { _id, id: 'other' })).status, 409)
})

test('without allow_explicit_policy_id the storage id stands for the id', async (t) => {
  const gate = await start(t, { SVC_GW_ALLOWEXPLICITPOLICYID: 'false' })
  const made = seen(await gate.svc('POST', '/svc/policies', { id: 'mine', name: 'x' }))
  assert.match(String(made.key), /^[0-9a-f]{24}$/)
  assert.equal((await gate.svc('GET', '/svc/policies/mine')).status, 404)
  assert.equal(seen(await gate.svc('GET', `/svc/policies/${made.key}`)).id, made.key)
})

test('lists are paged on request', async (t) => {
  const gate = await start(t)
  for (let index = 0; index < 103; index++) await gate.svc('POST', '/svc/policies', { id: `p${index}` })
  const pages = await Promise.all([1, 2, 3].map((p) => gate.svc('GET', `/svc/policies?p=${p}`)))
  assert.deepEqual(
    pages.map(({ json }) => (json as unknown[]).length),
    [100, 3, 0],
  )
  assert.equal(pages[0]?.headers['x-pages'], '2')
  assert.equal(((await gate.svc('GET', '/svc/policies')).json as unknown[]).length, 103)
})

test('an id that two organisations use for a policy is ambiguous, and each finds its own', async (t) => {
  const gate = await start(t)
  const ours = { org_id: 'ours', rate: 1, per: 1 }
  assert.equal((await gate.svc('POST', '/svc/policies', { ...ours, id: 'gold', name: 'ours' })).status, 200)
  const { _id } = seen(await gate.svc('GET', '/svc/policies/gold'))
  for (const id of ['gold', String(_id)]) {
    assert.equal((await gate.svc('POST', '/svc/policies', { id, org_id: 'theirs', name: 'theirs' })).status, 200)
    for (const method of ['GET', 'DELETE']) {
      const answer = await gate.svc(method, `/svc/policies/${id}`)
      assert.deepEqual(said(answer), [400, `several organisations have a policy ${id}: name one with org_id`])
    }
    for (const org of ['ours', 'theirs'])
      assert.equal(seen(await gate.svc('GET', `/svc/policies/${id}?org_id=${org}`)).name, org)
  }
  assert.equal((await gate.svc('POST', '/svc/policies', { ...ours, id: String(_id), name: 'intruder' })).status, 409)
})
