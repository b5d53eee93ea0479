import { createHash } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import { mayDo } from '../../model/people/permission.ts'
import { findByEitherId } from '../../publish/documents/own-ids.ts'
import { createKey, deleteKey } from '../../publish/keys/keys.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Change } from '../../store/ports/ports.ts'
import type { DashboardParts } from '../server/parts.ts'
import { ticketHash } from '../sign-in/sessions.ts'
import { readSsoSource } from '../sign-in/sso-source.ts'
import { currentGuarantor, type UsedProfile } from './profiles.ts'

/**
 * Creates a key with the policy of the profile for a user who signed in. A user has one key per profile at a time: the previous one
 * is revoked. @throws Fault `rights_exceeded` (403) where the author of the profile may not create keys, `sso_refused` (403) when
 * the policy does not exist
 */
export async function makeSsoKey(
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
