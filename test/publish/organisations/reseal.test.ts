import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { loadConfig } from '../../../src/config/load.ts'
import { sealTotp, unsealTotp } from '../../../src/dashboard/sign-in/totp.ts'
import { DOCUMENT_KINDS } from '../../../src/model/documents/kinds.ts'
import { asJson, type JsonObject } from '../../../src/model/json/json.ts'
import { keySealContext } from '../../../src/model/keys/key.ts'
import { hashKey, type SealKeys, seal, unseal } from '../../../src/model/secrets/secret.ts'
import { addCertificate, certificateKeyOf } from '../../../src/publish/certificates/certificates.ts'
import { openInstallation, openSealKeys } from '../../../src/publish/organisations/installation.ts'
import { resealStore } from '../../../src/publish/organisations/reseal.ts'
import { KeyedMutex } from '../../../src/runtime/keyed-mutex.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Documents, Store } from '../../../src/store/ports/ports.ts'
import { sealedStore } from '../../../src/store/sealed/sealed-store.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestDashboard, type TestDashboard } from '../../worlds/dashboard/harness.ts'
import { fill } from '../../worlds/flows/moves-filled.ts'
import { startEnvironment } from '../../worlds/flows/moves-world.ts'
import { selfSigned } from '../../worlds/wire/engine-certificate.ts'

/** Kinds whose documents hold something sealed in the world below: all that can. */
const SEALING = [
  ...['api', 'asset', 'catalogue', 'certificate', 'developer', 'hook', 'idp_profile', 'key_request', 'oauth_client'],
  ...['oauth_key', 'organisation', 'policy', 'portal_configuration', 'user'],
]
const secret = { client_secret: 'a secret of this place' }

/** Every text of a document that may be sealed: it begins with the byte 1, and is long enough. By kind. */
async function sealedTexts(documents: Documents): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  for (const kind of Object.keys(DOCUMENT_KINDS))
    for await (const batch of documents.each(kind, {}))
      for (const { body } of batch) {
        const texts = [...JSON.stringify(body).matchAll(/"([A-Za-z0-9+/]{39,}={0,2})"/g)].map(([, text]) => text!)
        const sealed = texts.filter((text) => Buffer.from(text, 'base64')[0] === 1)
        if (sealed.length > 0) found.set(kind, [...(found.get(kind) ?? []), ...sealed])
      }
  return found
}

async function contents(store: Store): Promise<Map<string, JsonObject>> {
  const all = new Map<string, JsonObject>()
  for (const kind of Object.keys(DOCUMENT_KINDS))
    for await (const batch of store.documents.each(kind, {}))
      for (const { id, body } of batch) all.set(`${kind} ${id}`, withoutOwn(asJson(body)))
  return all
}

/** Without the texts that kinds seal themselves: these differ each time. */
function withoutOwn(body: JsonObject): JsonObject {
  const text = JSON.stringify(body).replaceAll(/"A[Q-Za-f][A-Za-z0-9+/]{37,}={0,2}"/g, '"sealed"')
  return JSON.parse(text) as JsonObject
}

