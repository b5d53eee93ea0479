import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../../src/model/json/json.ts'
import { keyWorld, refusal } from '../../../worlds/dashboard/key-world.ts'

const CONFIGURATION = '/api/portal/configuration'
const CATALOGUE = '/api/portal/catalogue'
const DOCUMENTATION = '/api/portal/documentation'
const PAGES = '/api/portal/pages'

async function world(t: TestContext, env: Record<string, string> = {}) {
  const made = await keyWorld(t, { env })
  const bad = async (method: string, path: string, body: unknown, status = 400) => {
    const before = await made.store.documents.revision()
    const answer = await made.call(method, path, { as: made.root, body })
    assert.equal(answer.status, status, `${method} ${path} ${JSON.stringify(body).slice(0, 200)}: ${answer.text}`)
    assert.equal(await made.store.documents.revision(), before, 'something was written')
    return String((answer.json as JsonObject).Message)
  }
  const read = (path: string, as = made.root) => made.asked(200, 'GET', path, as)
  const send = (method: string, path: string, body: unknown, as = made.root) => made.asked(200, method, path, as, body)
  return { ...made, bad, read, send }
}

test('a configuration exists by default, an empty PUT creates it, and lists are never null', async (t) => {
  const { call, root, read, send } = await world(t)
  const usual = await read(CONFIGURATION)
  assert.deepEqual([usual.id, usual.require_key_approval, usual.oauth_usage_limit], ['', false, -1])
  assert.deepEqual([usual.signup_fields, usual.key_request_fields, usual.HashKeys], [[], [], true])
  const put = await call('PUT', `${CONFIGURATION}/`, { as: root })
  assert.equal(put.text, '{"Status":"OK","Message":"Data updated","Meta":null}')
  const made = await read(CONFIGURATION)
  assert.match(String(made.id), /^[0-9a-f]{24}$/)
  assert.deepEqual({ ...made, id: '' }, { ...usual, id: '' })
  // a script labels its JSON as a form; null where others wrote an empty list
  const body = '{"signup_fields":["Company"],"key_request_fields":null,"require_key_approval":true,"mine":{"a":1}}'
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  assert.equal((await call('PUT', '/portal/configuration', { as: root, body, headers: form })).status, 200)
  const changed = await read(CONFIGURATION)
  assert.deepEqual([changed.signup_fields, changed.key_request_fields, changed.mine], [['Company'], [], { a: 1 }])
  // what is not sent stays
  await send('PUT', CONFIGURATION, { redirect_to: 'https://pay.test/buy', redirect_on_key_request: true })
  const last = await read(CONFIGURATION)
  assert.deepEqual([last.require_key_approval, last.redirect_to], [true, 'https://pay.test/buy'])
})

test('a configuration is made once; a set-up that says nothing can be repeated', async (t) => {
  const { read, send, bad } = await world(t)
  const made = await send('POST', CONFIGURATION, {})
  assert.deepEqual(made, { Status: 'OK', Message: (await read(CONFIGURATION)).id, Meta: null })
  assert.deepEqual(await send('POST', CONFIGURATION, {}), made)
  assert.match(await bad('POST', CONFIGURATION, { disable_signup: true }, 409), /configuration already/)
})

