import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { call as plainCall } from '../../worlds/base/client.ts'
import { classicApi, oasApi, plainOas } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard, type TestDashboardOptions } from '../../worlds/dashboard/harness.ts'

async function world(t: TestContext, options: TestDashboardOptions = {}) {
  const dashboard = await startTestDashboard(options)
  t.after(() => dashboard.close())
  const admin = await dashboard.admin()
  const send = (method: string, path: string, body?: unknown) => dashboard.call(method, path, { as: admin, body })
  return { ...dashboard, admin, send }
}

/** Sends bytes as they are; answers the first line of what comes back. */
function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(bytes))
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('close', () => resolve(text.split('\r\n', 1)[0]!))
    socket.on('error', reject)
  })
}

test('no spelling of a path gets round the check of who calls', async (t) => {
  const { port, user, call, send } = await world(t)
  const spellings = [
    ...['/api/users', '/api/users/', '//api//users', '/api/%75sers', '/%61pi/users', '/API/users', '/api/Users'],
    ...['/api/./users', '/api/hello/../users', '/hello/..;/api/users', '/hello/%2e%2e/api/users', '/api%2fusers'],
    ...['/api/users;a=b', '/api/users%00', '/api/users%20', '/api/users/%2e', '/api\\users', '/api/docs/../users'],
    ...['/api/openapi.json/../users', '/console/..%2fapi/users', '/api/users?/api/openapi.json', '/api/users#/hello'],
    ...['/admin/organisations', '/%61dmin/organisations', '/admin//organisations/', '/hello/../admin/organisations'],
    ...['/api/users/me/..', '/auth/..%2f..%2fapi%2fusers/saml', '/api/..%2fadmin%2forganisations'],
  ]
  for (const path of spellings) {
    const { status, text } = await plainCall(port, path)
    assert.ok([400, 401, 404, 405].includes(status), `${path} ${status} ${text.slice(0, 80)}`)
  }
  for (const line of ['GET http://127.0.0.1/api/users HTTP/1.1', 'GET /api/users HTTP/1.0', 'GET api/users HTTP/1.1'])
    assert.match(
      await raw(port, `${line}\r\nHost: x\r\nConnection: close\r\n\r\n`),
      /^HTTP\/1\.1 (?:400|401|404) /,
      line,
    )
  // Neither a field nor a query replaces method or path.
  assert.equal((await send('POST', '/api/apis', { api_definition: classicApi('kept', '/kept/') })).status, 200)
  const reader = await user({ apis: 'read' })
  const tricks: Record<string, string>[] = [
    { 'x-http-method-override': 'DELETE' },
    { 'x-method-override': 'DELETE' },
    { 'x-original-url': '/hello' },
    { 'x-rewrite-url': '/hello' },
  ]
  for (const headers of tricks) {
    const answer = await call('GET', '/api/apis/kept?_method=DELETE', { as: reader, headers })
    assert.equal((answer.json as { api_definition: JsonObject }).api_definition.api_id, 'kept')
    assert.equal((await call('DELETE', '/api/apis/kept', { as: reader, headers })).status, 403)
  }
  assert.equal((await plainCall(port, '/api/users', { headers: { 'x-original-url': '/hello' } })).status, 401)
  assert.equal((await send('GET', '/api/apis/kept')).status, 200)
})

test('ids that look like paths name nothing', async (t) => {
  const { send, store } = await world(t)
  const before = await store.documents.revision()
  const ids = ['../../etc/passwd', '..', '.', '/', '%2e%2e', '\0', 'a/b', '..\\..\\x', '*', 'x'.repeat(4000)]
  for (const id of ids) {
    for (const path of [
      'users',
      'usergroups',
      'hooks',
      'certs',
      'apis',
      'apis/oas',
      'assets',
      'tib/profiles',
      'labels',
    ])
      for (const method of ['GET', 'DELETE']) {
        const { status } = await send(method, `/api/${path}/${encodeURIComponent(id)}`)
        assert.ok(status >= 400 && status < 500, `${method} ${path} ${id} ${status}`)
      }
  }
  assert.equal(await store.documents.revision(), before)
})

