import { createHash } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import { mayDo } from '../../model/people/permission.ts'
import { profileText } from '../../model/single-sign-on/idp-profile.ts'
import { findByEitherId } from '../../publish/documents/own-ids.ts'
import { createKey, deleteKey } from '../../publish/keys/keys.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Change } from '../../store/ports/ports.ts'
import { type Answer, bare } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { uncached } from '../sign-in/browser.ts'
import { ticketHash } from '../sign-in/sessions.ts'
import { readSsoSource } from '../sign-in/sso-source.ts'
import { goTo } from './answers.ts'
import { type ProvenPerson, personFrom } from './claims.ts'
import { locationOf, signInDestinationOf } from './destinations.ts'
import { enterBySso } from './enter.ts'
import { createNonce } from './nonce.ts'
import { currentGuarantor, type UsedProfile } from './profiles.ts'
import { entryOf } from './rights.ts'

/**
 * Ends a sign-in elsewhere as its profile says: a browser session, or a nonce for another place that opens one, or a key.
 * `changes` use up what led here, in the same commit as what is opened.
 * @throws Fault `sso_refused`, `rights_exceeded`, `sso_failed` (403), those of the changes
 */
export async function finishSignIn(
  parts: DashboardParts,
  call: Call,
  used: UsedProfile,
  proven: ProvenPerson,
  changes: readonly Change[],
): Promise<Answer> {
  const { profile } = used
  const place = signInDestinationOf(parts, profile.returnUrl)
  if (place === undefined) throw fault('sso_failed', 'ReturnURL is not registered any more')
  const { person, userId, trusted } = personFrom(used, proven)
  if (trusted)
    parts.log.warn(
      { request_id: call.requestId, profile: profile.id, org_id: profile.orgId },
      'single sign-on took an email address that the identity provider does not call verified, because TrustUnverifiedEmail of the profile says so',
    )
  if (profile.action === 'GenerateTemporaryAuthToken') {
    const made = await makeSsoKey(parts, used, { userId, email: person.email }, changes)
    if (profile.returnUrl === '')
      return uncached(bare({ key_id: made.key, key_hash: made.keyHash, status: 'ok', action: 'added' }))
    // Behind `#`, which no server log and no Referer gets to see.
    return goTo(`${locationOf(place)}#token=${encodeURIComponent(made.key)}`)
  }
  if (place.is === 'own')
    return enterBySso(parts, call, person, { path: place.path, changes, subject: proven.samlSubject })
  await entryOf(parts, person)
  if (changes.length > 0) await parts.documents.commit(changes, undefined)
  const nonce = await createNonce(parts, { section: 'dashboard', person, notAllowed: false }, person.email || userId)
  const url = new URL(place.url)
  url.searchParams.set('nonce', nonce)
  return goTo(url.href)
}

/** Where a profile sends refused users; undefined = nowhere. */
export function failurePlace(parts: DashboardParts, { profile }: UsedProfile): string | undefined {
  const text = profileText(profile.config, 'FailureRedirect')
  const place = text === '' ? undefined : signInDestinationOf(parts, text)
  return place && locationOf(place)
}

/**
 * Creates a key with the policy of the profile for a user who signed in. A user has one key per profile at a time: the previous one
 * is revoked. @throws Fault `rights_exceeded` (403) where the author of the profile may not create keys, `sso_refused` (403) when
 * the policy does not exist
 */
async function makeSsoKey(
  parts: DashboardParts,
  { profile, guarantor, family, opener }: UsedProfile,
  { userId, email }: { readonly userId: string; readonly email: string },
  changes: readonly Change[],
): Promise<{ readonly key: string; readonly keyHash: string }> {
  if (guarantor !== undefined) {
    const now = await currentGuarantor(parts, guarantor)
    if (now === undefined) throw fault('sso_refused', 'the user who set up the profile is gone or inactive')
    if (![now.permissions, now.today ?? now.permissions].every((held) => mayDo(held, 'keys', 'write')))
      throw fault('rights_exceeded', 'A sign-in cannot make keys where the user who set it up may not')
  }
  if ((await findByEitherId(parts, 'policy', profile.orgId, profile.policyId)) === undefined)
    throw fault('sso_refused', 'MatchedPolicyID names no policy of the organisation')
  if (changes.length > 0) await parts.documents.commit(changes, undefined)
  const now = parts.clock.wall()
  const session = {
    org_id: profile.orgId,
    apply_policies: [profile.policyId],
    expires: Math.floor(now / 1000) + profile.keyLifeS,
    meta_data: { AuthProviderUserID: userId, AuthProviderSource: profile.provider ?? '', Email: email },
  }
  const actor = email || userId
  const made = await createKey(parts, { session, family, keepQuota: false, actor })
  if (made.key === undefined) throw fault('internal', 'a new key has no text')
  await replaceLast(
    parts,
    ticketHash('sso_key', nameOf(profile.id, userId)),
    { keyHash: made.keyHash, family, lifeMs: profile.keyLifeS * 1000 },
    actor,
  )
  // A change that ended the keys of the profile meanwhile did not see this one.
  if (!(await readSsoSource(parts, opener)).holds) {
    const session = await parts.tokens.getSession(Buffer.from(made.keyHash, 'hex'))
    if (session !== undefined) await deleteKey(parts, session, actor)
    throw fault('sso_refused', 'the profile was changed or deactivated at the same time')
  }
  return { key: made.key, keyHash: made.keyHash }
}

async function replaceLast(
  parts: DashboardParts,
  hash: Buffer,
  { keyHash, family, lifeMs }: { readonly keyHash: string; readonly family: string; readonly lifeMs: number },
  actor: string,
): Promise<void> {
  const before = await parts.tokens.getTicket(hash)
  const expiresAt = parts.clock.wall() + lifeMs
  const body = { use: 'key', key_hash: keyHash }
  const row = newTicket('sso', expiresAt, { family, body })
  await parts.documents.commit([{ op: 'putTicket', hash, row }], undefined)
  const old = before?.body.key_hash
  const session = typeof old === 'string' ? await parts.tokens.getSession(Buffer.from(old, 'hex')) : undefined
  if (session !== undefined) await deleteKey(parts, session, actor)
}

const nameOf = (profileId: string, userId: string) =>
  createHash('sha256')
    .update(JSON.stringify([profileId, userId]))
    .digest('hex')