test('what no configuration can say is refused by name', async (t) => {
  const { bad, call, root } = await world(t)
  const copy = (text: JsonObject) => ({ mail_options: { email_copy: { key_email: text } } })
  const cases: [JsonObject, RegExp][] = [
    [{ signup_fields: 'x' }, /signup_fields/],
    [{ signup_fields: [{ title: 'x' }] }, /signup_fields/],
    [{ require_key_approval: 'yes' }, /require_key_approval/],
    [{ redirect_on_key_request: true }, /redirect_to/],
    [{ redirect_to: 'javascript:alert(1)' }, /redirect_to/],
    [{ redirect_to: 'https://user:pass@pay.test/' }, /redirect_to/],
    [{ oauth_usage_limit: -2 }, /oauth_usage_limit/],
    [{ enable_dcr: true }, /enable_dcr/],
    [copy({ subject: 'a\r\nBcc: all@example.test' }), /subject/],
    [copy({ subject: 'Your key {{key}}' }), /subject/],
    [copy({ body: 'Hello {{password}}' }), /\{\{password\}\}/],
    [copy({ body: 'Hello {{name' }), /placeholder/],
    [copy({ body: 'x'.repeat(20_001) }), /body/],
    [{ mail_options: { mail_from_email: 'a@b.test, c@d.test' } }, /mail_from_email/],
    [{ mail_options: { mail_from_name: 'x\nBcc: y' } }, /mail_from_name/],
  ]
  for (const [body, named] of cases) assert.match(await bad('PUT', CONFIGURATION, body), named)
  assert.equal((await call('PUT', CONFIGURATION, { as: root, body: '{' })).status, 403)
})

test('the secret of a registration provider is not kept', async (t) => {
  const { send, read, store, orgId } = await world(t)
  await send('PUT', CONFIGURATION, { dcr_options: { idp_host: 'https://idp.test', access_token: 'very-secret' } })
  const { dcr_options: options } = await read(CONFIGURATION)
  assert.deepEqual(options, {
    idp_host: 'https://idp.test',
    access_token: '',
    registration_endpoint: '',
    provider: '',
    grant_types: [],
    response_types: [],
    token_endpoint_auth_method: '',
  })
  const stored = await store.documents.find('portal_configuration', 'org_id', orgId)
  assert.ok(!JSON.stringify(stored).includes('very-secret'))
})

test('a catalogue is made, replaced in order, and read; entries name policies by either id', async (t) => {
  const { read, send, call, root, api, policy, orgId, bad } = await world(t)
  const missing = await call('GET', CATALOGUE, { as: root })
  assert.deepEqual(refusal(missing), [404, 'API catalogue not found'])
  assert.deepEqual(await read(`${CATALOGUE}?or_empty=true`), { id: '', org_id: orgId, email: '', apis: [] })
  const { Message: id } = await send('POST', `${CATALOGUE}/`, { org_id: orgId })
  assert.deepEqual(await read(CATALOGUE), { id, org_id: orgId, email: '', apis: [] })
  assert.equal((await send('POST', CATALOGUE, { org_id: orgId })).Message, id)
  await api('one')
  await api('open', { definition: { use_keyless: true } })
  const documentId = await policy('gold', ['one'])
  const entry = { name: 'Gold', short_description: 'a', long_description: 'b\nc', show: true, documentation: '' }
  const apis = [
    { ...entry, policy_id: documentId, version: '', config: null, fields: null },
    { ...entry, name: 'Open', api_id: 'open', version: 'v2', own: [1] },
    { ...entry, name: 'Again', policy_id: 'gold', config: { override: true, key_request_fields: null } },
  ]
  await send('PUT', CATALOGUE, { id: 'other', org_id: 'other', apis })
  const [first, second, third] = (await read(CATALOGUE)).apis as JsonObject[]
  assert.deepEqual(first, {
    ...entry,
    ...{ policy_id: 'gold', api_id: '', version: 'v2', config: {}, fields: {} },
    ...{ is_keyless: false, auth_type: 'authToken' },
  })
  assert.deepEqual([second!.is_keyless, second!.auth_type, second!.own], [true, 'keyless', [1]])
  assert.deepEqual(third!.config, { override: true, key_request_fields: [] })
  assert.match(await bad('POST', CATALOGUE, { apis }, 409), /catalogue already/)
  // an entry with a deleted policy stays, and blocks nothing
  await send('DELETE', '/api/portal/policies/gold', undefined)
  await send('PUT', CATALOGUE, await read(CATALOGUE))
  assert.equal(((await read(CATALOGUE)).apis as JsonObject[]).length, 3)
})

