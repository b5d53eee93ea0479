import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readApiDocument } from '../../examples/portal/api-document.ts'
import { DashboardRefusal, part } from '../../examples/portal/dashboard.ts'
import { readSettings } from '../../examples/portal/settings.ts'
import { type Example, startExample } from '../../examples/portal/start-example.ts'
import { call } from '../worlds/base/client.ts'
import { FormBrowser, hiddenFields, type Seen } from '../worlds/flows/portal-browser.ts'

const PASSWORD = 'correct horse battery'
let example: Example

before(async () => {
  example = await startExample({ gatewayPort: 0, dashboardPort: 0, portalPort: 0, loginPort: 0 })
})
after(() => example.stop())

interface Person {
  readonly browser: FormBrowser
  readonly email: string
  readonly id: string
}

type Row = Record<string, unknown>

let people = 0

async function signedUp(fields: Record<string, string> = {}): Promise<Person> {
  const email = `person${++people}@example.test`
  const browser = new FormBrowser(example.portalUrl)
  const form = { name: 'Per Son', email, password: PASSWORD, 'field:Company': 'C', ...fields }
  const seen = await browser.submit(await browser.open('/sign-up'), '/sign-up', form)
  assert.equal(new URL(seen.url).pathname, '/', seen.text)
  const { Data } = await example.admin('GET', `/api/portal/developers?q=${email}`)
  return { browser, email, id: String((Data as Row[])[0]!.id) }
}

const record = (id: string) => example.admin('GET', `/api/portal/developers/${id}`)
const entry = (slug: string) => `/apis/${slug}`
const APP = { app_name: 'App', redirect_uri: 'https://app.example.test/', use_case: '' }

async function withKey(person: Person): Promise<string> {
  const page = await person.browser.open(entry('weather'))
  const made = await person.browser.submit(page, '/apis/weather/request')
  assert.match(made.text, /<h1>Your key for Weather<\/h1>/)
  return String(((await record(person.id)).subscriptions as Row).weather)
}

async function withApp({ browser }: Person, fields: Record<string, string> = {}): Promise<string> {
  const made = await browser.submit(await browser.open(entry('orders')), '/apis/orders/request', { ...APP, ...fields })
  return /Client id<\/dt><dd><code tabindex="0">([^<]+)</.exec(made.text)![1]!
}

/** No markup in the pages' data runs. */
function assertHarmless({ text, headers }: Seen): void {
  assert.doesNotMatch(
    text,
    /<script|<img|<iframe|<style|<[^<>]*\son\w+=|href="(?:javascript|data|vbscript):|<[^<>]*\sstyle=/i,
  )
  const policy = headers.get('content-security-policy')!
  assert.match(policy, /^default-src 'none'; style-src 'self'; form-action 'self'/)
}

