import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { fault, toFault } from '../../errors/fault.ts'
import { newDocumentId } from '../../model/documents/ids.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import {
  checkIdpProfile,
  epochOf,
  HIDDEN_MEMBERS,
  IDP_MEMBERS,
  profileFamily,
  profileObject,
  profileText,
  provesAlike,
} from '../../model/single-sign-on/idp-profile.ts'
import type { Change, StoredDocument } from '../../store/ports/ports.ts'
import { auditOf, clockOf, type PublishParts, type SecretParts } from '../documents/parts.ts'
import { type SealedSecrets, sealSecrets, takeSecrets, withSecrets } from './idp-secrets.ts'

/** Who writes a profile. */
export interface ProfileAuthor {
  readonly actor: string
  readonly orgId: string
  /** The hidden members `voucher` and `ceiling`, which name the guarantor of its sign-ins; empty for an administrator. */
  readonly guarantor: JsonObject
}

/**
 * Stores a new identity profile; without `ID` it gets one. Its secrets are sealed.
 * @throws Fault `profile_invalid` (400), for an `ID` that is in use too
 */
export async function createProfile(
  parts: SecretParts,
  sent: JsonObject,
  author: ProfileAuthor,
): Promise<StoredDocument> {
  const id = newDocumentId(clockOf(parts).wall())
  const own = sent.ID === undefined || sent.ID === '' ? { ...sent, ID: id } : sent
  const body = prepare(parts, id, own, author, undefined)
  return save(parts, { id, body, ifRevision: 0 }, 'idp_profile.create', author)
}

/**
 * Replaces an identity profile; secrets that are sent blank stay. One that lets in other people, or on other proof, ends what it opened
 * before. @throws Fault `profile_invalid` (400), `revision_conflict` (409)
 */
export async function updateProfile(
  parts: SecretParts,
  stored: StoredDocument,
  sent: JsonObject,
  author: ProfileAuthor,
): Promise<StoredDocument> {
  const named = sent.ID === undefined || sent.ID === '' ? { ...sent, ID: stored.body.ID! } : sent
  if (named.ID !== stored.body.ID) throw fault('profile_invalid', 'ID: is not the one in the path')
  const body = prepare(parts, stored.id, named, author, stored.body)
  const ends = epochOf(body) === epochOf(stored.body) ? [] : [revokeKeysChange(stored.id)]
  return save(parts, { id: stored.id, body, ifRevision: stored.revision }, 'idp_profile.update', author, ends)
}

/** Deletes an identity profile, and ends the sessions and keys that it opened. @throws Fault `revision_conflict` (409) */
export async function deleteProfile(parts: SecretParts, stored: StoredDocument, author: ProfileAuthor): Promise<void> {
  const change = { op: 'delete', kind: 'idp_profile', id: stored.id, ifRevision: stored.revision } as const
  const detail = { id: stored.id, profile: String(stored.body.ID) }
  const changes: Change[] = [change, revokeKeysChange(stored.id)]
  await parts.documents.commit(changes, auditOf(parts, author.actor, 'idp_profile.delete', author.orgId, detail))
}

/** The change that ends the keys which sign-ins by a profile made. */
export function revokeKeysChange(documentId: string): Change {
  return { op: 'endFamily', family: profileFamily(documentId) }
}

/** The profile with a new epoch, which ends its sessions: users sign in with it again. */
export function withNewEpoch(body: JsonObject): JsonObject {
  return { ...body, epoch: randomUUID() }
}

/** The changes that end what all profiles of an organisation opened. */
export async function revokeSignInsChanges({ documents }: PublishParts, orgId: string): Promise<Change[]> {
  const changes: Change[] = []
  for await (const batch of documents.each('idp_profile', { where: { org_id: orgId } }))
    for (const { id, revision, body } of batch)
      changes.push(
        { op: 'put', kind: 'idp_profile', id, body: withNewEpoch(body), ifRevision: revision },
        revokeKeysChange(id),
      )
  return changes
}

/** A profile as callers see it: secrets read ''. */
export function profileShape(body: JsonObject): JsonObject {
  const { blank } = takeSecrets(body)
  for (const name of HIDDEN_MEMBERS) delete blank[name]
  return blank
}

/** A profile as it is used: with its secrets in clear. Never leaves the process. @throws Fault `seal_broken` */
export function openProfile(parts: SecretParts, { id, body }: Pick<StoredDocument, 'id' | 'body'>): JsonObject {
  return withSecrets(parts, id, body, sealedOf(body))
}

