import { randomUUID } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { readingNewApi } from '../../model/apis/read/read.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import { PLAIN_KINDS } from '../../model/documents/kinds.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { newGeneration, USER_GENERATION, USER_NAME } from '../../model/keys/key.ts'
import { policyApisOf } from '../../model/policies/policy-body.ts'
import { isExpired } from '../../model/time/expiry.ts'
import { inTurns } from '../../runtime/turns.ts'
import type { AuditChange, Change } from '../../store/ports/ports.ts'
import { checkListenPathFree, type ListenPathRules } from '../apis/listen-path.ts'
import { checkIdsStillFree } from '../documents/own-ids.ts'
import { clockOf, type SecretParts } from '../documents/parts.ts'
import { newEpoch, withMarkedRedirects } from '../oauth-clients/oauth-client-draft.ts'
import { bodyOf, clientOf } from '../oauth-clients/oauth-client-parts.ts'
import { claimPortalHost } from '../organisations/portal-host.ts'
import { policyNameLock } from '../policies/policies.ts'
import { endPortalSessionsChange, isDeactivation } from '../portal/developers/developers-write.ts'
import { revokeKeysChange, revokeSignInsChanges, withNewEpoch } from '../single-sign-on/idp-profiles.ts'

/** The context of undoing an entry. */
interface RestoreParts extends SecretParts {
  /** Gathers what must be in the same commit besides. */
  readonly also: Change[]
  /** As in `PlaceRules`. */
  readonly mayUse?: ListenPathRules['mayUse']
  /** As in `ProfileAuthor`; undefined = an identity profile answers to whom it did. */
  readonly guarantor?: JsonObject
}

/**
 * Checks that a document can be as it was before a change, and answers it: null = it is to be gone. `all` are the changes that are
 * undone together.
 */
type Restore = (
  parts: RestoreParts,
  change: AuditChange,
  all: readonly AuditChange[],
) => Promise<JsonObject | null> | JsonObject | null

const asItWas: Restore = (_parts, { before }) => before

/** How each kind of document is put back; those that are not here cannot be. */
export const RESTORE: Readonly<Record<string, Restore>> = Object.assign(Object.create(null), {
  ...Object.fromEntries([...PLAIN_KINDS.keys()].map((kind) => [kind, asItWas])),
  api: restoreApi,
  policy: restorePolicy,
  oauth_client: restoreClient,
  session: restoreSession,
  developer: restoreDeveloper,
  key_end: asItWas,
  asset: restoreAsset,
  idp_profile: restoreProfile,
  org_session: asItWas,
  organisation: restoreOrganisation,
} satisfies Record<string, Restore>)

/** @throws Fault `id_taken`, `listen_path_taken` (409), `undo_refused` (409) for a new API that others are based on already */
async function restoreApi(
  parts: RestoreParts,
  { id, before, after }: AuditChange,
  all: readonly AuditChange[],
): Promise<JsonObject | null> {
  const apiId = String((before ?? after)?.api_id ?? '')
  if (before === null) {
    const together = all.map((change) => change.id)
    const clients = await others(parts, 'oauth_client', { api_ids: apiId }, together)
    const bases = await others(parts, 'api', { version_ids: apiId }, together)
    if (clients + bases > 0) throw fault('undo_refused', `OAuth clients or versions of API ${apiId} prevent it`)
    return null
  }
  if (after === null) await checkIdsStillFree(parts, 'api', id, before)
  const api = await inTurns(readingNewApi(documentOf(before)))
  const mayCollide = parts.config.gateway.enable_duplicate_slugs
  const rules = { mayCollide, mayUse: parts.mayUse, placeBefore: after?.place }
  const turn = await checkListenPathFree(parts, api, all.map((change) => change.id) as DocumentId[], rules)
  parts.also.push(...turn.filter((change) => !parts.also.some((taken) => isSameTurn(taken, change))))
  return before
}

/** One turn does for all APIs of a commit. */
function isSameTurn(one: Change, other: Change): boolean {
  return one.op === 'putTicket' && other.op === 'putTicket' && Buffer.compare(one.hash, other.hash) === 0
}

/**
 * @throws Fault `id_taken` (409), `policy_name_taken` (400) for a name that another policy has by now, `undo_refused` (409) for a new
 * policy that OAuth clients name already
 */
async function restorePolicy(
  parts: RestoreParts,
  { id, before, after }: AuditChange,
  all: readonly AuditChange[],
): Promise<JsonObject | null> {
  if (before !== null) {
    if (after === null) await checkIdsStillFree(parts, 'policy', id, before)
    const { name, org_id: orgId } = before
    if (typeof name === 'string' && name !== after?.name)
      parts.also.push(...(await policyNameLock(parts, String(orgId ?? ''), name, id)))
    return before
  }
  const where = { policies: String(after?.id ?? ''), org_id: String(after?.org_id ?? '') }
  const clients = await others(
    parts,
    'oauth_client',
    where,
    all.map(({ id }) => id),
  )
  if (clients > 0) throw fault('undo_refused', `OAuth clients of policy ${where.policies} prevent it`)
  return null
}

