import * as client from 'openid-client'
import { Fault, fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { repeatsMember } from '../../model/json/json-body.ts'
import { newSecret } from '../../model/secrets/secret.ts'
import { profileText } from '../../model/single-sign-on/idp-profile.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Change } from '../../store/ports/ports.ts'
import type { Answer } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { ticketHash } from '../sign-in/sessions.ts'
import { goTo } from './answers.ts'
import { firstText, type ProvenPerson } from './claims.ts'
import { baseOf } from './destinations.ts'
import { FLOW_MS, flowCookie, flowOf } from './flow-cookie.ts'
import { guardedFetch } from './guarded-fetch.ts'
import type { AddressStatus } from './person.ts'
import type { UsedProfile } from './profiles.ts'

const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/

const WELL_KNOWN = /\/\.well-known\/openid-configuration$/
const USUAL_SCOPES = ['openid', 'email', 'profile']
const CLOCK_TOLERANCE_S = 60

/** The name that sign-in addresses have for OpenID Connect. */
export const OPENID = 'openid-connect'

/**
 * Sends the browser to the identity provider, by the code flow with state, nonce and PKCE (OpenID Connect Core 1.0 section 3.1,
 * RFC 7636), and leaves it a cookie to come back with. @throws Fault `sso_failed` (403) with the reason for the log
 */
export async function beginOidc(parts: DashboardParts, call: Call, used: UsedProfile): Promise<Answer> {
  const provider = providerOf(used)
  const config = await configurationOf(parts, used, provider)
  const flow = { id: newSecret(), nonce: newSecret(), verifier: client.randomPKCECodeVerifier() }
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: callbackOf(parts, used),
    scope: scopesOf(provider),
    state: flow.id,
    nonce: flow.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
    code_challenge_method: 'S256',
  })
  if (!/^https?:$/.test(url.protocol)) throw fault('sso_failed', 'the identity provider names no http address')
  return goTo(url.href, flowCookie(parts, call, used.profile.id, flow))
}

/**
 * Takes the answer of the identity provider: the browser must be the one that began, and issuer, audience, signature, times and
 * nonce of the ID token be right. `changes` make it the only time that this answer is taken.
 * @throws Fault `sso_failed` (403) with the reason for the log
 */
export async function endOidc(
  parts: DashboardParts,
  call: Call,
  used: UsedProfile,
): Promise<{ readonly proven: ProvenPerson; readonly changes: readonly Change[] }> {
  const flow = flowOf(parts, call, used.profile.id)
  if (flow === undefined) throw fault('sso_failed', 'the browser has not begun this sign-in, or too long ago')
  const provider = providerOf(used)
  const config = await configurationOf(parts, used, provider)
  const url = new URL(callbackOf(parts, used))
  url.search = call.url.includes('?') ? call.url.slice(call.url.indexOf('?')) : ''
  try {
    const tokens = await client.authorizationCodeGrant(config, url, {
      expectedState: flow.id,
      expectedNonce: flow.nonce,
      pkceCodeVerifier: flow.verifier,
      idTokenExpected: true,
    })
    const idToken = tokens.claims()
    if (idToken === undefined) throw new Error('no ID token came')
    const asked = provider.SkipUserInfoRequest !== true && config.serverMetadata().userinfo_endpoint !== undefined
    const more = asked ? await client.fetchUserInfo(config, tokens.access_token, idToken.sub) : {}
    return { proven: provenBy(idToken, more), changes: [onceOnly(parts, flow.id)] }
  } catch (error) {
    throw failed(error)
  }
}

type Said = Readonly<Record<string, unknown>>

/** `idToken` goes before what the provider's user info says. */
function provenBy(idToken: Said & { readonly iss: string; readonly sub: string }, more: Said): ProvenPerson {
  const found = new Map(Object.entries({ ...more, ...idToken }))
  const names = [firstText(found.get('given_name')), firstText(found.get('family_name'))].filter((name) => name !== '')
  return {
    claims: found,
    issuer: idToken.iss,
    subject: idToken.sub,
    userId: idToken.sub,
    email: firstText(found.get('email')),
    address: addressBy([idToken, more], found.get('email')),
    attributesTrusted: false,
    displayName: firstText(found.get('name')) || names.join(' '),
  }
}

/**
 * A provider's claims about an address. Each document speaks of its own address alone: the `email_verified` of one does not make the `email`
 * of the other true. Some providers send the text "true", which is equal; nothing else is.
 */
