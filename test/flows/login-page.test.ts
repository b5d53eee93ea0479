import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Example, PEOPLE, startExample } from '../../examples/login-page/start-example.ts'
import { Browser, type Seen } from '../worlds/flows/form-browser.ts'

const [ADA] = PEOPLE
let example: Example

before(async () => {
  example = await startExample({ gatewayPort: 0, loginPort: 0, appPort: 0 })
})
after(() => example.stop())

/** Opens the app, goes to the gateway and signs in; answers the consent page. */
async function toConsent(browser: Browser, start = 'start'): Promise<Seen> {
  const signIn = await browser.open(example.appUrl + start)
  assert.equal(signIn.status, 200, signIn.text)
  assert.match(signIn.text, /to continue to <strong>Order Desk<\/strong>/)
  return browser.submit(signIn, { name: ADA.name, password: ADA.password })
}

for (const start of ['start', 'start?pushed'])
  test(`an app gets to an API by sign-in and consent, and stays there by refresh (${start})`, async () => {
    const browser = new Browser()
    const consent = await toConsent(browser, start)
    assert.match(consent.text, /<h1>Order Desk asks for access<\/h1>/)
    assert.match(consent.text, /<li>See your orders<\/li><li>Place and change orders for you<\/li>/)
    assert.match(consent.text, /Signed in as ada/)
    assert.match(
      consent.headers.get('content-security-policy')!,
      new RegExp(`form-action 'self' ${new URL(example.appUrl).origin}`),
    )
    const orders = await browser.submit(consent, { decision: 'allow' })
    assert.equal(orders.status, 200, orders.text)
    assert.match(orders.text, /Status 200/)
    assert.match(orders.text, /&#34;path&#34;: &#34;\/today&#34;/)
    assert.doesNotMatch(orders.text, /authorization/i, 'the token does not reach the upstream')
    const token = /<code>(\S+?)<\/code>/.exec(orders.text)![1]
    const refreshed = await browser.submit(orders, {})
    assert.match(refreshed.text, /Status 200/)
    assert.notEqual(/<code>(\S+?)<\/code>/.exec(refreshed.text)![1], token)
    const asked = browser.visited.find((url) => url.includes('/oauth/authorize?'))!
    assert.equal(new URL(asked).searchParams.has('redirect_uri'), start === 'start')
  })

test('denying tells the app, and gives it nothing', async () => {
  const browser = new Browser()
  const denied = await browser.submit(await toConsent(browser), { decision: 'deny' })
  assert.equal(denied.status, 403)
  assert.match(denied.text, /You did not allow it/)
  const back = new URL(browser.visited.at(-1)!)
  assert.equal(back.searchParams.get('error'), 'access_denied')
  assert.equal(back.searchParams.has('code'), false)
})

test('a device is connected by its code, once, and turned away by a denial', async () => {
  const ask = (path: string, form: Record<string, string>) =>
    fetch(example.issuer + path, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${example.client.id}:${example.client.secret}`)}` },
      body: new URLSearchParams(form),
    }).then(async (answer) => (await answer.json()) as Record<string, string>)
  const poll = (device_code: string) =>
    ask('/oauth/token', { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code })
  for (const decision of ['allow', 'deny']) {
    const device = await ask('/oauth/device_authorization', { scope: 'orders:read' })
    assert.equal(device.verification_uri, example.loginUrl)
    const browser = new Browser()
    const signIn = await browser.open(device.verification_uri_complete!)
    const codePage = await browser.submit(signIn, { name: ADA.name, password: ADA.password })
    assert.ok(codePage.text.includes(`value="${device.user_code}"`))
    const wrong = await browser.submit(codePage, { user_code: 'BBBB-BBBB' })
    assert.equal(wrong.status, 400)
    const consent = await browser.submit(wrong, { user_code: device.user_code!.toLowerCase() })
    assert.match(consent.text, /<h1>Order Desk asks for access<\/h1>/)
    assert.ok(consent.text.includes(device.user_code!))
    assert.match(consent.text, /<ul><li>See your orders<\/li><\/ul>/)
    const decided = await browser.submit(consent, { decision })
    assert.equal(decided.status, 200)
    assert.equal((await browser.submit(consent, { decision: 'allow' })).status, 400, 'a question is decided once')
    const answer = await poll(device.device_code!)
    if (decision === 'allow') assert.equal(typeof answer.access_token, 'string', JSON.stringify(answer))
    else assert.equal(answer.error, 'access_denied')
  }
})