/** @throws Fault `asset_taken` (409) */
async function restoreAsset(parts: SecretParts, { id, before, after }: AuditChange): Promise<JsonObject | null> {
  if (before !== null && after === null) await checkIdsStillFree(parts, 'asset', id, before)
  return before
}

/** Sessions and keys that ended with a profile, or with what it was, stay so. The user who undoes answers for its sign-ins. */
function restoreProfile({ also, guarantor = {} }: RestoreParts, { id, before }: AuditChange): JsonObject | null {
  also.push(revokeKeysChange(id))
  return before === null ? null : withNewEpoch({ ...before, ...guarantor })
}

/** @throws Fault `portal_taken` (409) for a host that another organisation has by now */
async function restoreOrganisation(
  parts: RestoreParts,
  { id, before, after }: AuditChange,
): Promise<JsonObject | null> {
  const cname = typeof before?.cname === 'string' ? before.cname : ''
  if (cname !== after?.cname) parts.also.push(...(await claimPortalHost(parts, cname, id)))
  if (before === null) return null
  const isSwitchedOff = after?.sso_enabled === true && before.sso_enabled !== true
  if (isSwitchedOff) parts.also.push(...(await revokeSignInsChanges(parts, id)))
  return { ...before, sso_epoch: isSwitchedOff ? randomUUID() : (after?.sso_epoch ?? '') }
}

/** A client keeps the secrets that it has now; tokens, codes and pushed requests that were ended stay so. @throws Fault `undo_refused` (409) */
async function restoreClient(
  parts: SecretParts,
  { before, after }: AuditChange,
  all: readonly AuditChange[],
): Promise<JsonObject | null> {
  if (before === null) return null
  const client = clientOf(before)
  for (const apiId of client.api_ids) {
    const together = all.some((change) => change.kind === 'api' && change.before?.api_id === apiId)
    if (!together && (await parts.documents.find('api', 'api_id', apiId)) === undefined)
      throw fault('undo_refused', `API ${apiId} of the client is gone`)
  }
  const now = after === null ? undefined : clientOf(after)
  const same = now !== undefined && now.epoch === client.epoch
  const time = clockOf(parts).wall()
  const restored = { ...client, secrets: now?.secrets ?? client.secrets, epoch: same ? client.epoch : newEpoch(time) }
  return bodyOf(now === undefined ? restored : withMarkedRedirects(now, restored, time))
}

/** Ways in are not put back, nor developers themselves: what hangs on them is not among the changes. */
function restoreDeveloper({ also }: RestoreParts, { id, before, after }: AuditChange): JsonObject {
  if (before === null || after === null) throw fault('undo_refused', 'a developer was made or deleted')
  if (isDeactivation(after, before)) also.push(endPortalSessionsChange(id))
  const kept = WAYS_IN.filter((name) => Object.hasOwn(after, name)).map((name) => [name, after[name]!] as const)
  return { ...before, ...Object.fromEntries(kept) }
}

const WAYS_IN = ['password', 'password_updated', 'PWHistory', 'nonce', 'sso_key', 'last_login_date']

/**
 * A user keeps the password that it has now, and tokens that were ended stay so: by a deletion, a switch, an expiry or another password.
 * @throws Fault `undo_refused` (409) for a token
 */
function restoreSession(parts: SecretParts, { before, after, session }: AuditChange): JsonObject | null {
  if ((session?.clientId ?? '') !== '') throw fault('undo_refused', 'tokens that were revoked stay so')
  if (before === null || before[USER_NAME] === undefined) return before
  if (after === null) return { ...before, ...newGeneration() }
  const { [USER_GENERATION]: generation, basic_auth_data: password } = after
  return {
    ...before,
    ...(isObject(password) && { basic_auth_data: password }),
    ...(before.is_inactive === true || isExpired(after, clockOf(parts).wall())
      ? newGeneration()
      : generation !== undefined && { [USER_GENERATION]: generation }),
  }
}

/** How many documents match besides these. */
async function others(
  { documents }: SecretParts,
  kind: string,
  where: Readonly<Record<string, string>>,
  except: readonly string[],
): Promise<number> {
  const { rows } = await documents.list(kind, { where, limit: except.length + 1 })
  return rows.filter(({ id }) => !except.includes(id)).length
}

/** Ids of the APIs that a document of this kind is based on. */
export function apisOf(kind: string, body: JsonObject): readonly string[] {
  if (kind === 'api') return [String(body.api_id ?? '')]
  if (kind === 'policy') return policyApisOf(body)
  if (kind === 'oauth_client') return clientOf(body).api_ids
  return isObject(body.access_rights) ? Object.keys(body.access_rights) : []
}