test('pages allow no script, frame or storing; the cookie is safe from scripts and other sites', async () => {
  const answer = await fetch(example.portalUrl)
  const { headers } = answer
  assert.match(headers.get('set-cookie')!, /^portal=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
  for (const part of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
    assert.ok(headers.get('content-security-policy')!.split('; ').includes(part), part)
  assert.equal(headers.get('x-frame-options'), 'DENY')
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.doesNotMatch(await answer.text(), /<script|<style|<[^<>]*\sstyle=/i)
})

test('a sign-in gives a new cookie; earlier and ended ones open nothing', async () => {
  const { browser, email } = await signedUp()
  const first = browser.cookies.get('portal')!
  await browser.submit(await browser.open('/'), '/sign-out')
  const planted = browser.cookies.get('portal')!
  assert.notEqual(planted, first)
  await browser.submit(await browser.open('/sign-in'), '/sign-in', { email, password: PASSWORD })
  const now = browser.cookies.get('portal')!
  for (const cookie of [first, planted]) {
    const answer = await fetch(`${example.portalUrl}/keys`, {
      headers: { cookie: `portal=${cookie}` },
      redirect: 'manual',
    })
    assert.equal(answer.headers.get('location'), '/sign-in?next=%2Fkeys')
  }
  assert.equal((await fetch(`${example.portalUrl}/keys`, { headers: { cookie: `portal=${now}` } })).status, 200)
})

test('a session ends at once with another password and with the account', async () => {
  const person = await signedUp()
  await example.admin('POST', `/api/portal/developers/password/${person.id}`, { password: 'some other words' })
  assert.match((await person.browser.open('/keys')).text, /<h1>Sign in<\/h1>/)
  const other = await signedUp()
  await example.admin('DELETE', `/api/portal/developers/${other.id}`)
  assert.match((await other.browser.open('/keys')).text, /<h1>Sign in<\/h1>/)
})

test('every form is refused without its token, with a foreign one, and from other sites', async () => {
  const ada = await signedUp()
  const bob = await signedUp()
  const keyId = await withKey(ada)
  const appId = await withApp(ada)
  const bobs = hiddenFields(await bob.browser.open('/'), '/sign-out').form_token!
  const own = hiddenFields(await ada.browser.open('/'), '/sign-out').form_token!
  const before = await record(ada.id)
  const actions = [
    ...['/sign-in', '/sign-up', '/sign-out', '/forgotten', '/portal/reset-password', '/account/password'],
    ...['/account/delete', '/apis/parcels/request', `/keys/${keyId}/rotate`, `/keys/${keyId}/revoke`],
    ...[`/apps/${appId}/rotate`, `/apps/${appId}/revoke`, `/apps/${appId}/revoke-all`, `/apps/${appId}/delete`],
    ...['/requests/0123456789abcdef01234567/withdraw', '/portal/requests/0123456789abcdef01234567/collect'],
  ]
  const fields = { password: PASSWORD, new_password: 'x', overlap: '0', 'field:Company': 'C', 'field:What for': 'W' }
  for (const action of actions) {
    for (const token of [{}, { form_token: '' }, { form_token: bobs }, { form_token: `${own}x` }])
      assert.equal((await ada.browser.open(action, { ...fields, ...token })).status, 403, action)
    for (const origin of ['https://evil.test', 'null', 'http://127.0.0.1:1'])
      assert.equal((await ada.browser.open(action, { ...fields, form_token: own }, { origin })).status, 403, action)
  }
  assert.deepEqual(await record(ada.id), before)
  assert.equal((await ada.browser.open('/keys', { form_token: own })).status, 404, 'nothing is posted there')
})

test("another developer's key, app and request are not found, and stay as they are", async () => {
  const victim = await signedUp()
  const thief = await signedUp()
  const keyId = await withKey(victim)
  const appId = await withApp(victim)
  await withKey(thief)
  const fields = { 'field:Company': 'C', 'field:What for': 'W' }
  await victim.browser.submit(await victim.browser.open(entry('parcels')), '/apis/parcels/request', fields)
  const { Data } = await example.admin('GET', `/api/portal/requests?by_user=${victim.id}&approved=false`)
  const requestId = String((Data as Row[])[0]!.id)
  const before = await record(victim.id)
  const { form_token } = hiddenFields(await thief.browser.open('/'), '/sign-out')
  for (const path of [`/keys/${keyId}`, `/apps/${appId}`])
    assert.equal((await thief.browser.open(path)).status, 404, path)
  const posts = [
    ...[`/keys/${keyId}/rotate`, `/keys/${keyId}/revoke`, `/requests/${requestId}/withdraw`],
    ...['rotate', 'revoke', 'revoke-all', 'delete'].map((what) => `/apps/${appId}/${what}`),
    `/portal/requests/${requestId}/collect`,
  ]
  for (const path of posts) {
    const seen = await thief.browser.open(path, {
      form_token: form_token!,
      overlap: '0',
      token: 'x',
      client_secret: 'x',
    })
    assert.ok([400, 404].includes(seen.status), `${path} answered ${seen.status}`)
  }
  assert.deepEqual(await record(victim.id), before)
  assert.equal((await example.admin('GET', `/api/portal/requests/${requestId}`)).approved, false)
  const usage = await thief.browser.open(`/usage?key=${keyId}`)
  assert.ok(!usage.text.includes(keyId), 'usage is of own keys alone')
})

test('ids that are no ids lead to no other call', async () => {
  const person = await signedUp()
  await withKey(person)
  const { form_token } = hiddenFields(await person.browser.open('/'), '/sign-out')
  const before = await record(person.id)
  const ids = [
    ...['..', '%2e%2e', '..%2f..', '.', '%2e', '%252e%252e', '%2e%2e%2f%2e%2e%2f', '%5c..', '__proto__'],
    ...['a%0d%0aX-Y:%201', '%00', "'%20or%201=1--", '%c3%28', '*', 'x'.repeat(4000)],
  ]
  // a client that sends paths as they are
  const send = (method: string, path: string, body = '') =>
    call(Number(new URL(example.portalUrl).port), path, {
      method,
      headers: {
        cookie: `portal=${person.browser.cookies.get('portal')}`,
        ...(body !== '' && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      body,
    })
  const form = new URLSearchParams({ form_token: form_token!, overlap: '0' }).toString()
  for (const id of ids) {
    for (const path of [`/keys/${id}/revoke`, `/keys/${id}/rotate`, `/apps/${id}/delete`, `/requests/${id}/withdraw`]) {
      const { status } = await send('POST', path, form)
      assert.ok([400, 404].includes(status), `${path.slice(0, 60)} answered ${status}`)
    }
    for (const path of [`/apis/${id}`, `/keys/${id}`, `/apps/${id}`, `/shown/${id}`]) {
      const { status, headers } = await send('GET', path)
      assert.ok([200, 400, 404].includes(status), `${path.slice(0, 60)} answered ${status}`)
      assert.equal(headers['x-y'], undefined)
    }
  }
  assert.deepEqual(await record(person.id), before)
  for (const path of ['/%', '//', '//evil.test/keys', '/keys/%zz', '/style.css/..', '/?a=1&a=2', '/shown/x', '*'])
    assert.ok((await send('GET', path)).status < 500, path)
})

test('markup and line ends in names and texts stay text', async () => {
  const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>`
  const person = await signedUp({ name: evil, 'field:Company': evil })
  const texts = {
    name: evil,
    short_description: evil,
    long_description: `${evil}\n\n[a](javascript:alert(1)) [b](data:text/html,x) ![c](http://evil.test/x.png)\n\n<b style="x">d</b>\n\n| a |\n|:-:|\n| 1 |`,
  }
  const api = {
    openapi: '3.0.3',
    info: { title: evil, version: evil, description: texts.long_description },
    servers: [{ url: `https://x.test/'${evil}` }, { url: 'javascript:alert(1)' }],
    paths: {
      [`/${evil}`]: {
        get: {
          ...{ summary: evil, description: texts.long_description, tags: [evil] },
          parameters: [{ name: evil, in: evil, description: evil, schema: { $ref: '#/components/schemas/round' } }],
          responses: { [evil]: { description: evil } },
        },
      },
    },
    components: { schemas: { round: { $ref: '#/components/schemas/round' } } },
  }
  const documentation = Buffer.from(JSON.stringify(api)).toString('base64')
  const stored = await example.admin('POST', '/api/portal/documentation', {
    api_id: 'status',
    doc_type: 'swagger',
    documentation,
  })
  const { apis, ...catalogue } = await example.admin('GET', '/api/portal/catalogue')
  const bad = { ...texts, api_id: 'status', policy_id: '', show: true, version: 'v2', documentation: stored.Message }
  const kept = (apis as Row[]).filter(({ api_id }) => api_id !== 'status')
  await example.admin('PUT', '/api/portal/catalogue', { ...catalogue, apis: [...kept, bad] })
  await withApp(person, { app_name: evil, use_case: evil })
  for (const path of ['/', entry('status'), '/apps', '/account', `/sign-in?next=${encodeURIComponent(evil)}`]) {
    const seen = await person.browser.open(path)
    assert.equal(seen.status, 200, path)
    assertHarmless(seen)
  }
  const page = await person.browser.open(entry('status'))
  assert.match(page.text, /&#60;script&#62;/)
  assert.match(page.text, /&lt;b style=/)
  const shownAgain = await person.browser.submit(await person.browser.open('/account'), '/account/password', {
    ...{ password: evil, new_password: evil },
  })
  assertHarmless(shownAgain)
})

test('a sign-in leads to no other site, and breaks no header', async () => {
  const { email } = await signedUp()
  const targets = [
    'https://evil.test/',
    '//evil.test/',
    '/\\evil.test',
    '/a\r\nX-Evil: 1',
    'javascript:alert(1)',
    '/\t/evil.test',
  ]
  for (const next of targets) {
    const browser = new FormBrowser(example.portalUrl)
    const page = await browser.open(`/sign-in?next=${encodeURIComponent(next)}`)
    const hidden = hiddenFields(page, '/sign-in')
    assert.equal(hidden.next, '/', next)
    const answer = await fetch(`${example.portalUrl}/sign-in`, {
      ...{ method: 'POST', redirect: 'manual' },
      headers: { cookie: `portal=${browser.cookies.get('portal')}` },
      body: new URLSearchParams({ ...hidden, next, email, password: PASSWORD }),
    })
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/'], next)
    assert.equal(answer.headers.get('x-evil'), null)
  }
})

test('bodies that are no forms, too large, or name a field twice', async () => {
  const post = (body: string, type = 'application/x-www-form-urlencoded') =>
    fetch(`${example.portalUrl}/sign-in`, { method: 'POST', headers: { 'content-type': type }, body })
  assert.equal((await post('{}', 'application/json')).status, 415)
  assert.equal((await post(`a=${'x'.repeat(70_000)}`)).status, 413)
  assert.equal((await post('email=a&email=b')).status, 400)
  assert.equal((await fetch(example.portalUrl, { method: 'DELETE' })).status, 404)
})

test('sign-up refuses when off, and taken addresses, bad passwords and unknown fields', async (t) => {
  const { email } = await signedUp()
  const browser = new FormBrowser(example.portalUrl)
  const page = await browser.open('/sign-up')
  const good = { name: 'N', email: 'fresh@example.test', password: PASSWORD, 'field:Company': 'C' }
  const taken = await browser.submit(page, '/sign-up', { ...good, email: email.toUpperCase() })
  assert.deepEqual([taken.status, /role="alert"/.test(taken.text)], [400, true])
  const short = await browser.submit(page, '/sign-up', { ...good, password: 'abc' })
  assert.deepEqual([short.status, /role="alert"/.test(short.text)], [400, true])
  assert.ok(!short.text.includes('value="abc"'), 'passwords are not sent back')
  await example.admin('PUT', '/api/portal/configuration', { disable_signup: true })
  t.after(() => example.admin('PUT', '/api/portal/configuration', { disable_signup: false }))
  assert.equal((await browser.open('/sign-up')).status, 403)
  assert.equal((await browser.submit(page, '/sign-up', good)).status, 403)
  const { Data } = await example.admin('GET', '/api/portal/developers?q=fresh@example.test')
  assert.deepEqual(Data, [])
})

test('a request that breaks a rule is told why, and of two at once one wins', async () => {
  const person = await signedUp()
  const { browser } = person
  const orders = await browser.open(entry('orders'))
  const bad = await browser.submit(orders, '/apis/orders/request', { ...APP, redirect_uri: 'not an address' })
  assert.equal(bad.status, 400)
  assert.match(bad.text, /role="alert">[^<]*redirect/)
  assert.match(bad.text, /value="not an address"/, 'what was typed is still there')
  const weather = await browser.open(entry('weather'))
  const both = await Promise.all([1, 2].map(() => browser.submit(weather, '/apis/weather/request')))
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400])
  assert.equal(Object.keys((await record(person.id)).keys as Row).length, 1)
})

test('a part of a path is one segment, whatever is in it', () => {
  for (const text of ['', '.', '..']) assert.throws(() => part(text), DashboardRefusal)
  for (const text of ['../..', '...', 'a/b?c#d', '%2e%2e', 'é\r\n']) {
    const url = new URL(`http://a.test/one/${part(text)}/end`)
    assert.deepEqual(url.pathname.split('/').length, 4, text)
    assert.equal(decodeURIComponent(url.pathname.split('/')[2]!), text)
  }
})

test('a document that is no OpenAPI, or goes round in circles, is read without harm', () => {
  for (const text of ['', '[]', '{', '{"paths": 5}', 'a: &a [*a]', 'x: y', '\0'])
    assert.equal(readApiDocument(text), undefined)
  const round = { $ref: '#/paths/~1a' }
  const read = readApiDocument(
    JSON.stringify({ paths: { '/a': round, '/b': { get: { parameters: [round, 5, null] } } } }),
  )
  assert.deepEqual(
    read?.operations.map(({ method, path }) => `${method} ${path}`),
    ['GET /b'],
  )
  const yaml = 'openapi: 3.0.3\ninfo: {title: T}\npaths:\n  /x:\n    put: {summary: S}\n'
  assert.deepEqual(
    readApiDocument(yaml)?.operations.map(({ summary }) => summary),
    ['S'],
  )
})

test('npm run example:portal starts everything, says where, and ends with its signal', async (t) => {
  const env = { ...process.env, GATEWAY_PORT: '0', DASHBOARD_PORT: '0', PORTAL_PORT: '0' }
  const file = join(import.meta.dirname, '../../examples/portal/run.ts')
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk
      const found = /open this +(http\S+)[\s\S]*Ctrl-C/.exec(text)
      if (found !== null) resolve(found[1]!)
    })
    void ended.then((code) => reject(new Error(`it ended with ${code}: ${text}`)))
  })
  assert.match(await (await fetch(url)).text(), /<a href="\/apis\/weather">Weather<\/a>/)
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
})