test('what no catalogue can hold is refused by name', async (t) => {
  const { bad, send, orgId, api, organisation } = await world(t)
  await send('POST', CATALOGUE, { org_id: orgId })
  await api('theirs', { orgId: await organisation() })
  const cases: [JsonObject, RegExp][] = [
    [{ apis: {} }, /apis/],
    [{ apis: [1] }, /apis/],
    [{ apis: [{ name: 'x' }] }, /policy_id/],
    [{ apis: [{ policy_id: 'nobody' }] }, /apis.0.policy_id/],
    [{ apis: [{ policy_id: "x' OR '1'='1" }] }, /apis.0.policy_id/],
    [{ apis: [{ api_id: 'theirs' }] }, /apis.0.api_id/],
    [{ apis: [{ name: 'a\u0000b', api_id: 'x' }] }, /name/],
    [{ apis: [{ show: 'yes', api_id: 'x' }] }, /show/],
    [{ apis: [{ api_id: 'x', config: { override: true, redirect_on_key_request: true } }] }, /redirect_to/],
  ]
  for (const [body, named] of cases) assert.match(await bad('PUT', CATALOGUE, body), named)
})

test('with ownership on, callers replace their own entries and leave the others in place', async (t) => {
  const { read, call, orgId, api, policy, user, root, asked } = await world(t, { SVC_DB_ENABLEOWNERSHIP: 'true' })
  const ada = await user({ portal: 'write' })
  const ben = await user({ portal: 'write' })
  await api('of-ada', { users: [ada.id] })
  await api('of-ben', { users: [ben.id] })
  await policy('ada', ['of-ada'])
  await policy('ben', ['of-ben'])
  const entry = (name: string, policy_id: string) => ({ name, policy_id, show: true })
  const names = async (as = root) => ((await read(CATALOGUE, as)).apis as JsonObject[]).map(({ name }) => name)
  const put = (as: typeof root, ...apis: JsonObject[]) => asked(200, 'PUT', CATALOGUE, as, { apis })
  await asked(200, 'POST', CATALOGUE, root, { org_id: orgId })
  await put(root, entry('a1', 'ada'), entry('b1', 'ben'), entry('a2', 'ada'), entry('b2', 'ben'))
  assert.deepEqual(await names(ada), ['a1', 'a2'])
  assert.deepEqual(await names(ben), ['b1', 'b2'])
  await put(ada, entry('a3', 'ada'))
  assert.deepEqual(await names(), ['a3', 'b1', 'b2'])
  await put(ada, entry('a3', 'ada'), entry('a4', 'ada'))
  assert.deepEqual(await names(), ['a3', 'b1', 'b2', 'a4'])
  const stolen = await call('PUT', CATALOGUE, { as: ada, body: { apis: [entry('mine', 'ben')] } })
  assert.deepEqual(refusal(stolen), [401, 'Not authorised'])
  assert.deepEqual(await names(), ['a3', 'b1', 'b2', 'a4'])
})

test('documentation is stored, read back and deleted, and lists leave its text out', async (t) => {
  const { send, read, call, root, orgId, organisation, admin } = await world(t)
  const documentation = Buffer.from('{"openapi":"3.0.3"}').toString('base64')
  const made = await send('POST', `${DOCUMENTATION}/`, { api_id: 'one', doc_type: 'swagger', documentation })
  const id = String(made.Message)
  assert.deepEqual(made, { Status: 'OK', Message: id, Meta: null })
  const one = await read(`/portal/documentation/${id}`)
  assert.deepEqual([one.org_id, one.api_id, one.doc_type, one.documentation], [orgId, 'one', 'swagger', documentation])
  const list = await read(DOCUMENTATION)
  assert.equal(list.Pages, 1)
  assert.deepEqual(
    (list.Data as JsonObject[]).map((row) => [row.id, 'documentation' in row]),
    [[id, false]],
  )
  const stranger = await admin(await organisation())
  assert.equal((await call('GET', `${DOCUMENTATION}/${id}`, { as: stranger })).status, 404)
  assert.equal((await call('DELETE', `${DOCUMENTATION}/${id}`, { as: stranger })).status, 404)
  assert.equal((await send('DELETE', `${DOCUMENTATION}/${id}`, undefined)).Message, 'Data deleted')
  assert.equal((await call('GET', `${DOCUMENTATION}/${id}`, { as: root })).status, 404)
  // base64 as tools break it into lines, and a kind that the portal brings along
  const lines = `${documentation.slice(0, 8)}\r\n${documentation.slice(8)}\n`
  const other = await send('POST', DOCUMENTATION, { doc_type: 'asyncapi', documentation: lines })
  assert.equal((await read(`${DOCUMENTATION}/${other.Message}`)).documentation, documentation)
  const address = Buffer.from('https://docs.test/openapi.json').toString('base64')
  await send('POST', DOCUMENTATION, { doc_type: 'swagger_custom_url', documentation: address })
})