test('what people name things never becomes a field of an answer', async (t) => {
  const { send, call } = await world(t)
  const evil = 'x"; filename="evil.html\r\nSet-Cookie: authorisation=mine\r\n\r\n<script>'
  const known = new Set([
    ...['cache-control', 'connection', 'content-disposition', 'content-length', 'content-security-policy'],
    ...[
      'content-type',
      'cross-origin-resource-policy',
      'date',
      'etag',
      'keep-alive',
      'referrer-policy',
      'transfer-encoding',
    ],
    ...['x-content-type-options', 'x-frame-options', 'x-request-id', 'x-svc-base-api-id', 'location'],
  ])
  const checked = (where: string, headers: Record<string, unknown>) => {
    const strange = Object.keys(headers).filter((name) => !known.has(name))
    assert.deepEqual(strange, [], where)
    assert.doesNotMatch(JSON.stringify(headers), /Set-Cookie|evil\.html"|<script>/, where)
  }
  const ids = ['named', 'a"b;c', "it's é.json", 'x'.repeat(300)]
  for (const [i, id] of ids.entries()) {
    const sent = oasApi(id, `/evil-${i}/`, { name: evil })
    if ((await send('POST', '/api/apis/oas', { ...sent, info: { title: evil, version: '1' } })).status !== 200) continue
    const at = `/api/apis/oas/${encodeURIComponent(id)}`
    const file = await send('GET', `${at}/export`)
    assert.match(String(file.headers['content-disposition']), /^attachment; filename="[A-Za-z0-9._-]{1,110}"$/, id)
    const version = `?base_api_id=${encodeURIComponent(id)}&base_api_version_name=v1&new_version_name=v2`
    const child = await send('POST', `/api/apis/oas${version}`, oasApi(`child-${i}`, `/child-${i}/`))
    assert.equal(child.status, 200, child.text)
    for (const path of ['', '/export', '/urls', '/versions', '/categories'])
      checked(`${id}${path}`, (await send('GET', at + path)).headers)
    checked('child', (await send('GET', `/api/apis/oas/child-${i}`)).headers)
  }
  const encoded = encodeURIComponent(evil)
  for (const path of [
    `/api/apis?q=${encoded}`,
    `/tap?nonce=${encoded}`,
    `/auth/${encoded}/saml`,
    `/api/users/${encoded}`,
  ]) {
    const { headers } = await call('GET', path, { headers: { 'x-request-id': 'a', origin: 'https://evil.test' } })
    checked(path, headers)
  }
})

test('names of the language are names like others, and __proto__ is refused', async (t) => {
  const { send, call, user, store, admin } = await world(t)
  const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'prototype', '__defineGetter__']
  // As permissions they give nothing, not even what their functions might seem to.
  const odd = await user(Object.fromEntries(names.map((name) => [name, 'write'])))
  for (const path of ['/api/users', '/api/apis', '/api/org/permissions', '/api/audit-logs'])
    assert.equal((await call('GET', path, { as: odd })).status, 403, path)
  const rights = (name: string) => ({ [name]: { api_id: name, versions: ['Default'] } })
  for (const name of names) {
    for (const [method, path, body] of [
      ['PUT', '/api/org/permissions', { additional_permissions: { [name]: name } }],
      ['POST', '/api/usergroups', { name, user_permissions: { [name]: 'write', apis: 'read' } }],
      ['POST', '/api/portal/policies', { name, rate: 1, per: 1, access_rights: rights(name), [name]: 1 }],
      ['POST', '/api/keys', { access_rights: rights(name), meta_data: { [name]: name } }],
      ['POST', '/api/labels', { name, values: [name] }],
      ['POST', '/api/apis', { api_definition: classicApi(name, `/${name}/`, { config_data: { [name]: 1 } }) }],
      ['POST', '/api/hooks', { name, method: 'POST', target_path: 'https://h.test/', header_map: { [name]: name } }],
      ['POST', '/api/assets', { kind: 'oas-template', name, data: { [name]: {} } }],
      ['POST', `/api/${name}/labels`, { labels: { [name]: name } }],
    ] as const) {
      const { status, text } = await send(method, path, body)
      assert.ok(status < 500, `${path} ${name} ${text}`)
    }
    for (const path of ['users', 'keys', 'apis', 'portal/policies', 'certs', 'tib/profiles', 'schema?schema_path='])
      assert.ok((await send('GET', `/api/${path}${path.endsWith('=') ? '' : '/'}${name}`)).status < 500, path)
    assert.ok((await send('GET', `/api/apis?${name}=1&sort=${name}&q=${name}`)).status < 500)
  }
  const read = (await send('GET', '/api/org/permissions')).json as { additional_permissions: JsonObject }
  assert.ok(Object.values(read.additional_permissions).every((label) => typeof label === 'string'))
  const before = await store.documents.revision()
  for (const body of [
    '{"name":"a","user_permissions":{"apis":"read","__proto__":{"IsAdmin":"admin"}}}',
    '{"__proto__":{"name":"a"},"user_permissions":{"apis":"read"}}',
    '{"name":"a","user_permissions":{"apis":"read"},"\\u005f\\u005fproto__":{"x":1}}',
  ])
    assert.equal((await send('POST', '/api/usergroups', body)).status, 403)
  const yaml = `openapi: 3.0.3\ninfo: {title: x, version: '1'}\npaths: {}\n__proto__: {polluted: true}\n`
  assert.equal((await call('POST', '/api/apis/oas/import', { as: admin, body: yaml })).status, 403)
  assert.equal(await store.documents.revision(), before)
  assert.equal(({} as JsonObject).polluted, undefined)
  assert.equal(({} as JsonObject).IsAdmin, undefined)
})

