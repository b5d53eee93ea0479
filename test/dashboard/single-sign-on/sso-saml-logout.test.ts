import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { Secret, TOTP } from 'otpauth'
import { renewSession } from '../../../src/dashboard/sign-in/sessions.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { addCertificate } from '../../../src/publish/certificates/certificates.ts'
import { type LogoutAsked, makeRsaPair, SamlIdp, type Subject } from '../../worlds/dashboard/saml-idp.ts'
import { meta, Browser as Page, person, signedIn } from '../../worlds/dashboard/sign-in-world.ts'
import { Browser, locationOf, sessionIn, ssoWorld, whyRefused } from '../../worlds/dashboard/sso-world.ts'

const PAIR = makeRsaPair('idp.example.test')
const OTHER = makeRsaPair('evil.example.test')
const OWN = makeRsaPair('dashboard.example.test')

async function world(t: TestContext, { certified = false, metadata = (xml: string) => xml, env = {} } = {}) {
  const dashboard = await ssoWorld(t, env)
  const idp = new SamlIdp(PAIR)
  const added = { pem: OWN.cert + OWN.key, orgId: dashboard.orgId, actor: 'test' }
  const CertLocation = certified ? (await addCertificate(dashboard.parts, added)).id : ''
  for (const ID of ['corp', 'twin'])
    await dashboard.profile({
      ...{ ID, ActionType: 'GenerateOrLoginUserProfile', ProviderName: 'SAMLProvider', Type: 'redirect' },
      ProviderConfig: { IDPMetadata: metadata(idp.metadata), SAMLBaseURL: dashboard.base, CertLocation },
    })
  const own = async (id = 'corp') => (await dashboard.call('GET', `/auth/${id}/saml/metadata`)).text
  const out = `${dashboard.base}/auth/corp/saml/logout`
  /** A user comes from the identity provider: the browser, and its last address. */
  const arrive = async (subject: Subject, id = 'corp') => {
    const browser = new Browser()
    const begun = await browser.visit(`${dashboard.base}/auth/${id}/saml`)
    const asked = await idp.requestOf(new URL(locationOf(begun)), await own(id), { signed: certified })
    const xml = await idp.respond(asked, await own(id), subject)
    const form = { SAMLResponse: Buffer.from(xml).toString('base64') }
    const taken = await browser.visit(`${dashboard.base}/auth/${id}/saml/callback`, form, { lax: true })
    return { browser, end: locationOf(await browser.visit(new URL(locationOf(taken), dashboard.base))) }
  }
  return {
    ...{ ...dashboard, idp, own, out },
    arrive,
    /** A browser with a signed-in user. */
    async signedIn(subject: Subject, id = 'corp') {
      const { browser } = await arrive(subject, id)
      assert.notEqual(await sessionIn(dashboard, browser), undefined, whyRefused(dashboard))
      return browser
    },
    /** The identity provider sends a browser to log out. */
    leave: (asked: LogoutAsked, browser = new Browser(), more = '') =>
      browser.visit(`${out}?${idp.logoutQuery(out, asked)}${more}`),
    isIn: async (browser: Browser) => (await sessionIn(dashboard, browser)) !== undefined,
  }
}

const ADA = 'ada@example.test'