test('documentation that is none, or too large, is refused', async (t) => {
  const { bad } = await world(t, { SVC_PORTAL_MAXDOCUMENTATIONBYTES: '1024' })
  const base64 = (text: string | Uint8Array) => Buffer.from(text as string).toString('base64')
  const cases: [JsonObject, number][] = [
    [{}, 400],
    [{ documentation: '' }, 400],
    [{ documentation: 1 }, 400],
    [{ documentation: '!!!!' }, 400],
    [{ documentation: 'abc' }, 400],
    [{ documentation: base64(Buffer.from([0xff, 0xfe, 0xfd])) }, 400],
    [{ documentation: base64('x'), doc_type: '../../etc' }, 400],
    [{ documentation: base64('javascript:alert(1)'), doc_type: 'swagger_custom_url' }, 400],
    [{ documentation: base64('file:///etc/passwd'), doc_type: 'swagger_custom_url' }, 400],
    [{ documentation: base64('x'.repeat(1025)) }, 413],
    [{ documentation: base64('x'.repeat(100_000)) }, 413],
  ]
  for (const [body, status] of cases) await bad('POST', DOCUMENTATION, body, status)
})

test('pages are created, listed, changed and deleted; a slug and the home page stand once', async (t) => {
  const { send, read, bad, call, root } = await world(t)
  const home = { is_homepage: true, slug: '/', title: 'Home', template_name: '', fields: { JumboCTATitle: 'Hi' } }
  const made = await send('POST', `${PAGES}/`, home)
  const id = String(made.Message)
  assert.deepEqual(made, { Status: 'OK', Message: id, Meta: null })
  const one = await read(`${PAGES}/${id}`)
  assert.deepEqual([one.slug, one.is_homepage, one.fields], ['/', true, { JumboCTATitle: 'Hi' }])
  const list = await read('/portal/pages?p=-1')
  assert.deepEqual([(list.Data as JsonObject[]).length, list.Pages], [1, 0])
  assert.match(await bad('POST', PAGES, { ...home, is_homepage: false }, 409), /slug/)
  assert.match(await bad('POST', PAGES, { ...home, slug: 'other' }, 409), new RegExp(id))
  const second = await send('POST', PAGES, { ...home, is_homepage: false, slug: 'docs/start', title: 'Start' })
  assert.match(await bad('POST', PAGES, { ...home, is_homepage: false, slug: '/docs/start/' }, 409), /slug/)
  await send('PUT', `${PAGES}/${second.Message}`, { slug: 'docs', title: 'Docs', id: 'x', org_id: 'x' })
  assert.deepEqual((await read(`${PAGES}/${second.Message}`)).title, 'Docs')
  assert.equal((await send('DELETE', `${PAGES}/${id}`, undefined)).Message, 'Data deleted')
  assert.equal((await call('GET', `${PAGES}/${id}`, { as: root })).status, 404)
  for (const slug of [
    '',
    '../etc',
    'a/../b',
    'a//b',
    '//evil.test',
    'a?b',
    'a b',
    '<script>',
    'a\u0000',
    '%2e%2e',
    "a'--",
  ])
    await bad('POST', PAGES, { slug, title: 'x' })
  await bad('POST', PAGES, { slug: 'a'.repeat(257), title: 'x' })
  await bad('PUT', `${PAGES}/${second.Message}`, { slug: 'ok', title: 7 })
})