test('what grows when it is unpacked is not unpacked, and a form of countless parts is no burden', async (t) => {
  const { port, admin, store, call } = await world(t)
  const before = await store.documents.revision()
  const bomb = gzipSync(Buffer.alloc(100 << 20, 0x20)).toString('latin1')
  const cpu = process.cpuUsage()
  for (const coding of ['gzip', 'deflate', 'br', 'gzip, gzip']) {
    for (const path of ['/api/apis', '/api/apis/oas/import', '/api/certs', '/api/users']) {
      const headers = { authorization: admin.key, 'content-encoding': coding }
      const { status } = await plainCall(port, path, { method: 'POST', headers, body: bomb })
      assert.ok([400, 403, 413, 415].includes(status), `${path} ${coding} ${status}`)
    }
  }
  const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'
  const form = `${part.repeat(150_000)}--b--\r\n`
  for (const path of ['/api/certs', '/api/apis/oas/import']) {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const { status } = await call('POST', path, { as: admin, body: form, headers })
    assert.ok(status >= 400 && status < 500, path)
  }
  const { user, system } = process.cpuUsage(cpu)
  assert.ok(user + system < 8_000_000, `${(user + system) / 1e6} s`)
  assert.equal(await store.documents.revision(), before)
})

test('nothing inside the network is called, by whatever name an address is given', async (t) => {
  let reached = 0
  const inside = createServer((socket) => {
    reached++
    socket.destroy()
  })
  await new Promise<void>((resolve) => inside.listen(0, resolve))
  t.after(() => inside.close())
  const { port } = inside.address() as AddressInfo
  const env = { SVC_DB_IMPORTURL_ENABLED: 'true' }
  const { send, store, orgId, call } = await world(t, { env })
  const organisation = (await store.documents.get('organisation', orgId as never))!
  const body = { ...organisation.body, sso_enabled: true }
  await store.documents.commit([{ op: 'put', kind: 'organisation', id: organisation.id, body }], undefined)
  const hosts = ['localhost', '127.0.0.1', '2130706433', '0', '[::1]', '[::]', '[::ffff:7f00:1]', '0x7f.0.0.1', '127.1']
  for (const [i, host] of hosts.entries()) {
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${host}:${port}/x`
      const name = `${scheme}-${i}`
      await send('POST', '/api/hooks', { name, method: 'POST', target_path: url })
      const { hooks } = (await send('GET', '/api/hooks?p=-1')).json as { hooks: { id: string; name: string }[] }
      const hook = hooks.find((each) => each.name === name)
      if (hook !== undefined) assert.equal((await send('POST', `/api/hooks/${hook.id}/test`)).status, 400, url)
      assert.equal((await send('POST', '/api/apis/oas/import', { url })).status, 400, url)
      // References to other documents are not followed either.
      const paths = { '/a': { $ref: url }, '/b': { get: { responses: { 200: { $ref: `${url}#/x` } } } } }
      for (const way of ['import', 'dry-run'])
        await send('POST', `/api/apis/oas/${way}?validateRequest=true&mockResponse=true`, { ...plainOas(name), paths })
      const profile = { ActionType: 'GenerateOrLoginUserProfile', Type: 'redirect', Name: name }
      const base = { SAMLBaseURL: 'https://us.test', CallbackBaseURL: 'https://us.test' }
      for (const [ID, ProviderName, ProviderConfig, start] of [
        [`s-${name}`, 'SAMLProvider', { ...base, IDPMetadataURL: url }, 'saml'],
        [
          `o-${name}`,
          'SocialProvider',
          { ...base, UseProviders: [{ Name: 'openid-connect', Key: 'k', DiscoverURL: url }] },
          'openid-connect',
        ],
      ] as const) {
        await send('POST', '/api/tib/profiles', { ...profile, ID, ProviderName, ProviderConfig })
        const { status } = await call('GET', `/auth/${ID}/${start}`)
        assert.ok(status === 403 || status === 404, `${ID} ${status}`)
      }
    }
    const ldap = { LDAPServer: host.replace(/[[\]]/g, ''), LDAPPort: String(port), LDAPUserDN: 'cn=*USERNAME*,dc=x' }
    const profile = { ID: `l-${i}`, ActionType: 'GenerateOrLoginUserProfile', ProviderName: 'ADProvider' }
    await send('POST', '/api/tib/profiles', { ...profile, ProviderConfig: ldap })
    const { status } = await call('POST', `/auth/l-${i}/ADProvider`, { body: 'username=a&password=b' })
    assert.ok(status === 403 || status === 404, `${host} ${status}`)
  }
  assert.equal(reached, 0)
})
