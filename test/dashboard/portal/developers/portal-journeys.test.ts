import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../../src/model/json/json.ts'
import type { TestUser } from '../../../worlds/dashboard/harness.ts'
import { keyWorld } from '../../../worlds/dashboard/key-world.ts'
import { CATALOGUE, hashOf } from '../../../worlds/portal/portal-requests-world.ts'

// The calls of portals that people run, in their order, with the members that each of them reads.

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const BCRYPT = '$2y$10$vI8aWBnW3fID.ZQ4/zo1G.q1lRps.9cGLcZEiGDMVr5yUP1KUOYTa'

async function world(t: TestContext) {
  const made = await keyWorld(t)
  const { call, root } = made
  await made.api('orders')
  await made.policy('gold', ['orders'], { tags: ['website'] })
  await made.policy('inner', ['orders'])
  const send =
    (headers: Record<string, string>) =>
    async (
      method: string,
      path: string,
      body?: unknown,
    ): Promise<{ status: number; json: JsonObject; text: string }> => {
      const answer = await call(method, path, { as: root, headers, ...(body !== undefined && { body }) })
      return { status: answer.status, json: answer.json as JsonObject, text: answer.text }
    }
  return { ...made, json: send({ 'content-type': 'application/json' }), form: send(FORM) }
}

const DAYS = '1/1/2023/31/12/2023'

test('WordPress: policies by tag, sign-up, request, approval, hash, usage, revocation', async (t) => {
  const { json } = await world(t)
  const { Data: policies } = (await json('GET', '/api/portal/policies?p=-1')).json as { Data: JsonObject[] }
  const products = policies.filter(({ tags }) => (tags as string[]).includes('website'))
  assert.deepEqual(
    products.map(({ id }) => id),
    ['gold'],
  )
  const policyId = String(products[0]!._id)
  assert.ok(Array.isArray((await json('GET', '/api/apis')).json.apis))
  const user = { email: 'word@press.test', password: BCRYPT, fields: { Name: 'Word Press' }, org_id: '' }
  const developerId = (await json('POST', '/api/portal/developers', user)).json.Message
  // the key is asked for by the storage id of the policy, and approved by the plugin itself
  const wish = { by_user: developerId, for_plan: policyId, version: 'v2', date_created: '2024-01-01T00:00:00+01:00' }
  const request = await json('POST', '/api/portal/requests', { ...wish, apply_policies: [policyId] })
  assert.equal(request.json.Status, 'OK')
  const approved = await json('PUT', `/api/portal/requests/approve/${request.json.Message}`)
  const rawKey = approved.json.RawKey
  assert.equal(typeof rawKey, 'string')
  const developer = (await json('GET', `/api/portal/developers/${developerId}`)).json
  const hash = (developer.subscriptions as JsonObject).gold
  assert.equal(hash, hashOf(rawKey))
  assert.deepEqual(developer.keys, { [String(hash)]: ['gold'] })
  const key = await json('GET', `/api/apis/orders/keys/${hash}?hashed=1`)
  assert.equal(key.status, 200)
  assert.equal((key.json.data as JsonObject).alias, 'word@press.test')
  const usage = await json('GET', `/api/activity/keys/aggregate/${hash},/${DAYS}?p=-1&res=day`)
  assert.deepEqual([usage.status, Array.isArray(usage.json.data)], [200, true])
  // the first segment may be the policy
  const gone = await json('DELETE', `/api/portal/developers/key/${policyId}/${hash}/${developerId}`)
  assert.deepEqual([gone.status, gone.json.Status], [200, 'OK'])
  const after = (await json('GET', `/api/portal/developers/${developerId}`)).json
  assert.deepEqual([after.subscriptions, after.keys], [{}, {}])
})

test('Ruby: look-up on every request, sign-up, verification, request, approval, usage', async (t) => {
  const { json, orgId, root, call } = await world(t)
  await json('POST', CATALOGUE, { org_id: orgId })
  const entry = { name: 'Orders', short_description: 's', long_description: 'l', show: true, policy_id: 'gold' }
  await json('PUT', CATALOGUE, { org_id: orgId, apis: [{ ...entry, api_id: '', documentation: '', version: 'v2' }] })
  const email = encodeURIComponent('Ruby@Portal.test')
  const lookUp = () => json('GET', `/api/portal/developers/email/${email}`)
  assert.notEqual((await lookUp()).status, 200)
  const configuration = (await json('GET', '/api/portal/configuration/')).json
  assert.deepEqual([configuration.signup_fields, configuration.require_key_approval], [[], false])
  const signUp = { email: 'ruby@portal.test', password: 'secret words here', inactive: false, fields: { Name: 'Ruby' } }
  const id = (await json('POST', '/api/portal/developers/', signUp)).json.Message
  const verified = await json('POST', '/api/portal/developers/verify_credentials', {
    ...{ username: 'RUBY@portal.test', password: 'secret words here' },
  })
  assert.equal(verified.status, 200)
  const wrong = { username: 'ruby@portal.test', password: 'other words' }
  assert.equal((await call('POST', '/api/portal/developers/verify_credentials', { as: root, body: wrong })).status, 401)
  const developer = (await lookUp()).json
  assert.deepEqual(
    [developer.id, (developer.fields as JsonObject).Name, developer.subscriptions, developer.keys, developer.api_keys],
    [id, 'Ruby', {}, {}, {}],
  )
  const [offer] = (await json('GET', CATALOGUE)).json.apis as JsonObject[]
  assert.deepEqual([offer!.name, offer!.policy_id, offer!.version, offer!.is_keyless], ['Orders', 'gold', 'v2', false])
  const wish = { by_user: id, for_plan: offer!.policy_id, version: 'v2', fields: { Project: 'x' } }
  const request = (await json('POST', '/api/portal/requests', wish)).json.Message
  assert.ok((await json('PUT', `/api/portal/requests/approve/${request}`)).json.RawKey)
  const keys = Object.values((await lookUp()).json.subscriptions as JsonObject)
  const path = `/api/activity/keys/aggregate/${keys.join(',')},/${DAYS}?p=-1&res=day&api_id=gold`
  const usage = await json('GET', path)
  assert.equal(usage.status, 200, usage.text)
  assert.ok(Array.isArray(usage.json.data))
  assert.equal((await json('GET', `/api/usage/apis/${DAYS}?p=-1`)).status, 200)
})

