import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { readIdpMetadata } from '../../../src/dashboard/single-sign-on/saml-metadata.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { addCertificate } from '../../../src/publish/certificates/certificates.ts'
import { makeRsaPair, SamlIdp, type Subject, type Wrong } from '../../worlds/dashboard/saml-idp.ts'
import { Browser, locationOf, sessionIn, ssoWorld, whyRefused } from '../../worlds/dashboard/sso-world.ts'

const PAIR = makeRsaPair('idp.example.test')
const OTHER = makeRsaPair('evil.example.test')
const ADA: Subject = { email: 'ada@example.test' }

async function world(t: TestContext, more: JsonObject = {}, config: JsonObject = {}, env = {}) {
  const dashboard = await ssoWorld(t, env)
  const idp = new SamlIdp(PAIR)
  await dashboard.profile({
    ID: 'corp',
    Name: 'Corporation',
    ActionType: 'GenerateOrLoginUserProfile',
    ProviderName: 'SAMLProvider',
    Type: 'redirect',
    ProviderConfig: { IDPMetadata: idp.metadata, SAMLBaseURL: dashboard.base, ...config },
    ...more,
  })
  const own = async () => (await dashboard.call('GET', '/auth/corp/saml/metadata')).text
  const callback = `${dashboard.base}/auth/corp/saml/callback`
  const begin = async (browser: Browser) => {
    const begun = await browser.visit(`${dashboard.base}/auth/corp/saml`)
    assert.equal(begun.status, 303, whyRefused(dashboard))
    return new URL(locationOf(begun))
  }
  const send = (browser: Browser, xml: string, extra: Record<string, string> = {}) =>
    browser.visit(callback, { SAMLResponse: Buffer.from(xml).toString('base64'), ...extra }, { lax: true })
  return {
    ...{ ...dashboard, idp, own, begin, send, callback },
    /** A whole sign-in; answers where it ends. */
    async signIn(browser: Browser, subject = ADA, wrong: Wrong = {}) {
      const asked = await idp.requestOf(await begin(browser), await own())
      const taken = await send(browser, await idp.respond(asked, await own(), subject, wrong))
      return taken.status === 303 ? browser.visit(new URL(locationOf(taken), callback)) : taken
    },
  }
}

test('a browser signs in at a SAML identity provider and is let in with its groups', async (t) => {
  const dashboard = await world(t)
  const ops = await dashboard.group({ hooks: 'write' })
  const { Data } = (await dashboard.call('GET', '/api/tib/profiles/corp', { as: dashboard.boss })).json as {
    Data: JsonObject
  }
  const body = { ...Data, CustomUserGroupField: 'groups', UserGroupMapping: { 'Domain Ops': ops } }
  const put = await dashboard.call('PUT', '/api/tib/profiles/corp', { as: dashboard.boss, body })
  assert.equal(put.status, 200, put.text)
  for (const groups of [['Domain Ops'], ['x', 'Domain Ops']]) {
    const browser = new Browser()
    const end = await dashboard.signIn(browser, { ...ADA, groups })
    assert.deepEqual([end.status, locationOf(end)], [303, '/'], whyRefused(dashboard))
    const session = await sessionIn(dashboard, browser)
    assert.deepEqual([session?.user.email_address, session?.user.first_name], ['ada@example.test', 'Byron'])
    assert.deepEqual(session?.user.permissions, { hooks: 'write' })
  }
  const stranger = new Browser()
  assert.equal((await dashboard.signIn(stranger, { ...ADA, groups: ['Unknown'] })).status, 403)
  assert.equal(await sessionIn(dashboard, stranger), undefined)
})

test('our metadata names the callback and asks for signed assertions', async (t) => {
  const dashboard = await world(t)
  const answer = await dashboard.call('GET', '/auth/corp/saml/metadata')
  assert.match(String(answer.headers['content-type']), /^application\/samlmetadata\+xml/)
  assert.match(answer.text, /WantAssertionsSigned="true"/)
  assert.ok(answer.text.includes(`Location="${dashboard.callback}"`))
  assert.ok(answer.text.includes(`entityID="${dashboard.base}/auth/corp/saml/metadata"`))
})