function prepare(
  parts: SecretParts,
  id: string,
  sent: JsonObject,
  author: ProfileAuthor,
  before: JsonObject | undefined,
): JsonObject {
  const whole: JsonObject = { ...sent, OrgID: author.orgId }
  for (const name of [...HIDDEN_MEMBERS, ...ENVELOPE]) delete whole[name]
  checkIdpProfile(whole)
  const given = withoutNewBlanks(whole, before)
  const { blank, secrets } = takeSecrets(given)
  const moved = (path: string) => targetOf(given, path) !== targetOf(before ?? {}, path)
  const sealed = sealSecrets(parts, id, secrets, { sealed: sealedOf(before ?? {}), moved })
  const epoch = before !== undefined && provesAlike(blank, before) ? epochOf(before) : randomUUID()
  const written: JsonObject = { ...blank, epoch, sealed_secrets: sealed }
  // An author who sends back what is stored does not become its guarantor.
  const answers =
    before !== undefined && isDeepStrictEqual(written, withoutGuarantor(before)) ? before : author.guarantor
  const isTakenOver = author.guarantor === answers && isOtherGuarantor(answers.voucher, before?.voucher)
  return { ...written, ...guarantorMembers(answers), ...(isTakenOver && { epoch: randomUUID() }) }
}

/** Generated clients send each member that they know: a blank one says no more than one that is not there. */
function withoutNewBlanks(sent: JsonObject, before: JsonObject | undefined): JsonObject {
  const isBlank = (value: Json | undefined) => value === null || value === '' || value === false
  const isNew = (name: string) => before !== undefined && before[name] === undefined && IDP_MEMBERS.has(name)
  return Object.fromEntries(Object.entries(sent).filter(([name, value]) => !(isBlank(value) && isNew(name))))
}

/** True when another guarantor takes over a profile: the present sessions, which the new one did not admit, must end. */
function isOtherGuarantor(voucher: Json | undefined, before: Json | undefined): boolean {
  return isObject(voucher) && voucher.user_id !== (isObject(before) ? before.user_id : undefined)
}

const GUARANTOR_MEMBERS = ['voucher', 'ceiling'] as const

/** The members of a profile that name its guarantor. */
function guarantorMembers(body: JsonObject): JsonObject {
  return Object.fromEntries(GUARANTOR_MEMBERS.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])))
}

function withoutGuarantor(body: JsonObject): JsonObject {
  const rest = { ...body }
  for (const name of GUARANTOR_MEMBERS) delete rest[name]
  return rest
}

/** The envelope of a profile in a read: sent back it is no part of it, least of all the copy in `Data`, which nothing seals. */
const ENVELOPE = ['Status', 'Data'] as const

/** Where a secret is sent to. */
function targetOf(profile: JsonObject, path: string): string {
  const config = profileObject(profile, 'ProviderConfig')
  if (path === '/ProviderConfig/LDAPAdminPassword')
    return JSON.stringify([
      config.LDAPServer,
      config.LDAPPort,
      config.LDAPUseSSL,
      config.LDAPStartTLS,
      config.LDAPAdminUser,
    ])
  const [, , , name] = path.split('/')
  const providers = Array.isArray(config.UseProviders) ? (config.UseProviders as JsonObject[]) : []
  const provider = providers.find((entry) => profileText(entry, 'Name') === name)
  return path.startsWith('/ProviderConfig/UseProviders/') ? JSON.stringify(provider?.DiscoverURL ?? '') : ''
}

async function save(
  parts: SecretParts,
  { id, body, ifRevision }: { id: StoredDocument['id']; body: JsonObject; ifRevision: number },
  action: string,
  { actor, orgId }: ProfileAuthor,
  ends: readonly Change[] = [],
): Promise<StoredDocument> {
  const put: Change = { op: 'put', kind: 'idp_profile', id, body, ifRevision }
  try {
    const detail = { id, profile: String(body.ID) }
    const revision = await parts.documents.commit([put, ...ends], auditOf(parts, actor, action, orgId, detail))
    return { kind: 'idp_profile', id, revision, body }
  } catch (error) {
    if (toFault(error).code === 'already_exists')
      throw fault('profile_invalid', 'ID: cannot be used, choose another one')
    throw error
  }
}

const sealedOf = (body: JsonObject) => profileObject(body, 'sealed_secrets') as SealedSecrets
