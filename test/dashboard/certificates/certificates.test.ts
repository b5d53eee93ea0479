import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { oasApi } from '../../worlds/dashboard/api-samples.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'
import { keyedApi, keyWorld, refusal } from '../../worlds/dashboard/key-world.ts'
import { expired, selfSigned } from '../../worlds/wire/engine-certificate.ts'

const BOUNDARY = 'part-of-a-form'
const ADD = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }

function form(pem: string, name = 'cert', before = ''): string {
  const file = `Content-Disposition: form-data; name="${name}"; filename="x.pem"\r\nContent-Type: application/octet-stream`
  return `${before}--${BOUNDARY}\r\n${file}\r\n\r\n${pem}\r\n--${BOUNDARY}--\r\n`
}

const field = (name: string) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nvalue\r\n`

test('a certificate is uploaded, described, listed and deleted; its key is never returned', async (t) => {
  const { call, root, orgId } = await keyWorld(t)
  const pair = selfSigned('api.example.test', 'www.example.test')
  const id = orgId + pair.fingerprint
  const body = form(pair.cert + pair.key, 'data', field('org_id'))
  const added = await call('POST', '/api/certs/', { as: root, body, headers: ADD })
  assert.equal(added.text, `{"id":"${id}","message":"Certificate added","status":"ok"}`)
  const meta = {
    ...{ id, fingerprint: pair.fingerprint, has_private: true },
    ...{ issuer: 'CN=api.example.test', subject: 'CN=api.example.test' },
    ...{ not_before: '2000-01-01T00:00:00.000Z', not_after: '2099-12-31T23:59:59.000Z' },
    ...{ dns_names: ['api.example.test', 'www.example.test'], is_ca: true },
  }
  const one = await call('GET', `/api/certs/${id}`, { as: root })
  assert.equal(one.text, JSON.stringify(meta))
  assert.deepEqual((await call('GET', `/api/certs/${pair.fingerprint}`, { as: root })).json, meta)
  assert.deepEqual((await call('GET', '/api/certs', { as: root })).json, { certs: [id], pages: 1 })
  assert.deepEqual((await call('GET', '/api/certs?p=-1', { as: root })).json, { certs: [id], pages: 0 })
  assert.deepEqual((await call('GET', '/api/certs/details', { as: root })).json, { certificates: [meta], pages: 1 })
  const basics = await call('GET', '/api/certs?mode=detailed', { as: root })
  const { issuer: _i, subject: _s, fingerprint: _f, ...rest } = meta
  assert.deepEqual(basics.json, {
    cert_basics: [{ ...rest, issuer_cn: 'api.example.test', subject_cn: 'api.example.test' }],
    pages: 1,
  })
  for (const { text } of [added, one, basics]) assert.ok(!text.includes('PRIVATE KEY'))
  const again = await call('POST', '/api/certs', { as: root, body, headers: ADD })
  assert.deepEqual(refusal(again), [404, `Could not create certificate.Certificate with ${id} ID already exists`])
  const gone = await call('DELETE', `/api/certs/${id}`, { as: root })
  assert.equal(gone.text, '{"message":"removed","status":"ok"}')
  assert.deepEqual(refusal(await call('DELETE', `/api/certs/${id}`, { as: root })), [
    404,
    'Could not delete certificate.',
  ])
  assert.equal((await call('GET', `/api/certs/${id}`, { as: root })).status, 404)
  const old = await call('POST', '/api/certs', { as: root, body: form(expired('old.example.test').cert), headers: ADD })
  assert.equal((old.json as JsonObject).warning, 'The certificate expired on 2001-01-01T00:00:00.000Z')
})

test('what is no certificate is refused, quickly, and nothing of it is repeated', async (t) => {
  const { call, root, store } = await keyWorld(t)
  const revision = await store.documents.revision()
  const { cert, key } = selfSigned('a.test')
  const secret = key.split('\n')[1]!
  const bombs = '-----BEGIN CERTIFICATE-----A'.repeat(9000)
  for (const pem of [
    '',
    'x',
    key,
    cert.slice(0, 200),
    cert + selfSigned('b.test').key,
    cert.replace(/A/g, 'B'),
    bombs,
  ]) {
    const answer = await call('POST', '/api/certs', { as: root, body: form(pem), headers: ADD })
    assert.equal(answer.status, 400, pem.slice(0, 50))
    assert.ok(!answer.text.includes(secret))
  }
  const huge = await call('POST', '/api/certs', { as: root, body: form('x'.repeat(300_000)), headers: ADD })
  assert.equal(huge.status, 413)
  for (const body of ['not a form', field('only'), ''])
    assert.ok([400, 403].includes((await call('POST', '/api/certs', { as: root, body, headers: ADD })).status), body)
  assert.equal(await store.documents.revision(), revision)
})

test('certificates of another organisation are non-owned, whether they are there or not', async (t) => {
  const { call, root, admin, organisation, user, asked } = await keyWorld(t)
  const other = await admin(await organisation())
  const pair = selfSigned('a.test')
  const add = (as: TestUser) => call('POST', '/api/certs', { as, body: form(pair.cert), headers: ADD })
  assert.equal((await add(root)).status, 200)
  const [id, nothing] = [root.orgId + pair.fingerprint, root.orgId + '0'.repeat(64)]
  for (const each of [id, nothing, 'junk', `${id}x`, `..%2F..%2F${id}`]) {
    for (const [method, path] of [
      ['GET', `/api/certs/${each}`],
      ['DELETE', `/api/certs/${each}`],
      ['GET', `/api/certs/${each}/apis`],
      ['GET', `/api/certs/dependencies/${each}`],
      ['DELETE', `/api/certs/dependencies/${each}`],
    ] as const)
      assert.deepEqual(refusal(await call(method, path, { as: other })), [
        400,
        'Attempted access to non-owned certificate.',
      ])
  }
  assert.equal((await call('GET', `/api/certs/${pair.fingerprint}`, { as: other })).status, 404)
  assert.deepEqual(await asked(200, 'GET', '/api/certs', other), { certs: [], pages: 1 })
  assert.equal((await add(other)).status, 200)
  await asked(200, 'GET', `/api/certs/${id}`, root)
  const reader = await user({ certs: 'read' })
  assert.equal((await add(reader)).status, 403)
  await asked(403, 'DELETE', `/api/certs/${id}`, reader)
  await asked(200, 'GET', `/api/certs/${id}`, reader)
})

test('where a certificate is used is told, and it is taken out everywhere', async (t) => {
  const { call, root, asked, parts, orgId, user, store } = await keyWorld(t, {
    env: { SVC_DB_ENABLEOWNERSHIP: 'true' },
  })
  const { cert, fingerprint } = selfSigned('a.test')
  const id = orgId + fingerprint
  assert.equal((await call('POST', '/api/certs', { as: root, body: cert })).status, 200)
  const owner = await user({ certs: 'write' })
  const publish = (format: 'classic' | 'oas', definition: JsonObject, users: string[]) =>
    publishApi(parts, { format, definition, orgId, metadata: { user_owners: users }, actor: 'test' })
  const more = { domain: 'a.test', certificates: [id, 'other'], client_certificates: [fingerprint] }
  await publish('classic', { ...keyedApi('classic'), ...more, use_mutual_tls_auth: true }, [])
  const oas = oasApi('described', '/described/')
  const extension = oas['x-svc-api-gateway'] as JsonObject
  const customDomain = { enabled: true, name: 'b.test', certificates: [id] }
  const server = { ...(extension.server as JsonObject), customDomain }
  await publish('oas', { ...oas, 'x-svc-api-gateway': { ...extension, server } }, [root.id])
  await publish('classic', keyedApi('without'), [])
  const all = {
    cert_id: id,
    pages: 1,
    apis: [
      { api_id: 'classic', name: 'classic', usage_types: ['custom_domain', 'client'] },
      { api_id: 'described', name: 'API described', usage_types: ['custom_domain'] },
    ],
  }
  const uses = async (path: string, as: TestUser) => {
    const { apis, ...rest } = (await asked(200, 'GET', path, as)) as typeof all
    return { ...rest, apis: apis.sort((a, b) => (a.api_id < b.api_id ? -1 : 1)) }
  }
  for (const path of [`/api/certs/${id}/apis`, `/api/certs/dependencies/${id}/`])
    assert.deepEqual(await uses(path, root), all)
  assert.deepEqual(await uses(`/api/certs/${id}/apis`, owner), { ...all, apis: all.apis.slice(0, 1) })
  const revision = await store.documents.revision()
  await asked(401, 'DELETE', `/api/certs/dependencies/${id}`, owner)
  assert.equal(await store.documents.revision(), revision)
  await asked(200, 'DELETE', `/api/certs/dependencies/${id}`, root)
  assert.deepEqual(await uses(`/api/certs/${id}/apis?p=-1`, root), { ...all, pages: 0, apis: [] })
  const left = (await store.documents.find('api', 'api_id', 'classic'))!.body.definition as JsonObject
  assert.deepEqual([left.certificates, left.client_certificates, left.domain], [['other'], [], 'a.test'])
  await asked(200, 'GET', `/api/certs/${id}`, root)
})