test('what is wrong with an assertion: signature, audience, recipient, issuer, request, times', async (t) => {
  const dashboard = await world(t)
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)
  const cases: [string, Wrong, RegExp][] = [
    ['nothing is signed', { unsigned: true }, /Invalid signature/],
    ['signed by somebody else', { signedBy: OTHER }, /Invalid signature/],
    ['signed with SHA-1', { sha1: true }, /SHA-1/],
    ['for others', { audience: 'https://other.example.test' }, /audience mismatch/],
    [
      'without an audience',
      { template: (xml) => xml.replace(/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/, '') },
      /no AudienceRestriction/,
    ],
    ['sent to others', { recipient: 'https://other.example.test/acs' }, /no bearer confirmation for us/],
    ['of another issuer', { issuer: 'https://evil.example.test' }, /not of the issuer/],
    ['answers another request', { subjectInResponseTo: '_other' }, /does not match subjectInResponseTo/],
    [
      'the subject answers none',
      { template: (xml) => xml.replace(/(Recipient="\{SubjectRecipient\}") InResponseTo="\{InResponseTo\}"/, '$1') },
      /no bearer confirmation/,
    ],
    ['no bearer', { template: (xml) => xml.replace('cm:bearer', 'cm:sender-vouches') }, /no bearer confirmation/],
    ['answers a request that was never made', { inResponseTo: `_${'0'.repeat(108)}` }, /none of our requests/],
    ['expired', { until: ago(2) }, /No valid subject confirmation/],
    ['not yet valid', { notBefore: ago(-2) }, /not yet valid/],
    ['too old, whatever it says', { issued: ago(12), notBefore: ago(13) }, /No valid subject confirmation/],
    ['a document type', { template: (xml) => `<!DOCTYPE x [<!ENTITY a "b">]>${xml}` }, /document type/],
  ]
  for (const [what, wrong, why] of cases) {
    const browser = new Browser()
    const end = await dashboard.signIn(browser, ADA, wrong)
    assert.equal(end.status, 403, what)
    assert.match(whyRefused(dashboard), why, what)
    assert.equal(await sessionIn(dashboard, browser), undefined, what)
  }
  // Within what clocks may differ by.
  for (const wrong of [{ until: new Date(Date.now() - 30_000) }, { notBefore: ago(-0.5) }])
    assert.equal((await dashboard.signIn(new Browser(), ADA, wrong)).status, 303, whyRefused(dashboard))
  const changed = new Browser()
  const asked = await dashboard.idp.requestOf(await dashboard.begin(changed), await dashboard.own())
  const xml = await dashboard.idp.respond(asked, await dashboard.own(), ADA)
  assert.equal((await dashboard.send(changed, xml.replaceAll('ada@example.test', 'bob@example.test'))).status, 403)
  for (const SAMLResponse of ['', 'nonsense', Buffer.from('<a/>').toString('base64'), 'A'.repeat(710_000)])
    assert.equal((await changed.visit(dashboard.callback, { SAMLResponse })).status, 403)
  assert.equal((await changed.visit(dashboard.callback, { SAMLResponse: 'A'.repeat(800_000) })).status, 413)
})