test('whoever signs out here is sent to sign out at the identity provider', async (t) => {
  for (const certified of [false, true]) {
    const w = await world(t, { certified })
    const browser = await w.signedIn({ email: ADA, sessionIndex: 's-1' })
    const url = new URL(`${w.base}/api/session`)
    const { csrf_token } = JSON.parse((await browser.visit(url)).text) as { csrf_token: string }
    const headers = { cookie: browser.cookies(url), 'x-csrf-token': csrf_token }
    const answer = await w.call('POST', '/api/logout', { headers })
    const { Message, Meta } = answer.json as { Message: string; Meta: { location: string } }
    assert.equal(Message, 'Signed out')
    assert.equal(await w.isIn(browser), false)
    const to = new URL(Meta.location)
    assert.equal(to.origin + to.pathname, 'https://idp.example.test/out')
    assert.equal(to.searchParams.has('Signature'), certified)
    const asked = await w.idp.logoutOf(to, await w.own(), { signed: certified })
    assert.deepEqual([asked.nameID, asked.sessionIndex], [ADA, 's-1'])
    assert.equal(asked.issuer, `${w.base}/auth/corp/saml/metadata`)
    // A replay ends nothing more, from any sender.
    const other = await w.signedIn({ email: ADA })
    const response = encodeURIComponent(deflateRawSync('<a/>').toString('base64'))
    assert.equal(locationOf(await other.visit(`${w.out}?SAMLResponse=${response}`)), '/')
    assert.equal(await w.isIn(other), true)
  }
})

test('without log-out at the provider, signing out leads nowhere', async (t) => {
  const w = await world(t, { metadata: (xml) => xml.replace(/<[^>]*SingleLogoutService[^>]*>/g, '') })
  const browser = await w.signedIn({ email: ADA })
  const url = new URL(`${w.base}/api/session`)
  const { csrf_token } = JSON.parse((await browser.visit(url)).text) as { csrf_token: string }
  const headers = { cookie: browser.cookies(url), 'x-csrf-token': csrf_token }
  assert.equal(((await w.call('POST', '/api/logout', { headers })).json as JsonObject).Meta, null)
  assert.equal(await w.isIn(browser), false)
  assert.equal((await w.leave({ email: ADA })).status, 403)
})