test('settings that are missing are named', () => {
  assert.throws(() => readSettings({}), /set DASHBOARD_URL/)
  assert.throws(() => readSettings({ DASHBOARD_URL: 'http://a.test/' }), /set PORTAL_CREDENTIAL/)
  const settings = readSettings({
    DASHBOARD_URL: 'http://a.test/',
    PORTAL_CREDENTIAL: 'c',
    PUBLIC_URL: 'https://p.test/',
  })
  assert.deepEqual(
    [settings.dashboardUrl, settings.publicUrl, settings.port],
    ['http://a.test', 'https://p.test', 8094],
  )
})

test('people of an app that a developer registered sign in at the shipped login page', async () => {
  const clientId = await withApp(await signedUp())
  const asked = new URLSearchParams({
    ...{ client_id: clientId, response_type: 'code', redirect_uri: APP.redirect_uri, scope: 'orders:read' },
    ...{ state: 's', code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
  })
  const authorize = `${example.gatewayUrl}/orders/oauth/authorize?${asked}`
  const led = await fetch(authorize, { redirect: 'manual' })
  assert.ok(led.headers.get('location')?.startsWith(example.loginUrl), `${led.status} ${await led.text()}`)
  const page = await fetch(led.headers.get('location')!)
  assert.equal(page.status, 200)
  assert.match(await page.text(), /<input[^>]*type="password"/)
})