test('a signed assertion within a forged one is refused, wherever it is put', async (t) => {
  const dashboard = await world(t)
  const forged = (xml: string) =>
    xml
      .replace(/<ds:Signature.*<\/ds:Signature>/s, '')
      .replaceAll('ada@example.test', 'boss@example.test')
      .replace(
        / ID="_[0-9a-f]{32}" Version="2.0"(?= IssueInstant="[^"]*"><saml:Issuer>[^<]*<\/saml:Issuer><saml:Subject>)/,
        ' ID="_forged" Version="2.0"',
      )
  const wrap: [string, (signed: string, evil: string, whole: string) => string][] = [
    ['beside, forged first', (signed, evil, whole) => whole.replace(signed, evil + signed)],
    ['beside, forged last', (signed, evil, whole) => whole.replace(signed, signed + evil)],
    [
      'forged around it',
      (signed, evil, whole) => whole.replace(signed, evil.replace('</saml:Assertion>', `${signed}</saml:Assertion>`)),
    ],
    [
      'in extensions',
      (signed, evil, whole) =>
        whole
          .replace(signed, evil)
          .replace('<samlp:Status>', `<samlp:Extensions>${signed}</samlp:Extensions><samlp:Status>`),
    ],
    [
      'the signature moved into the forged one, the signed one within an object of it',
      (signed, evil, whole) => {
        const signature = /<ds:Signature.*<\/ds:Signature>/s.exec(signed)![0]
        const inside = signature.replace(
          '</ds:Signature>',
          `<ds:Object>${signed.replace(signature, '')}</ds:Object></ds:Signature>`,
        )
        return whole.replace(signed, evil.replace('<saml:Subject>', `${inside}<saml:Subject>`))
      },
    ],
    [
      'the same ID twice',
      (signed, evil, whole) => {
        const id = / ID="(_[0-9a-f]{32})"/.exec(signed)![1]!
        const signature = /<ds:Signature.*<\/ds:Signature>/s.exec(signed)![0]
        return (
          whole.replace(signed, evil.replace('_forged', id).replace('<saml:Subject>', `${signature}<saml:Subject>`)) +
          `<!--${signed}-->`
        )
      },
    ],
  ]
  for (const [what, make] of wrap) {
    const browser = new Browser()
    const asked = await dashboard.idp.requestOf(await dashboard.begin(browser), await dashboard.own())
    const whole = await dashboard.idp.respond(asked, await dashboard.own(), ADA)
    const signed = /<saml:Assertion.*<\/saml:Assertion>/s.exec(whole)![0]
    const evil = forged(signed)
    assert.ok(evil.includes('_forged') && evil.includes('boss@') && !evil.includes('ds:Signature'), what)
    const taken = await dashboard.send(browser, make(signed, evil, whole))
    assert.equal(taken.status, 403, what)
    assert.match(whyRefused(dashboard), /Invalid signature/, what)
    assert.equal((await browser.visit(`${dashboard.base}/auth/corp/saml/finish`)).status, 403, what)
  }
  const browser = new Browser()
  const asked = await dashboard.idp.requestOf(await dashboard.begin(browser), await dashboard.own())
  // A comment within the signed text does not cut it short.
  const split = await dashboard.idp.respond(asked, await dashboard.own(), {
    email: 'ada@example.test<!-- -->.evil.test',
  })
  assert.equal((await dashboard.send(browser, split)).status, 303, whyRefused(dashboard))
  await browser.visit(`${dashboard.base}/auth/corp/saml/finish`)
  assert.equal((await sessionIn(dashboard, browser))?.user.email_address, 'ada@example.test.evil.test')
})

test('a response is taken once, and only for the browser that asked', async (t) => {
  const dashboard = await world(t)
  const browser = new Browser()
  const asked = await dashboard.idp.requestOf(await dashboard.begin(browser), await dashboard.own())
  const xml = await dashboard.idp.respond(asked, await dashboard.own(), ADA, { assertionId: '_the-same' })
  assert.equal((await dashboard.send(browser, xml)).status, 303)
  assert.equal((await dashboard.send(browser, xml)).status, 403)
  assert.match(whyRefused(dashboard), /taken before/)
  const second = await dashboard.idp.respond(asked, await dashboard.own(), { email: 'bob@example.test' })
  assert.equal((await dashboard.send(browser, second)).status, 403)
  const finish = `${dashboard.base}/auth/corp/saml/finish`
  const thief = new Browser()
  assert.equal((await thief.visit(finish)).status, 403)
  await dashboard.begin(thief)
  assert.equal((await thief.visit(finish)).status, 403)
  assert.equal((await browser.visit(finish)).status, 303)
  assert.equal((await browser.visit(finish)).status, 403)
  // The same assertion in answer to another request.
  const other = new Browser()
  const end = await dashboard.signIn(other, ADA, { assertionId: '_the-same' })
  assert.equal(end.status, 403)
  // An answer that comes too late, and one that nobody fetches in time.
  const late = new Browser()
  const slow = await dashboard.idp.requestOf(await dashboard.begin(late), await dashboard.own())
  const answer = await dashboard.idp.respond(slow, await dashboard.own(), ADA)
  assert.equal((await dashboard.send(late, answer)).status, 303)
  dashboard.clock.advance(60_000)
  assert.equal((await late.visit(finish)).status, 403)
  const lapsed = new Browser()
  const old = await dashboard.idp.requestOf(await dashboard.begin(lapsed), await dashboard.own())
  dashboard.clock.advance(600_000)
  assert.equal((await dashboard.send(lapsed, await dashboard.idp.respond(old, await dashboard.own(), ADA))).status, 403)
  assert.match(whyRefused(dashboard), /none of our requests/)
})

