import { fault } from '../../errors/fault.ts'
import { profileText } from '../../model/single-sign-on/idp-profile.ts'
import type { Change } from '../../store/ports/ports.ts'
import { type Answer, bare } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { uncached } from '../sign-in/browser.ts'
import { goTo } from './answers.ts'
import { type ProvenPerson, personFrom } from './claims.ts'
import { locationOf, signInDestinationOf } from './destinations.ts'
import { enterBySso } from './enter.ts'
import { makeSsoKey } from './make-key.ts'
import { createNonce } from './nonce.ts'
import type { UsedProfile } from './profiles.ts'
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