test('menus, style sheets and script are there before anybody writes them, and are kept', async (t) => {
  const { send, read, bad, orgId } = await world(t)
  assert.deepEqual(await read('/api/portal/menus'), { id: '', org_id: orgId, is_active: false, menus: {} })
  const menus = { main: [{ title: 'Docs', url: '/docs' }], foot: null }
  const { Message: id } = await send('POST', '/api/portal/menus', { is_active: true, menus })
  const kept = { id, org_id: orgId, is_active: true, menus: { main: [{ title: 'Docs', url: '/docs' }], foot: [] } }
  assert.deepEqual(await read('/portal/menus/'), kept)
  await send('PUT', '/api/portal/menus', { menus: { main: [{ title: 'Mail', url: 'mailto:a@b.test' }] } })
  for (const url of ['javascript:alert(1)', 'data:text/html,x', 'java\nscript:x', 7])
    await bad('PUT', '/api/portal/menus', { menus: { main: [{ title: 'x', url }] } })
  assert.deepEqual(await read('/api/portal/css'), { id: '', org_id: orgId, page_css: '', email_css: '' })
  await send('POST', '/api/portal/css', { page_css: 'body { color: red }', email_css: 'p {}' })
  await send('PUT', '/api/portal/css', { email_css: '' })
  await send('PUT', '/api/portal/js', { page_js: 'let a = 1\n' })
  const css = await read('/portal/css')
  assert.deepEqual([css.page_css, css.email_css], ['body { color: red }', ''])
  assert.equal((await read('/api/portal/js')).page_js, 'let a = 1\n')
  await bad('PUT', '/api/portal/css', { page_css: 'a{}</STYLE><script>alert(1)</script>' })
  await bad('PUT', '/api/portal/js', { page_js: '</script><script>' })
  await bad('PUT', '/api/portal/js', { page_js: 'x'.repeat(524_289) })
})

test('the host of a portal is named in either spelling, and belongs to one organisation', async (t) => {
  const { send, bad, store, orgId, organisation, admin, call } = await world(t)
  await send('PUT', '/api/portal/cname', { CNAME: 'portal.example.test:3000' })
  const stored = await store.documents.get('organisation', orgId as never)
  assert.deepEqual([stored?.body.cname, stored?.body.cname_enabled], ['portal.example.test:3000', true])
  for (const cname of ['a b', 'http://x', 'x/y', 'x:0', 'x:99999', '-x', 'x..y', 'a\r\nb', 7, "x'--"])
    await bad('PUT', '/portal/cname', { cname })
  await bad('PUT', '/api/portal/cname', {})
  const stranger = await admin(await organisation())
  const taken = await call('PUT', '/api/portal/cname', { as: stranger, body: { cname: 'PORTAL.example.test:3000' } })
  assert.equal(taken.status, 409)
  await send('PUT', '/api/portal/cname', { cname: '' })
  assert.equal(
    (await call('PUT', '/api/portal/cname', { as: stranger, body: { cname: 'portal.example.test:3000' } })).status,
    200,
  )
})

test('the portal permission opens the portal calls, and nothing of another organisation', async (t) => {
  const { call, user, send } = await world(t)
  const reader = await user({ portal: 'read' })
  const nobody = await user({ apis: 'write' })
  await send('POST', PAGES, { slug: 'x', title: 'x' })
  for (const path of [
    CONFIGURATION,
    PAGES,
    DOCUMENTATION,
    '/api/portal/menus',
    '/api/portal/css',
    '/api/portal/requests',
  ]) {
    assert.equal((await call('GET', path, { as: reader })).status, 200, path)
    assert.equal((await call('GET', path, { as: nobody })).status, 403, path)
    assert.equal((await call('GET', path)).status, 401, path)
  }
  const refused = await call('PUT', CONFIGURATION, { as: reader, body: {} })
  assert.deepEqual(refusal(refused), [403, `access denied: You do not have permission to access  ${CONFIGURATION}`])
})