test('a response of too many tags is refused unread, one of many groups is accepted', async (t) => {
  const dashboard = await world(t)
  const browser = new Browser()
  const respond = async (groups: readonly string[], wrong: Wrong = {}) => {
    const asked = await dashboard.idp.requestOf(await dashboard.begin(browser), await dashboard.own())
    return dashboard.idp.respond(asked, await dashboard.own(), { ...ADA, groups }, wrong)
  }
  const many = Array.from({ length: 900 }, (_, number) => `group ${number}`)
  assert.equal((await dashboard.send(browser, await respond(many))).status, 303, whyRefused(dashboard))
  const padded = async (padding: string) =>
    (await respond([], { unsigned: true })).replace('</saml:Assertion>', `${padding}$&`)
  for (const unit of ['<a/>', '<a>', '<!---->', '<?a?>', '<![CDATA[]]>', '<a ID="a"/>', '<']) {
    assert.equal((await dashboard.send(browser, await padded(unit.repeat(6000)))).status, 403)
    assert.match(whyRefused(dashboard), /more than 2000 tags/, unit)
    assert.equal((await dashboard.send(browser, await padded(unit.repeat(900)))).status, 403)
    assert.match(whyRefused(dashboard), /the SAML response is refused/, unit)
  }
  for (const unit of [' b', '\tb', ' b=""', 'b=""', "b=''", ' b=c', '=b', ' xmlns:b="c"']) {
    const padding = `<a ${unit.repeat(40_000)}/>`
    assert.equal((await dashboard.send(browser, await padded(padding))).status, 403)
    assert.match(whyRefused(dashboard), /too many attributes/, unit)
  }
})

test('a request of one profile answers none of another, and RelayState leads nowhere', async (t) => {
  const dashboard = await world(t)
  const { idp, base } = dashboard
  await dashboard.profile({
    ...{ ID: 'twin', ActionType: 'GenerateOrLoginUserProfile', ProviderName: 'SAMLProvider' },
    ProviderConfig: { IDPMetadata: idp.metadata, SAMLBaseURL: base, EntityId: `${base}/auth/corp/saml/metadata` },
  })
  const browser = new Browser()
  const asked = await idp.requestOf(await dashboard.begin(browser), await dashboard.own())
  const xml = await idp.respond(asked, await dashboard.own(), ADA, { recipient: `${base}/auth/twin/saml/callback` })
  const SAMLResponse = Buffer.from(xml).toString('base64')
  assert.equal((await browser.visit(`${base}/auth/twin/saml/callback`, { SAMLResponse })).status, 403)
  const right = await idp.respond(asked, await dashboard.own(), ADA)
  const taken = await dashboard.send(browser, right, { RelayState: 'https://evil.example.test/' })
  assert.equal(locationOf(taken), '/auth/corp/saml/finish')
  assert.equal(
    locationOf(await browser.visit(`${base}/auth/corp/saml/finish?RelayState=https://evil.example.test/`)),
    '/',
  )
})

test('with a stored certificate requests are signed', async (t) => {
  const dashboard = await ssoWorld(t)
  const pair = makeRsaPair('dashboard.example.test')
  const { id } = await addCertificate(dashboard.parts, {
    pem: pair.cert + pair.key,
    orgId: dashboard.orgId,
    actor: 'test',
  })
  const idp = new SamlIdp(PAIR)
  const profile = (name: string, certificate: string) => ({
    ...{ ID: name, ActionType: 'GenerateOrLoginUserProfile', ProviderName: 'SAMLProvider' },
    ProviderConfig: { IDPMetadata: idp.metadata, SAMLBaseURL: dashboard.base, CertLocation: certificate },
  })
  await dashboard.profile(profile('signed', id))
  const own = (await dashboard.call('GET', '/auth/signed/saml/metadata')).text
  assert.match(own, /AuthnRequestsSigned="true"/)
  const begun = await new Browser().visit(`${dashboard.base}/auth/signed/saml`)
  assert.match(await idp.requestOf(new URL(locationOf(begun)), own, { signed: true }), /^_[0-9a-f]{108}$/)
  const foreign = await addCertificate(dashboard.parts, {
    pem: OTHER.cert + OTHER.key,
    orgId: await dashboard.organisation(),
    actor: 'test',
  })
  await dashboard.profile(profile('stolen', foreign.id))
  assert.equal((await new Browser().visit(`${dashboard.base}/auth/stolen/saml`)).status, 403)
  assert.match(whyRefused(dashboard), /CertLocation/)
})

