import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import { sealedStore } from '../../../src/store/sealed/sealed-store.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { classicApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { base64, hsToken, jwtApi, SECRET } from '../../worlds/gateway/jwt-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const HMAC = 'the secret that a caller signs with'
const NOTICE = 'what notices of tokens are signed with'

const columns = { orgId: '', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }

/** Everything that the store keeps, as text: what lies packed in its files is unpacked. */
async function allOf({ documents, tokens, audit }: Store): Promise<string> {
  const parts: unknown[] = []
  for (const kind of ['api', 'asset', 'policy', 'org_key'])
    for await (const batch of documents.scan(kind)) parts.push(batch)
  parts.push(await tokens.listSessions({ limit: 1000 }))
  for await (const batch of audit.scan({})) parts.push(batch)
  return JSON.stringify(parts)
}

test('shared keys of tokens and signing secrets are sealed in the database, and read as before', async (t) => {
  const path = temporaryFolder(t)
  const origin = await startOrigin()
  t.after(() => origin.close())
  const store = await openStore({ path, clock: new FakeClock() })
  const gate = await startTestGateway({ store })
  t.after(async () => {
    await gate.close()
    await store.close()
  })
  const oauth = classicApi('O', '/o/', {
    ...{
      api_id: 'o',
      use_keyless: false,
      use_oauth2: true,
      oauth_meta: {
        ...{ allowed_access_types: ['authorization_code'], allowed_authorize_types: ['code'] },
        auth_login_redirect: 'https://example.org/login',
      },
    },
    notifications: { shared_secret: NOTICE, oauth_on_keychange_url: 'https://example.org/hook' },
  })
  const policy = { id: 'p', name: 'p', access_rights: rightsOn('j'), active: true }
  for (const [call, body] of [
    ['/svc/policies', policy],
    ['/svc/apis', jwtApi(origin)],
    ['/svc/apis', oauth],
  ] as const) {
    const made = await gate.svc('POST', call, body)
    assert.equal(made.status, 200, made.text)
  }
  const session = {
    access_rights: rightsOn('j'),
    hmac_enabled: true,
    hmac_string: HMAC,
    jwt_data: { secret: `${HMAC} 2` },
  }
  const made = await gate.svc('POST', '/svc/keys/create', session)
  const key = String((made.json as JsonObject).key)
  // A second change has a body before it, in the audit.
  assert.equal((await gate.svc('PUT', `/svc/keys/${key}`, { ...session, alias: 'ann' })).status, 200)
  assert.equal((await gate.svc('PUT', '/svc/apis/j', jwtApi(origin, { name: 'J again' }))).status, 200)

  const read = await gate.svc('GET', `/svc/keys/${key}`)
  assert.equal((read.json as JsonObject).hmac_string, HMAC)
  assert.equal((read.json as JsonObject).alias, 'ann')
  assert.ok(!read.text.includes('sealed_members'), read.text)
  const definition = await gate.svc('GET', '/svc/apis/j')
  assert.equal((definition.json as JsonObject).jwt_source, base64(SECRET))
  assert.ok(!definition.text.includes('sealed_members'))
  assert.equal((await gate.call('/j/x', { headers: { authorization: `Bearer ${hsToken()}` } })).status, 200)

  const secrets = [HMAC, base64(SECRET), NOTICE]
  const held = await allOf(store)
  const files = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
  assert.ok(
    files.some((bytes) => bytes.includes('example.org/hook')),
    'the definition is in the files',
  )
  for (const secret of secrets) {
    assert.ok(!held.includes(secret), `the store holds ${secret}`)
    for (const bytes of files) assert.ok(!bytes.includes(secret), `a file holds ${secret}`)
  }
  const opened = await allOf(sealedStore(store, Buffer.alloc(32, 7)))
  for (const secret of secrets) assert.ok(opened.includes(secret), 'what is sealed is read by whoever has the key')
})

test('rows of before, in clear, are read, and sealed when they are written next', async (t) => {
  const store = openMemoryStore()
  t.after(() => store.close())
  const sealed = sealedStore(store, Buffer.alloc(32, 1))
  const hash = hashKey('a key')
  await store.documents.commit(
    [{ op: 'putSession', hash, row: { ...columns, body: { hmac_string: HMAC } } }],
    undefined,
  )
  const row = (await sealed.tokens.getSession(hash))!
  assert.deepEqual(row.body, { hmac_string: HMAC })
  await sealed.documents.commit([{ op: 'putSession', hash, row }], undefined)
  assert.ok(!JSON.stringify(await store.tokens.getSession(hash)).includes(HMAC))
  assert.deepEqual((await sealed.tokens.getSession(hash))!.body, { hmac_string: HMAC })
})

test('what is sealed belongs to its row and its key, and nobody writes it from outside', async (t) => {
  const store = openMemoryStore()
  t.after(() => store.close())
  const sealed = sealedStore(store, Buffer.alloc(32, 1))
  const [own, other] = [hashKey('own'), hashKey('other')]
  const put = (to: Store, hash: Buffer, body: JsonObject) =>
    to.documents.commit([{ op: 'putSession', hash, row: { ...columns, body } }], undefined)
  await put(sealed, own, { hmac_string: HMAC })
  const stored = (await store.tokens.getSession(own))!.body
  await put(store, other, stored)
  assert.throws(() => sealed.tokens.getSession(other), { code: 'seal_broken' })
  assert.throws(() => sealedStore(store, Buffer.alloc(32, 2)).tokens.getSession(own), { code: 'seal_broken' })
  await put(sealed, other, { ...stored, hmac_string: '', alias: 'ann' })
  assert.deepEqual((await sealed.tokens.getSession(other))!.body, { hmac_string: '', alias: 'ann' })
})

test('tickets and conversion remainders are sealed too; other texts are not', async (t) => {
  const store = openMemoryStore()
  t.after(() => store.close())
  const sealed = sealedStore(store, Buffer.alloc(32, 1))
  const hash = hashKey('a code')
  const ticket = { sort: 'code', apiId: 'a', clientId: 'c', family: '', expiresAt: 2e12, keepUntil: 2e12 } as const
  const body = { epoch: 'e', key_rules: { alias: 'ann', hmac_string: HMAC } }
  const definition = {
    'x-svc-api-gateway': {
      server: { authentication: { securitySchemes: { 'a/b': { signingMethod: 'hmac', source: 'a shared key' } } } },
      kept: { '/jwt_source': { was: '', is: 'a kept key' }, '/auth_configs': { is: { auth: { secret: 'a third' } } } },
    },
    other: { source: 'a place', jwt_source: 'https://example.org/keys', 'x.secret': 'no' },
  }
  const id = '5e9d9544a1dcd60001d0ed20' as Parameters<Store['documents']['get']>[1]
  const api = { api_id: 'a', org_id: '', name: 'A', format: 'oas', definition } as const
  await sealed.documents.commit(
    [
      { op: 'putTicket', hash, row: { ...ticket, body } },
      { op: 'put', kind: 'api', id, body: api },
    ],
    undefined,
  )
  assert.deepEqual((await sealed.tokens.getTicket(hash))!.body, body)
  assert.deepEqual((await sealed.documents.get('api', id))!.body, api)
  const held = JSON.stringify([await store.tokens.getTicket(hash), await store.documents.get('api', id)])
  for (const secret of [HMAC, 'a shared key', 'a kept key', 'a third']) assert.ok(!held.includes(secret), secret)
  for (const text of ['a place', 'https://example.org/keys', 'x.secret', 'ann']) assert.ok(held.includes(text), text)
})
