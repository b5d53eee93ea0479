import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { START } from '../../worlds/dashboard/openid-world.ts'
import { Browser, locationOf, sessionIn, ssoWorld, whyRefused } from '../../worlds/dashboard/sso-world.ts'

const PLAIN = '"email":"ada@example.test","email_verified":true'
const ALG = '"alg":"RS256"'

/** Members that the provider writes, as text: those of the token's header and claims, of user info and of the token answer. */
interface Documents {
  readonly header?: string
  readonly claims?: string
  readonly info?: string
  /** User info is a signed JWT. */
  readonly signedInfo?: true
  readonly answer?: string
}

const TWICE: Readonly<Record<string, Documents>> = {
  'a claim of the ID token': { claims: `"email":"boss@example.test",${PLAIN}` },
  'the other way round': { claims: `${PLAIN},"email":"boss@example.test"` },
  'a claim of the ID token, with an escape': { claims: `"em\\u0061il":"boss@example.test",${PLAIN}` },
  'a nested claim': { claims: `"address":{"country":"A","country":"B"},${PLAIN}` },
  'the header of the ID token': { header: `"alg":"none",${ALG}` },
  'a claim of user info': { info: `"email":"boss@example.test",${PLAIN}` },
  'a claim of signed user info': { info: `"email":"boss@example.test",${PLAIN}`, signedInfo: true },
  'a member of the token answer': { answer: '"id_token":"a.b.c",' },
}

test('of a claim that a provider gives twice none counts: the sign-in is refused', {
  concurrency: false,
}, async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  let documents: Documents = {}
  let nonce = ''
  const encoded = (text: string) => Buffer.from(text).toString('base64url')
  const jwt = (header: string, payload: string) => {
    const signed = `${encoded(`{${header}}`)}.${encoded(payload)}`
    return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`
  }
  const provider = createServer((request, response) => {
    const { header = ALG, claims = PLAIN, info = PLAIN, signedInfo, answer = '' } = documents
    const path = request.url!.split('?')[0]!
    const now = Math.floor(Date.now() / 1000)
    const common = `"iss":"${issuer}","aud":"gatehouse","sub":"ada","iat":${now},"exp":${now + 300}`
    const said: Record<string, () => string> = {
      '/.well-known/openid-configuration': () =>
        JSON.stringify({
          issuer,
          ...{
            authorization_endpoint: `${issuer}/auth`,
            token_endpoint: `${issuer}/token`,
            jwks_uri: `${issuer}/jwks`,
          },
          userinfo_endpoint: `${issuer}/me`,
        }),
      '/jwks': () => JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] }),
      '/token': () =>
        `{${answer}"access_token":"x","token_type":"bearer","id_token":"${jwt(header, `{${common},"nonce":"${nonce}",${claims}}`)}"}`,
      '/me': () => (signedInfo ? jwt(ALG, `{${common},${info}}`) : `{"sub":"ada",${info}}`),
    }
    const type = path === '/me' && signedInfo ? 'application/jwt' : 'application/json'
    response.setHeader('content-type', type).end(said[path]?.() ?? '{}')
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    provider.closeAllConnections()
    provider.close()
  })
  const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const dashboard = await ssoWorld(t)
  const openid = { Name: 'openid-connect', Key: 'gatehouse', Secret: 's', DiscoverURL: issuer }
  await dashboard.profile({
    ...{ ID: 'staff', Name: 'Staff', ActionType: 'GenerateOrLoginUserProfile', ProviderName: 'SocialProvider' },
    Type: 'redirect',
    ProviderConfig: { CallbackBaseURL: dashboard.base, UseProviders: [openid] },
  })
  const signIn = async (written: Documents) => {
    documents = written
    const browser = new Browser()
    const asked = new URL(locationOf(await browser.visit(dashboard.base + START))).searchParams
    nonce = asked.get('nonce')!
    const back = new URL(asked.get('redirect_uri')!)
    back.search = new URLSearchParams({ code: 'c', state: asked.get('state')! }).toString()
    const { status } = await browser.visit(back)
    return { status, session: await sessionIn(dashboard, browser) }
  }
  const usual = await signIn({})
  assert.equal(usual.status, 303, whyRefused(dashboard))
  assert.equal(usual.session?.user.email_address, 'ada@example.test')
  for (const [name, written] of Object.entries(TWICE)) {
    const { status, session } = await signIn(written)
    assert.equal(status, 403, name)
    assert.match(whyRefused(dashboard), /twice/, name)
    assert.equal(session, undefined, name)
  }
})