test('metadata are fetched within bounds and refused from private networks', async (t) => {
  const idp = new SamlIdp(PAIR)
  let asked = 0
  const server = createServer((request, response) => {
    asked++
    if (request.url === '/moved') response.writeHead(302, { location: '/right' }).end()
    else if (request.url === '/huge') response.end('x'.repeat(2_000_000))
    else if (request.url === '/html') response.end('<html></html>')
    else response.end(idp.metadata)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const from = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const profile = (id: string, url: string, base: string) => ({
    ...{ ID: id, ActionType: 'GenerateOrLoginUserProfile', ProviderName: 'SAMLProvider' },
    ProviderConfig: { IDPMetadataURL: url, SAMLBaseURL: base },
  })
  const dashboard = await ssoWorld(t)
  for (const [path, status] of [
    ['right', 303],
    ['moved', 403],
    ['huge', 403],
    ['html', 403],
  ] as const) {
    await dashboard.profile(profile(path, `${from}/${path}`, dashboard.base))
    const visits = await Promise.all([1, 2, 3].map(() => new Browser().visit(`${dashboard.base}/auth/${path}/saml`)))
    assert.deepEqual(
      visits.map((visit) => visit.status),
      [status, status, status],
      path + whyRefused(dashboard),
    )
  }
  assert.equal(asked, 4)
  const fenced = await ssoWorld(t, { SVC_SSO_ALLOWPRIVATE: 'false' })
  await fenced.profile(profile('inside', `${from}/right`, fenced.base))
  assert.equal((await new Browser().visit(`${fenced.base}/auth/inside/saml`)).status, 403)
  assert.match(whyRefused(fenced), /set sso\.allow_private to reach it$/)
  assert.equal(asked, 4)
  for (const xml of [
    '',
    '<a/>',
    '<!DOCTYPE a><a/>',
    idp.metadata.replace(/Location="[^"]*"/, 'Location="javascript:x"'),
    '<'.repeat(5000),
  ])
    await assert.rejects(readIdpMetadata(xml), { code: 'sso_failed' })
})

test('an account is found by the first name ID of the identity provider, unless it is transient', async (t) => {
  const dashboard = await world(t, {}, { SAMLEmailClaim: 'address' }, { SVC_DB_SSOENABLEUSERLOOKUP: 'true' })
  const { id } = await dashboard.user({ apis: 'read' })
  const user = (await dashboard.store.documents.get('user', id as never))!
  const body = { ...user.body, email_address: 'ada@example.test' }
  await dashboard.store.documents.commit([{ op: 'put', kind: 'user', id: user.id, body }], undefined)
  const enter = async (name: string, address: string, format = 'persistent') => {
    const template = (xml: string) =>
      xml
        .replace('{NameIDFormat}', `urn:oasis:names:tc:SAML:2.0:nameid-format:${format}`)
        .replace('{NameID}', name)
        .replace('{AttributeStatement}', `<saml:AttributeStatement>${attribute(address)}</saml:AttributeStatement>`)
    const browser = new Browser()
    const end = await dashboard.signIn(browser, ADA, { template })
    return end.status === 403 ? 'refused' : (await sessionIn(dashboard, browser))?.user.id
  }
  for (const name of ['t1', 't2']) assert.equal(await enter(name, 'ada@example.test', 'transient'), id)
  assert.equal(await enter('p1', 'ada@example.test'), id)
  assert.equal(await enter('p2', 'ada@example.test'), 'refused')
  assert.equal(await enter('t3', 'ada@example.test', 'transient'), 'refused')
  assert.equal(await enter('p1', 'lovelace@example.test'), id)
})

const attribute = (value: string) =>
  `<saml:Attribute Name="address"><saml:AttributeValue>${value}</saml:AttributeValue></saml:Attribute>`
