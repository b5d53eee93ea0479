import type { SAML } from '@node-saml/node-saml'
import { Fault, fault, toFault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { visitorOf } from '../../model/network/visitor.ts'
import { profileText } from '../../model/single-sign-on/idp-profile.ts'
import { TaskThread } from '../../model/threads/task-thread.ts'
import { certificateKeyOf, findCertificate } from '../../publish/certificates/certificates.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Change } from '../../store/ports/ports.ts'
import type { Answer } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { idpSubjectOf } from '../sign-in/idp-subject.ts'
import { ticketHash } from '../sign-in/sessions.ts'
import { goTo } from './answers.ts'
import type { ProvenPerson } from './claims.ts'
import { baseOf } from './destinations.ts'
import { FLOW_MS, flowCookie, flowOf } from './flow-cookie.ts'
import { guardedFetch } from './guarded-fetch.ts'
import type { UsedProfile } from './profiles.ts'
import { type PlainSamlOptions, samlLibrary } from './saml-library.ts'
import { checkXml, type IdpMetadata } from './saml-metadata.ts'
import { newSamlRequestId, requestMadeAt } from './saml-redirect.ts'
import type { JudgedResponse, SamlResult, SamlTask } from './saml-thread.ts'

/** Clocks may differ by this much. */
const SKEW_MS = 60_000
/** An older assertion is refused, whatever validity it claims. */
const OLDEST_MS = 600_000
/** How long the browser has to come for what its answer led to. */
const HANDOVER_MS = 60_000
const MOST_RESPONSE = 700_000
/** Elements, comments and the like of a response, both tags of an element counted. Some 900 groups of a person fit. */
const MOST_MARKUP = 2000
/** Blanks, quotes and equals signs in a row: attributes need them between. Those of 1,000 elements and lines of encrypted text fit. */
const MOST_SEPARATORS = 15_000
const JUDGE_WITHIN_MS = 5000
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'

/**
 * Reads XML of strangers: its libraries take time that grows with the square of what was sent. Module state: one thread bounds the CPU
 * of the process, whichever dashboard asks.
 */
const samlThread = new TaskThread<SamlTask, SamlResult>({
  module: new URL(import.meta.url.replace(/saml\.([jt]s)$/, 'saml-thread.$1')),
  name: 'saml',
  withinMs: JUDGE_WITHIN_MS,
  memoryMb: 256,
  mostWaiting: 50,
})

/** Metadata are read once for all callers: no one address waits for them. */
const METADATA = 'metadata'

/** Sends the browser to the identity provider with a request, and leaves it a cookie to come back with. @throws Fault `sso_failed` (403) */
export async function beginSaml(parts: DashboardParts, call: Call, used: UsedProfile): Promise<Answer> {
  const id = newSamlRequestId(parts.sealKey, used.profile.id, parts.clock.wall())
  const saml = await samlOf(parts, used, await samlMetadataOf(parts, used), id)
  const location = await saml.getAuthorizeUrlAsync('', undefined, {})
  return goTo(location, flowCookie(parts, call, used.profile.id, { id, nonce: '', verifier: '' }))
}

/**
 * Takes the answer that the identity provider makes the browser send. It comes from another site, so without our cookie: what it
 * proves is kept for a minute, and the browser sent on by GET to fetch it with the cookie. The assertion must be signed, for us, in
 * answer to one of our requests, in time, and not used before. `RelayState` is ignored: nothing of it is needed.
 * @throws Fault `sso_failed` (403) with the reason for the log
 */
export async function takeSamlResponse(parts: DashboardParts, call: Call, used: UsedProfile): Promise<Answer> {
  const { profile } = used
  const encoded = call.form().get('SAMLResponse') ?? ''
  if (encoded === '' || encoded.length > MOST_RESPONSE)
    throw fault('sso_failed', 'there is no SAML response, or a huge one')
  const xml = Buffer.from(encoded, 'base64').toString('utf8')
  checkXml(xml)
  checkMarkup(xml)
  if (/xmldsig#(?:rsa-|dsa-|ecdsa-)?sha1\b/i.test(xml))
    throw fault('sso_failed', 'the SAML response is signed with SHA-1')
  // Cheap, and before anything is made of what a stranger sent.
  const claimed = /\bInResponseTo=["'](_[0-9a-f]{108})["']/.exec(xml)?.[1] ?? ''
  const requestedAt = requestMadeAt(parts.sealKey, profile.id, claimed, parts.clock.wall())
  if (requestedAt === undefined) throw fault('sso_failed', 'the response answers none of our requests')
  const metadata = await samlMetadataOf(parts, used)
  const task: SamlTask = {
    task: 'judge',
    encoded,
    options: await optionsOf(parts, used, metadata),
    requestId: claimed,
    requestedAt,
    profile: { id: profile.id, config: profile.config },
    bearer: { issuer: metadata.entityId, recipient: acsOf(parts, used), requestId: claimed },
  }
  const { assertionId, proven } = await inThread<JudgedResponse>(task, visitorOf(call.clientAddress))
  const now = parts.clock.wall()
  const body = { use: 'saml', request: claimed, ...provenBody(proven) }
  const hand = ticketHash('sso_saml', claimed)
  await commitOnce(parts, [
    singleUseTicket(
      ticketHash('saml_assertion', JSON.stringify([profile.id, assertionId])),
      now + OLDEST_MS + 2 * SKEW_MS,
      {},
    ),
    singleUseTicket(ticketHash('saml_request', claimed), now + FLOW_MS, {}),
    singleUseTicket(hand, now + HANDOVER_MS, body),
  ])
  return goTo(`/auth/${profile.id}/saml/finish`)
}

/** The result of the response to the browser's own request. @throws Fault `sso_failed` (403) */
export async function endSaml(
  parts: DashboardParts,
  call: Call,
  { profile }: UsedProfile,
): Promise<{ readonly proven: ProvenPerson; readonly changes: readonly Change[] }> {
  const flow = flowOf(parts, call, profile.id)
  if (flow === undefined) throw fault('sso_failed', 'the browser has not begun this sign-in, or too long ago')
  const hash = ticketHash('sso_saml', flow.id)
  const row = await parts.tokens.getTicket(hash)
  const now = parts.clock.wall()
  if (row?.body.use !== 'saml' || row.claimedAt > 0 || row.expiresAt <= now)
    throw fault('sso_failed', 'no response came for the sign-in of this browser')
  return { proven: provenFrom(row.body), changes: [{ op: 'claimTicket', hash, sort: 'sso', now }] }
}

/** Our metadata for the identity provider (SAML 2.0 Metadata). @throws Fault `sso_failed` (403) */
export async function ownSamlMetadata(parts: DashboardParts, used: UsedProfile): Promise<string> {
  const own = { entityId: '', entryPoint: 'https://idp.invalid/', certificates: ['MA=='] }
  const saml = await samlOf(parts, used, own, '_')
  const { certificate } = await keyOf(parts, used)
  const xml = saml.generateServiceProviderMetadata(certificate ?? null, certificate ?? null)
  // The library knows log-out by POST alone. A browser that is redirected brings its cookies along.
  return xml.replace(/(<SingleLogoutService Binding=")[^"]*"/, `$1${REDIRECT}"`)
}

/** Before anything is built of it. */
function checkMarkup(xml: string): void {
  let markup = 0
  for (let at = xml.indexOf('<'); at !== -1; at = xml.indexOf('<', at + 1))
    if (++markup > MOST_MARKUP) throw fault('sso_failed', `the SAML response has more than ${MOST_MARKUP} tags`)
  let separators = 0
  for (const _run of xml.matchAll(/[\s"'=]+/g))
    if (++separators > MOST_SEPARATORS) throw fault('sso_failed', 'the SAML response has too many attributes')
}

/** @throws Fault `sso_failed` (403) with the reason, `busy` (503) */
async function inThread<Result extends SamlResult>(task: SamlTask, caller: string): Promise<Result> {
  try {
    return (await samlThread.run(task, caller)) as Result
  } catch (error) {
    if (error instanceof Fault) throw error
    throw fault('sso_failed', toFault(error).message)
  }
}

/** The library, for one profile and one of our messages with this id. @throws Fault `sso_failed` (403) */
export async function samlOf(
  parts: DashboardParts,
  used: UsedProfile,
  metadata: IdpMetadata,
  requestId: string,
): Promise<SAML> {
  return samlLibrary(await optionsOf(parts, used, metadata), requestId)
}

async function optionsOf(parts: DashboardParts, used: UsedProfile, metadata: IdpMetadata): Promise<PlainSamlOptions> {
  const issuer = entityIdOf(parts, used)
  const { key } = await keyOf(parts, used)
  return {
    issuer,
    audience: issuer,
    callbackUrl: acsOf(parts, used),
    entryPoint: metadata.entryPoint,
    logoutCallbackUrl: logoutPlaceOf(parts, used),
    ...(metadata.logout !== undefined && { logoutUrl: metadata.logout.url }),
    idpCert: [...metadata.certificates],
    acceptedClockSkewMs: SKEW_MS,
    maxAssertionAgeMs: OLDEST_MS,
    requestIdExpirationPeriodMs: FLOW_MS,
    forceAuthn: used.profile.config.ForceAuthentication === true,
    ...(key !== undefined && { privateKey: key, decryptionPvk: key }),
  }
}

/** Our key and certificate, where the profile names a stored one: requests are then signed, and assertions may be encrypted. */
async function keyOf(parts: DashboardParts, { profile }: UsedProfile): Promise<{ key?: string; certificate?: string }> {
  const id = profileText(profile.config, 'CertLocation')
  if (id === '') return {}
  const stored = await findCertificate(parts, id)
  const key = stored?.body.org_id === profile.orgId ? certificateKeyOf(stored.body, parts.sealKey) : undefined
  if (stored === undefined || key === undefined)
    throw fault('sso_failed', 'CertLocation names no certificate of the organisation with a private key')
  return { key, certificate: profileText(stored.body, 'certificate') }
}

/** The metadata of a profile's identity provider, cached for an hour. @throws Fault `sso_failed` (403) */
export function samlMetadataOf(parts: DashboardParts, { profile, version }: UsedProfile): Promise<IdpMetadata> {
  return parts.providerCaches.saml.get(version, async () => {
    const text = profileText(profile.config, 'IDPMetadata')
    if (text !== '') return inThread<IdpMetadata>({ task: 'metadata', xml: text }, METADATA)
    const { allow_private: allowPrivate, timeout_ms: timeoutMs } = parts.config.sso
    const url = profileText(profile.config, 'IDPMetadataURL')
    const response = await guardedFetch(
      url,
      { headers: { accept: 'application/samlmetadata+xml, */*;q=0.1' } },
      { allowPrivate, timeoutMs },
    )
    if (response.status !== 200) throw fault('sso_failed', 'the metadata of the identity provider cannot be read')
    return inThread<IdpMetadata>({ task: 'metadata', xml: await response.text() }, METADATA)
  })
}

function entityIdOf(parts: DashboardParts, { profile }: UsedProfile): string {
  const base = baseOf(parts, profileText(profile.config, 'SAMLBaseURL'))
  return profileText(profile.config, 'EntityId') || `${base}/auth/${profile.id}/saml/metadata`
}

/** Where a SAML identity provider sends the browser to log out. @throws Fault `sso_failed` (403) */
export function logoutPlaceOf(parts: DashboardParts, { profile }: UsedProfile): string {
  return `${baseOf(parts, profileText(profile.config, 'SAMLBaseURL'))}/auth/${profile.id}/saml/logout`
}

function acsOf(parts: DashboardParts, { profile }: UsedProfile): string {
  return `${baseOf(parts, profileText(profile.config, 'SAMLBaseURL'))}/auth/${profile.id}/saml/callback`
}

/** A ticket that says that something was taken: it cannot be put twice. */
export function singleUseTicket(hash: Uint8Array, expiresAt: number, body: JsonObject): Change {
  const row = newTicket('sso', expiresAt, { body })
  return { op: 'putTicket', hash, row, ifAbsent: true }
}

/** Commits what may happen once. @throws Fault `sso_failed` (403) when it has */
export async function commitOnce({ documents }: DashboardParts, changes: readonly Change[]): Promise<void> {
  try {
    await documents.commit(changes, undefined)
  } catch (error) {
    if (toFault(error).code !== 'already_exists') throw error
    throw fault('sso_failed', 'the message, or an answer to the same request, was taken before')
  }
}

function provenBody({ claims, issuer, subject, userId, email, displayName, samlSubject }: ProvenPerson): JsonObject {
  const said = { claims: Object.fromEntries(claims) as JsonObject, issuer, subject, userId, email, displayName }
  return samlSubject === undefined ? said : { ...said, samlSubject: { ...samlSubject } }
}

function provenFrom({ claims, issuer, subject, userId, email, displayName, samlSubject }: JsonObject): ProvenPerson {
  return {
    claims: new Map(Object.entries(isObject(claims) ? claims : {})),
    issuer: String(issuer),
    subject: String(subject),
    userId: String(userId),
    attributesTrusted: true,
    address: 'verified',
    email: String(email),
    displayName: String(displayName),
    samlSubject: idpSubjectOf(samlSubject),
  }
}