test('pages allow no script, frame or storing; cookies are safe from scripts and other sites', async () => {
  const browser = new Browser()
  const signIn = await browser.open(`${example.appUrl}start`)
  assert.doesNotMatch(signIn.text, /<script|<style|\son\w+=|javascript:|\sstyle=/i)
  const policy = signIn.headers.get('content-security-policy')!
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"])
    assert.ok(policy.includes(part), part)
  assert.equal(signIn.headers.get('x-frame-options'), 'DENY')
  assert.equal(signIn.headers.get('cache-control'), 'no-store')
  assert.equal(signIn.headers.get('x-content-type-options'), 'nosniff')
  const fresh = await fetch(example.loginUrl)
  assert.match(fresh.headers.get('set-cookie')!, /^login=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
})

test('a sign-in gives a new cookie, and the one before is worth nothing', async () => {
  const browser = new Browser()
  const signIn = await browser.open(`${example.appUrl}start`)
  const before = browser.cookies(example.loginUrl).get('login')!
  const consent = await browser.submit(signIn, { name: ADA.name, password: ADA.password })
  assert.notEqual(browser.cookies(example.loginUrl).get('login'), before)
  const old = await fetch(consent.url, { headers: { cookie: `login=${before}` } })
  assert.equal(old.status, 400)
})

test('forms without token, with a foreign token or from another origin are refused', async () => {
  const browser = new Browser()
  const consent = await toConsent(browser)
  const decide = new URL('/decide', consent.url).href
  const question = /name="question" value="([^"]+)"/.exec(consent.text)![1]!
  const formToken = /name="form_token" value="([^"]+)"/.exec(consent.text)![1]!
  const other = await toConsent(new Browser())
  const foreign = /name="form_token" value="([^"]+)"/.exec(other.text)![1]!
  for (const form of [{}, { form_token: '' }, { form_token: foreign }]) {
    const answer = await browser.open(decide, { question, decision: 'allow', ...form })
    assert.equal(answer.status, 403)
  }
  const form = { question, decision: 'allow', form_token: formToken }
  assert.equal((await browser.open(decide, form, { origin: 'https://evil.example' })).status, 403)
  assert.equal((await browser.open(decide, form, { origin: 'null' })).status, 403)
  // the question is still open, for the page that it was asked on
  assert.equal((await browser.submit(consent, { decision: 'allow' })).status, 200)
  assert.equal((await browser.submit(consent, { decision: 'allow' })).status, 400, 'a question is decided once')
})

test('unknown parameters are not handed on, and shown ones are escaped', async () => {
  const browser = new Browser()
  const start = await fetch(`${example.appUrl}start`, { redirect: 'manual' })
  const authorize = new URL(start.headers.get('location')!)
  const extra = { username: 'root', key_rules: '{"rate":1000000}', decision: 'approve', error: 'x' }
  for (const [name, value] of Object.entries(extra)) authorize.searchParams.set(name, value)
  authorize.searchParams.set('state', '"><b>&')
  const consent = await browser.submit(await browser.open(authorize.href), { name: ADA.name, password: ADA.password })
  assert.doesNotMatch(consent.text, /<b>/)
  await browser.submit(consent, { decision: 'allow' })
  const back = new URL(browser.visited.find((url) => url.includes('/callback?'))!)
  assert.equal(back.searchParams.get('state'), '"><b>&')
  const token = await fetch(`${example.issuer}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${example.client.id}:${example.client.secret}`)}` },
    body: new URLSearchParams({ grant_type: 'authorization_code', code: back.searchParams.get('code')! }),
  })
  assert.equal(token.status, 400, 'the verifier of somebody else is missing')
})

test('an unknown app, a redirect URI of somebody else, and repeated parameters lead nowhere', async () => {
  const browser = new Browser()
  assert.equal((await browser.open(`${example.loginUrl}?client_id=nobody&response_type=code`)).status, 400)
  assert.equal((await browser.open(`${example.loginUrl}?client_id=a&client_id=b`)).status, 400)
  const client_id = example.client.id
  const bad = new URLSearchParams({ client_id, response_type: 'code', redirect_uri: 'https://evil.example/' })
  const signIn = await browser.open(`${example.loginUrl}?${bad}`)
  const consent = await browser.submit(signIn, { name: ADA.name, password: ADA.password })
  const refused = await browser.submit(consent, { decision: 'allow' })
  assert.equal(refused.status, 400)
  assert.ok(browser.visited.every((url) => !url.includes('://evil.example')))
})

test('wrong passwords are counted by name, and five of them close it', async () => {
  const browser = new Browser()
  let page = await browser.open(`${example.appUrl}start`)
  const victim = PEOPLE[1]
  for (let i = 0; i < 5; i++) {
    page = await browser.submit(page, { name: victim.name, password: 'wrong' })
    assert.equal(page.status, 403)
  }
  assert.match(page.text, /Too many wrong passwords/)
  page = await browser.submit(page, { name: victim.name, password: victim.password })
  assert.equal(page.status, 403)
  assert.equal((await browser.submit(page, { name: 'nobody', password: 'x' })).status, 403)
})
