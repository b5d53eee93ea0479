import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, rights } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'

type Write = readonly [method: string, path: string, body: JsonObject]

const HASH = 'e'.repeat(64)
const KEY = 'a-key-of-my-own-choice-of-thirty-letters'
const CLIENT = { client_id: 'app', redirect_uri: 'https://app.test/cb' }

/** Each call of `/svc/` that takes the id of a policy; those that change a thing come after the one that makes it. */
const WRITES: Readonly<Record<string, (id: string) => Write>> = {
  key: (id) => ['POST', '/keys', { apply_policies: [id] }],
  'key by one policy': (id) => ['POST', '/keys/create', { apply_policy_id: id }],
  preview: (id) => ['POST', '/keys/preview', { apply_policies: [id] }],
  'key of choice': (id) => ['POST', `/keys/${KEY}`, { apply_policies: [id] }],
  'the same again': (id) => ['POST', `/keys/${KEY}`, { apply_policies: [id] }],
  'change of a key': (id) => ['PUT', `/keys/${KEY}`, { apply_policies: [id], alias: 'changed' }],
  'basic user': (id) => [
    'POST',
    '/keys/somebody',
    { apply_policies: [id], basic_auth_data: { password: 'abcdefgh1' } },
  ],
  'policy of a key': (id) => ['POST', `/keys/policy/${KEY}`, { policy: id }],
  'policies of a key': (id) => ['POST', `/keys/policy/${KEY}`, { apply_policies: [id] }],
  client: (id) => ['POST', '/oauth/clients/create', { ...CLIENT, api_id: 'shop', policy_id: id }],
  'client of a policy': (id) => ['POST', '/oauth/clients/create', { ...CLIENT, client_id: 'other', policy_id: id }],
  'change of a client': (id) => ['PUT', '/oauth/clients/shop/app', { ...CLIENT, policy_id: id }],
  'policies of a client': (id) => ['PUT', '/oauth/clients/shop/app', { ...CLIENT, policies: [id] }],
}

test('calls of /svc/ take either id of a policy, and store the id', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const svc = async (method: string, path: string, body?: JsonObject) => {
    const answer = await gate.svc(method, `/svc${path}`, body)
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`)
    return answer.json as JsonObject
  }
  const oauth = { use_keyless: false, use_oauth2: true, oauth_meta: { allowed_access_types: ['client_credentials'] } }
  await svc('POST', '/apis', classic('shop', '/shop/', 'http://127.0.0.1:1', oauth))
  await svc('POST', '/policies', { id: 'gold', rate: 5, per: 1, access_rights: rights('shop') })
  const [policy] = (await gate.store.documents.list('policy', { where: { id: 'gold' }, limit: 1 })).rows
  assert.notEqual(policy!.id, 'gold')
  for (const [name, write] of Object.entries(WRITES)) {
    await svc(...write(policy!.id))
    const { rows: clients } = await gate.store.documents.list('oauth_client', { limit: 10 })
    const { rows: sessions } = await gate.store.tokens.listSessions({ limit: 10 })
    const stored = JSON.stringify([clients, sessions.map(({ body, policyIds }) => [body, policyIds])])
    assert.ok(!stored.includes(policy!.id), `${name}: the _id is stored: ${stored}`)
  }
  const byEither = await Promise.all(['gold', policy!.id].map((id) => svc('GET', `/keys?policy_id=${id}`)))
  assert.equal((byEither[0]!.keys as unknown[]).length, 4)
  assert.deepEqual(byEither[1], byEither[0])
  const unknown = await gate.svc('POST', '/svc/keys', { apply_policies: [HASH.slice(0, 24)] })
  assert.equal(unknown.status, 400)
})