function addressBy(documents: readonly Said[], email: unknown): AddressStatus {
  const said = documents.filter((one) => one.email === email).map((one) => one.email_verified)
  if (said.some((value) => value === false || value === 'false')) return 'denied'
  const verified = (value: unknown) => value === true || value === 'true'
  const unclear = said.some((value) => value !== undefined && !verified(value))
  return typeof email === 'string' && said.some(verified) && !unclear ? 'verified' : 'unsaid'
}

/** The codes of the identity provider work once; this holds where they do not. */
function onceOnly({ clock }: DashboardParts, state: string): Change {
  const expiresAt = clock.wall() + FLOW_MS
  const row = newTicket('sso', expiresAt)
  return { op: 'putTicket', hash: ticketHash('sso_state', state), row, ifAbsent: true }
}

function configurationOf(
  parts: DashboardParts,
  used: UsedProfile,
  provider: JsonObject,
): Promise<client.Configuration> {
  return parts.providerCaches.oidc.get(used.version, () => discover(parts, provider))
}

async function discover({ config }: DashboardParts, provider: JsonObject): Promise<client.Configuration> {
  const { allow_private: allowPrivate, timeout_ms: timeoutMs } = config.sso
  const issuer = new URL(profileText(provider, 'DiscoverURL').replace(WELL_KNOWN, ''))
  const secret = profileText(provider, 'Secret')
  const authentication = secret === '' ? client.None() : clientSecret(provider, secret)
  // The library refuses it too, without the setting.
  if (issuer.protocol === 'http:' && !allowPrivate)
    throw fault(
      'sso_failed',
      `the identity provider could not be asked at ${issuer.host}: plain http needs sso.allow_private`,
    )
  try {
    const found = await client.discovery(
      issuer,
      profileText(provider, 'Key'),
      { [client.clockTolerance]: CLOCK_TOLERANCE_S },
      authentication,
      {
        // Without it the library takes an ID token on trust, because it came by TLS.
        execute: [client.enableNonRepudiationChecks, ...(allowPrivate ? [client.allowInsecureRequests] : [])],
        timeout: timeoutMs / 1000,
        [client.customFetch]: async (url, { method, headers, body }) =>
          refuseRepeatedClaims(await guardedFetch(url, { method, headers, body }, { allowPrivate, timeoutMs })),
      },
    )
    return found
  } catch (error) {
    throw failed(error)
  }
}

/** The broker sends the secret in `Authorization`, unless the profile says that the provider takes it in the body alone. */
function clientSecret(provider: JsonObject, secret: string): client.ClientAuth {
  return provider.DisableAuthHeaderProviderDomain ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret)
}

function providerOf({ profile }: UsedProfile): JsonObject {
  const list = Array.isArray(profile.config.UseProviders) ? (profile.config.UseProviders as JsonObject[]) : []
  const found = list.find((provider) => profileText(provider, 'Name') === OPENID)
  if (found === undefined) throw fault('profile_unknown')
  return found
}

function scopesOf({ Scopes: scopes }: JsonObject): string {
  const given = Array.isArray(scopes) && scopes.length > 0 ? scopes.map(String) : USUAL_SCOPES
  return [...new Set(['openid', ...given])].join(' ')
}

function callbackOf(parts: DashboardParts, { profile }: UsedProfile): string {
  return `${baseOf(parts, profileText(profile.config, 'CallbackBaseURL'))}/auth/${profile.id}/${OPENID}/callback`
}

/** Messages of the library are for the log: only the text, since its errors may contain a token. */
function failed(error: unknown): Error {
  const words: string[] = []
  for (let at: unknown = error; at instanceof Error && words.length < 4; at = at.cause) {
    if (at instanceof Fault) return at
    words.push(at.message)
  }
  return fault('sso_failed', words.join(': '))
}

/**
 * Refuses an answer of an identity provider that names a member of some object twice, as do the ID token in it and user info that is a JWT: of two
 * claims one reader takes the first and another the last (RFC 7519 section 4). @throws Fault `sso_failed` (403)
 */
async function refuseRepeatedClaims(response: Response): Promise<Response> {
  const text = (await response.clone().text()).trim()
  const answer = JWT.test(text) ? text : parsed(text)
  const token = typeof answer === 'object' && isObject(answer) ? answer.id_token : answer
  const names = typeof answer === 'object' && repeatsMember(text, answer)
  if (names || (typeof token === 'string' && tokenRepeats(token)))
    throw fault('sso_failed', 'the identity provider names a member twice in one document')
  return response
}

function tokenRepeats(token: string): boolean {
  return token
    .split('.', 2)
    .map((part) => Buffer.from(part, 'base64url').toString('utf8'))
    .some((text) => {
      const value = parsed(text)
      return value !== undefined && repeatsMember(text, value)
    })
}

/** undefined for what is no JSON, which the reader of the answer judges. */
function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