test('Node: requests and developers, all paths with a slash at their ends', async (t) => {
  const { json, call } = await world(t)
  const id = String(
    (await json('POST', '/api/portal/developers/', { email: 'n@ode.test', password: 'some words here' })).json.Message,
  )
  await json('PUT', '/api/portal/configuration/', { require_key_approval: true })
  const made = await json('POST', '/api/portal/requests/', { by_user: id, apply_policies: ['gold'], fields: {} })
  assert.deepEqual([made.status, made.json.Meta], [200, null])
  const path = `/api/portal/requests/${made.json.Message}/`
  const one = await json('GET', path)
  assert.deepEqual([one.status, one.json.approved, one.json.by_user], [200, false, id])
  const { Data, Pages } = (await json('GET', '/api/portal/requests/?p=1')).json
  assert.deepEqual([(Data as JsonObject[]).length, Pages], [1, 1])
  assert.equal((await json('PUT', path, { ...one.json, fields: { a: 'b' } })).json.Message, 'Data updated')
  assert.deepEqual((await json('GET', path)).json.fields, { a: 'b' })
  assert.ok((await json('PUT', `/api/portal/requests/approve/${made.json.Message}/`)).json.RawKey)
  const byId = await json('GET', `/api/portal/developers/${id}/`)
  const byEmail = await json('GET', '/api/portal/developers/email/n%40ode.test/')
  assert.deepEqual(byId.json, byEmail.json)
  const holders = await json('GET', '/api/portal/developers/api/orders/')
  assert.equal(holders.status, 200)
  assert.ok(holders.text.includes(id))
  const changed = { ...byId.json, fields: { Name: 'N' } }
  assert.equal((await json('PUT', `/api/portal/developers/${id}/`, changed)).status, 200)
  assert.equal((await json('DELETE', path)).json.Message, 'Data deleted')
  assert.equal((await json('DELETE', `/api/portal/developers/${id}/`)).json.Message, 'Data deleted')
  assert.equal((await call('GET', '/api/portal/developers/')).status, 401)
})

test('PHP: JSON labelled as a form, the deprecated body, change, reset and revoke', async (t) => {
  const { form } = await world(t)
  const signUp = { email: 'p@hp.test', password: BCRYPT, fields: { Name: 'P' } }
  const id = (await form('POST', '/api/portal/developers', signUp)).json.Message
  const made = await form('POST', `/portal/developers/${id}/subscriptions`, { policy_id: 'gold' })
  const hash = hashOf(made.json.RawKey)
  assert.deepEqual([made.status, made.json.Password], [200, ''])
  const one = `/api/portal/developers/${id}/keys/${hash}`
  assert.equal((await form('PUT', one, { apply_policies: ['inner'] })).json.Status, 'OK')
  assert.deepEqual((await form('GET', `/api/portal/developers/${id}`)).json.subscriptions, { inner: hash })
  assert.equal((await form('POST', `${one}/reset_quota`)).json.Status, 'OK')
  assert.equal((await form('DELETE', one)).json.Status, 'OK')
  assert.deepEqual((await form('GET', `/api/portal/developers/${id}`)).json.subscriptions, {})
})

test('k8s-bootstrap: organisation, user, password, then a portal out of nothing', async (t) => {
  const { call, store } = await keyWorld(t)
  const admin = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, { as: 'installation', headers: FORM, ...(body !== undefined && { body }) })
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    return answer.json as JsonObject
  }
  const { organisations } = await admin('GET', '/admin/organisations')
  assert.ok(!(organisations as JsonObject[]).some(({ owner_name: name }) => name === 'K8s'))
  const organisation = { owner_name: 'K8s', cname_enabled: true, cname: 'old.example.test' }
  const orgId = String((await admin('POST', '/admin/organisations', organisation)).Meta)
  const person = { first_name: 'A', last_name: 'B', email_address: 'a@k8s.test', active: true, org_id: orgId }
  const created = await admin('POST', '/admin/users', person)
  const user: TestUser = {
    id: String((created.Meta as JsonObject).id),
    orgId,
    email: 'a@k8s.test',
    key: String(created.Message),
  }
  const own = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, { as: user, headers: FORM, ...(body !== undefined && { body }) })
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    return answer.json as JsonObject
  }
  await own('POST', `/api/users/${user.id}/actions/reset`, { new_password: 'a Long enough 1' })
  await own('PUT', '/api/portal/configuration')
  await own('POST', '/api/portal/catalogue/', { org_id: orgId })
  const home = { is_homepage: true, template_name: '', title: 'Portal', slug: '/', fields: { JumboCTATitle: 'Hi' } }
  await own('POST', '/api/portal/pages/', home)
  assert.equal((await own('PUT', '/api/portal/cname', { cname: 'portal.example.test:3000' })).Status, 'OK')
  assert.deepEqual((await own('GET', '/api/portal/catalogue')).apis, [])
  assert.equal(((await own('GET', '/api/portal/pages')).Data as JsonObject[]).length, 1)
  assert.equal((await store.documents.get('organisation', orgId as never))?.body.cname, 'portal.example.test:3000')
})