test('every kind is sealed anew beside edits, and reads the same under the new key alone', async (t) => {
  const world = await startEnvironment(t, { env: { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' } })
  const { ask, dashboard, admin } = world
  await fill(world, 'http://127.0.0.1:9/')
  await ask('POST', '/api/portal/policies', { id: 'p', name: 'P', access_rights: {}, meta_data: secret })
  await ask('PUT', '/api/portal/configuration', { dcr_options: secret, require_key_approval: true })
  const catalogue = await ask('GET', '/api/portal/catalogue')
  const entry = { name: 'P', policy_id: 'gold', show: true, config: secret }
  await ask('PUT', '/api/portal/catalogue', { ...catalogue, apis: [...(catalogue.apis as JsonObject[]), entry] })
  const developer = await ask('POST', '/api/portal/developers', { email: 'd@example.test', fields: secret })
  const wanted = { by_user: developer.Message, apply_policies: ['gold'], fields: secret, version: 'v2' }
  await ask('POST', '/api/portal/requests', wanted as JsonObject)
  const data = defined({ id: 'asset', url: 'https://up.example/?api_key=secret-of-the-address' })
  await ask('POST', '/api/assets', { name: 'A', kind: 'oas-template', data })
  const provider = { Name: 'openid-connect', Key: 'k', Secret: 's', DiscoverURL: 'https://idp.example/?token=t' }
  await ask('POST', '/api/tib/profiles', {
    ...{ ID: 'sso', Name: 'SSO', ActionType: 'GenerateOrLoginUserProfile', ProviderName: 'SocialProvider' },
    ...{ Type: 'redirect', ReturnURL: '/tap' },
    ProviderConfig: { CallbackBaseURL: 'https://gw.example', UseProviders: [provider] },
  })
  await ask('POST', '/api/oauth/signing-keys/rotate?alg=ES256')
  const pair = selfSigned('reseal.example')
  await addCertificate(dashboard.parts, { pem: pair.cert + pair.key, orgId: dashboard.orgId, actor: 'test' })
  const { store } = dashboard
  const old = dashboard.parts.sealKey as Uint8Array
  const sealed = sealedStore(store, old)
  const edit = async (kind: string, change: (body: JsonObject, id: string) => JsonObject) => {
    const [row] = (await sealed.documents.list(kind, { limit: 1 })).rows
    const body = change(asJson(row!.body), row!.id)
    await sealed.documents.commit([{ op: 'put', kind, id: row!.id, body }], undefined)
  }
  await edit('user', (body, id) => ({ ...body, totp: { sealed: sealTotp(old, id, 'JBSWY3DPEHPK3PXP') } }))
  await edit('organisation', (body) => ({ ...body, event_options: { key_event: { webhook: secret } } }))

  const paths = [
    ...['/api/hooks?p=-1', '/api/portal/configuration', '/api/portal/catalogue', '/api/portal/requests?p=-1'],
    ...['/api/tib/profiles', '/api/moves/clients', '/api/oauth/signing-keys', '/api/apis/oas/ledger'],
    `/api/users/${admin.id}`,
  ]
  const read = async (by: TestDashboard) => {
    const answers = await Promise.all(paths.map((path) => by.call('GET', path, { as: admin })))
    return answers.map(({ status, text }, i) => `${paths[i]} ${status} ${text.replaceAll(',"raced":true', '')}`)
  }
  const seen = await read(dashboard)
  const row = { orgId: dashboard.orgId, apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
  const [signing, shown, plain] = ['signing', 'shown', 'plain'].map((name) => hashKey(name)) as [Buffer, Buffer, Buffer]
  const sealedKey = seal(old, 'a key', keySealContext(shown.toString('hex')))
  await sealed.documents.commit(
    [
      { op: 'putSession', hash: signing, row: { ...row, body: { hmac_string: 'shared with the caller' } } },
      { op: 'putSession', hash: shown, row: { ...row, body: {}, sealedKey } },
      { op: 'putSession', hash: plain, row: { ...row, body: {} } },
    ],
    undefined,
  )

  const before = await sealedTexts(store.documents)
  assert.deepEqual(
    [...before.keys()].filter((kind) => !SEALING.includes(kind)),
    [],
  )
  assert.deepEqual(
    SEALING.filter((kind) => !before.has(kind)),
    [],
  )
  const same = await contents(sealed)
  const keys: SealKeys = { current: randomBytes(32), previous: [old], lookup: old }
  const mixed = sealedStore(store, keys)
  assert.deepEqual(await contents(mixed), same)

  // A change that comes between the reading of a document and its writing.
  let raced = 0
  const racing: Documents = {
    ...store.documents,
    each: store.documents.each.bind(store.documents),
    async commit(changes, audit) {
      const [change] = changes
      if (change?.op === 'put' && raced++ % 3 === 0) {
        const { kind, id } = change
        const now = (await mixed.documents.get(kind, id))!
        await mixed.documents.commit([{ op: 'put', kind, id, body: { ...asJson(now.body), raced: true } }], undefined)
        same.set(`${kind} ${id}`, { ...same.get(`${kind} ${id}`)!, raced: true })
      }
      return store.documents.commit(changes, audit)
    },
  }
  const { sessionsLeft } = await resealStore({ documents: racing, tokens: store.tokens, keys })
  assert.ok(raced > SEALING.length)
  const after = new Set([...(await sealedTexts(store.documents)).values()].flat())
  for (const [kind, texts] of before)
    for (const text of texts) assert.ok(!after.has(text), `a text of ${kind} is as it was`)
  assert.deepEqual(await contents(sealedStore(store, keys.current)), same)
  const without: SealKeys = { ...keys, previous: [] }
  const later = await startTestDashboard({ store, clock: world.clock, parts: { sealKey: without } })
  t.after(() => later.close())
  assert.deepEqual(await read(later), seen)
  const { audit_logs: entries } = (await later.call('GET', '/api/audit-logs?p=-1', { as: admin })).json as {
    audit_logs: { _id: string }[]
  }
  const undone = await Promise.all(
    entries.map(({ _id: id }) => later.call('POST', `/api/audit-logs/${id}/undo`, { as: admin })),
  )
  assert.ok(undone.some(({ text }) => text.includes('a seal key that is gone')))
  assert.ok(undone.every(({ status }) => status < 500))
  const [certificate] = (await store.documents.list('certificate', { where: { org_id: dashboard.orgId }, limit: 1 }))
    .rows
  assert.match(certificateKeyOf(asJson(certificate!.body), without)!, /PRIVATE KEY/)
  const [user] = (await store.documents.list('user', { limit: 1 })).rows
  const { sealed: totp } = user!.body.totp as { sealed: string }
  assert.equal(unsealTotp(without, user!.id, totp), 'JBSWY3DPEHPK3PXP')
  assert.equal(sessionsLeft, 2)
  assert.equal((await resealStore({ documents: store.documents, tokens: store.tokens, keys })).documents, 0)
})

test('nodes change to a new seal key one by one, and the old one alone is refused', async () => {
  const store = openMemoryStore()
  const [old, next] = [randomBytes(32), randomBytes(32)]
  const open = (current: Uint8Array, ...previous: Uint8Array[]) => openSealKeys(store.documents, current, previous)
  const installed = async (sealKey: SealKeys) => {
    const { config } = loadConfig({ env: {}, cwd: import.meta.dirname })
    return openInstallation({ ...store, config, sealKey, locks: new KeyedMutex(), defaultOrg: () => '' })
  }
  await installed(await open(old))
  const ready = await open(old, next)
  await assert.rejects(open(next), { code: 'seal_key_differs' })
  const first = await open(next, old)
  assert.deepEqual((await installed(first)).seal_hashes_before.length, 1)
  // A node that is started once more before it is given the new key as its current one.
  const behind = await open(old, next)
  assert.equal((await installed(behind)).seal_hashes_before.length, 1)
  const last = await open(next)
  await installed(last)
  await assert.rejects(open(old), { code: 'seal_key_differs' })
  for (const keys of [ready, first, behind, last]) assert.deepEqual(Buffer.from(keys.lookup), old)
  for (const one of [ready, first, behind])
    for (const other of [ready, first, behind])
      assert.equal(unseal(one, seal(other, 'text', 'place'), 'place').toString(), 'text')
  await store.close()
})
