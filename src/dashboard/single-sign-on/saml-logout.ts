import { fault, toFault } from '../../errors/fault.ts'
import type { Answer } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import type { IdpSubject } from '../sign-in/idp-subject.ts'
import { endSessionsOfSubject, ticketHash } from '../sign-in/sessions.ts'
import { goTo } from './answers.ts'
import { type UsedProfile, usedProfile } from './profiles.ts'
import { commitOnce, logoutPlaceOf, samlMetadataOf, samlOf, singleUseTicket } from './saml.ts'
import { checkQuerySignature, newSamlRequestId, readLogoutRequest, redirectQuery } from './saml-redirect.ts'

/** A log-out that was asked for longer ago is not taken; clocks may differ by a minute of it. */
const OLDEST_MS = 660_000
const SKEW_MS = 60_000
const UNSPECIFIED = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified'

/** Undefined where the identity provider has no log-out by redirect. @throws Fault `sso_failed` (403) when its metadata cannot be read */
async function samlLogoutUrl(
  parts: DashboardParts,
  used: UsedProfile,
  { nameId, format, nameQualifier, spNameQualifier, sessionIndex }: IdpSubject,
): Promise<string | undefined> {
  const metadata = await samlMetadataOf(parts, used)
  if (metadata.logout === undefined) return undefined
  const saml = await samlOf(parts, used, metadata, newSamlRequestId(parts.sealKey, used.profile.id, parts.clock.wall()))
  const named = {
    issuer: metadata.entityId,
    nameID: nameId,
    nameIDFormat: format || UNSPECIFIED,
    ...(nameQualifier !== '' && { nameQualifier }),
    ...(spNameQualifier !== '' && { spNameQualifier }),
    ...(sessionIndex !== '' && { sessionIndex }),
  }
  return saml.getLogoutUrlAsync(named, '', {})
}

/**
 * Where a browser goes to log out at the identity provider that its session came from; undefined where there is nothing to do, or the
 * provider cannot be asked: the session here has ended all the same.
 */
export async function logoutElsewhere(
  parts: DashboardParts,
  call: Pick<Call, 'requestId'>,
  subject: IdpSubject,
): Promise<string | undefined> {
  try {
    return await samlLogoutUrl(parts, await usedProfile(parts, subject.profile, 'SAMLProvider'), subject)
  } catch (error) {
    const { code, message } = toFault(error)
    parts.log.warn({ request_id: call.requestId, code, why: message }, 'logout at the identity provider failed')
    return undefined
  }
}

/**
 * Takes what an identity provider sends the browser with to log out (SAML 2.0 Profiles section 4.4, by redirect): its own request ends
 * the sessions that it names and is answered; its answer to ours ends nothing more. A request must be signed, for us, in time, and never
 * taken before. @throws Fault `sso_failed` (403) with the reason for the log
 */
export async function takeSamlLogout(parts: DashboardParts, call: Call, used: UsedProfile): Promise<Answer> {
  const query = redirectQuery(call.url)
  // The session here has ended before we asked: nothing depends on the response.
  if (query.message === 'SAMLResponse') return goTo('/')
  const metadata = await samlMetadataOf(parts, used)
  if (metadata.logout === undefined) throw fault('sso_failed', 'the identity provider has no log-out by redirect')
  checkQuerySignature(query, metadata.certificates)
  const request = await readLogoutRequest(query.value)
  const now = parts.clock.wall()
  if (request.issuer !== metadata.entityId)
    throw fault('sso_failed', 'the log-out is not of the issuer that the metadata names')
  if (request.destination !== logoutPlaceOf(parts, used)) throw fault('sso_failed', 'the log-out is not for us')
  if (Math.abs(now - request.issuedAt) > OLDEST_MS || request.endsAt + SKEW_MS <= now)
    throw fault('sso_failed', 'the log-out was asked for too long ago')
  const key = ticketHash('saml_logout', JSON.stringify([used.profile.id, request.id]))
  await commitOnce(parts, [singleUseTicket(key, now + 2 * OLDEST_MS, {})])
  await endSessionsOfSubject(parts, { profile: used.profile.id, nameId: request.nameId }, request.sessionIndexes)
  const to = { ...metadata, logout: { ...metadata.logout, url: metadata.logout.answerUrl } }
  const saml = await samlOf(parts, used, to, newSamlRequestId(parts.sealKey, used.profile.id, now))
  const asked = { ID: request.id, issuer: request.issuer, nameID: request.nameId, nameIDFormat: UNSPECIFIED }
  return goTo(await saml.getLogoutResponseUrlAsync(asked, query.relayState, {}, true))
}