test('the provider ends the sessions that it names, in every browser, and gets its answer', async (t) => {
  const w = await world(t)
  const [first, second, third] = [
    await w.signedIn({ email: ADA, sessionIndex: 's-1' }),
    await w.signedIn({ email: ADA, sessionIndex: 's-2' }),
    await w.signedIn({ email: ADA, sessionIndex: 's-3' }),
  ]
  const bob = await w.signedIn({ email: 'bob@example.test', sessionIndex: 's-1' })
  const twin = await w.signedIn({ email: ADA, sessionIndex: 's-1' }, 'twin')
  const all = async () => Promise.all([first, second, third, bob, twin].map(w.isIn))
  const relayState = 'x y&z="'
  const answer = await w.leave({ email: ADA, sessionIndexes: ['s-1', 's-9'], relayState, id: '_one' })
  assert.equal(answer.status, 303, whyRefused(w))
  const to = new URL(locationOf(answer))
  assert.equal(to.origin + to.pathname, 'https://idp.example.test/out')
  assert.equal(to.searchParams.get('RelayState'), relayState)
  const xml = w.idp.answerIn(to)
  assert.match(xml, /InResponseTo="_one"/)
  assert.match(xml, /status:Success"/)
  assert.deepEqual(await all(), [false, true, true, true, true])
  assert.equal((await w.leave({ email: ADA })).status, 303)
  assert.deepEqual(await all(), [false, false, false, true, true])
  // Nobody is there any more: that is what was wanted.
  assert.equal((await w.leave({ email: ADA })).status, 303)
  assert.equal((await w.leave({ email: 'nobody@example.test' })).status, 303)
})

test('a session that goes on under another id ends too', async (t) => {
  const w = await world(t)
  const browser = await w.signedIn({ email: ADA })
  const cookie = browser.cookies(new URL(w.base)).replace(/^.*authorisation=([^;]*).*$/, '$1')
  const opened = await renewSession(w.parts, cookie)
  const inside = async () =>
    (await w.call('GET', '/api/session', { headers: { cookie: `authorisation=${opened!.value}` } })).status
  assert.equal(await inside(), 200)
  assert.equal((await w.leave({ email: ADA })).status, 303)
  assert.equal(await inside(), 401)
})

test('a session that began with a second factor ends too', async (t) => {
  const w = await world(t, { env: { SVC_DB_SSOENABLEUSERLOOKUP: 'true' } })
  const ada = await person(w)
  const first = await signedIn(w, ada)
  const { secret } = meta(await first.send('POST', '/api/second-factor/totp'))
  const code = () => TOTP.generate({ secret: Secret.fromBase32(String(secret)), timestamp: w.clock.wall() })
  assert.equal((await first.send('POST', '/api/second-factor/totp/confirm', { code: code() })).status, 200)
  w.clock.advance(30_000)
  const { end } = await w.arrive({ email: ada.email })
  const ticket = new URLSearchParams(end.slice(end.indexOf('#') + 1)).get('sign_in')
  const second = new Page(w)
  const done = await second.send('POST', '/api/login/continue', { ticket, code: code() })
  assert.equal(done.status, 200, done.text)
  assert.equal(await second.isIn(), true)
  assert.equal((await w.leave({ email: ada.email })).status, 303, whyRefused(w))
  assert.deepEqual([await first.isIn(), await second.isIn()], [true, false])
})

test('what is wrong with a log-out ends nothing', async (t) => {
  const w = await world(t)
  const browser = await w.signedIn({ email: ADA })
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)
  const huge = `<a>${' '.repeat(10 << 20)}</a>`
  const cases: [string, LogoutAsked, RegExp][] = [
    ['not signed', { email: ADA, unsigned: true }, /not signed/],
    ['signed by somebody else', { email: ADA, signedBy: OTHER }, /signature/],
    ['signed with SHA-1', { email: ADA, sha1: true }, /not signed, or in a way/],
    ['of another issuer', { email: ADA, issuer: 'https://other.test' }, /issuer/],
    ['for others', { email: ADA, destination: `${w.base}/auth/twin/saml/logout` }, /not for us/],
    ['too old', { email: ADA, issued: ago(12) }, /too long ago/],
    ['from the future', { email: ADA, issued: ago(-12) }, /too long ago/],
    ['over', { email: ADA, until: ago(2) }, /too long ago/],
    ['naming nobody', { email: '' }, /names no user/],
    ['with a long RelayState', { email: ADA, relayState: 'x'.repeat(2000) }, /RelayState/],
    ['that unpacks to much', { email: ADA, xml: huge }, /cannot be read/],
    ['with entities', { email: ADA, xml: '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>' }, /cannot be read|document type/],
    ['no XML', { email: ADA, xml: 'nonsense' }, /cannot be read|names no user/],
  ]
  for (const [what, asked, why] of cases) {
    const answer = await w.leave(asked)
    assert.equal(answer.status, 403, what)
    assert.match(whyRefused(w), why, what)
  }
  const good = w.idp.logoutQuery(w.out, { email: ADA, relayState: 'here' })
  const forged = w.idp.logoutQuery(w.out, { email: ADA, unsigned: true })
  for (const query of [
    `${forged}&${good}`,
    `${good}&${forged}`,
    good.replace('RelayState=here', 'RelayState=there'),
    good.replace('RelayState=here&', ''),
    `${good}&RelayState=there`,
    good.replace('SAMLRequest=', 'x=').concat(`&${forged}`),
    good.replace('SAMLRequest=', 'SAMLResponse=').concat(`&${forged}`),
    good.replace('SAMLRequest', '%53AMLRequest'),
    good.replace(/Signature=.*/, 'Signature='),
    '',
  ]) {
    const answer = await new Browser().visit(`${w.out}?${query}`)
    assert.equal(answer.status, 403, query)
  }
  assert.equal(await w.isIn(browser), true)
  assert.equal((await new Browser().visit(`${w.out}?${good}`)).status, 303)
  assert.equal(await w.isIn(browser), false)
  assert.equal((await new Browser().visit(`${w.out}?${good}`)).status, 403)
  assert.match(whyRefused(w), /taken before/)
})
