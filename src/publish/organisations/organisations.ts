import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fault } from '../../errors/fault.ts'
import { type DocumentId, isDocumentId, newDocumentId } from '../../model/documents/ids.ts'
import { DOCUMENT_KINDS } from '../../model/documents/kinds.ts'
import { TOMBSTONE, tombstoneBody, tombstoneId } from '../../model/documents/tombstone.ts'
import type { JsonObject } from '../../model/json/json.ts'
import {
  checkPermissionNames,
  readOrganisation,
  type StoredOrganisation,
} from '../../model/organisations/organisation.ts'
import { foldCase } from '../../model/text/fold.ts'
import { retryOnConflict } from '../../runtime/retry-on-conflict.ts'
import type { Change, Kind, Revision, StoredDocument } from '../../store/ports/ports.ts'
import { OPTIMISTIC_LOCK_CONFLICT } from '../documents/optimistic-lock.ts'
import { auditOf, clockOf, type SecretParts, withLock } from '../documents/parts.ts'
import { defaultLabels } from '../labels/labels.ts'
import { endOfUser } from '../people/users.ts'
import { deleteDeveloperChanges } from '../portal/developers/developer-keys.ts'
import { revokeSignInsChanges } from '../single-sign-on/idp-profiles.ts'
import { putInstallation, readInstallation } from './installation.ts'
import { moveObjects, movesWithin, OBJECT_KINDS } from './move-objects.ts'
import { claimPortalHost } from './portal-host.ts'

/** Rows a commit: other writers get their turn in between. */
const BATCH = 200

/** Who can still change something goes first, so that nothing new comes up behind. */
const FIRST: readonly Kind[] = ['user', 'idp_profile', 'user_group', 'developer', 'hook']

type Parts = Pick<SecretParts, 'documents' | 'tokens'>

/** Documents without an organisation of their own, which are deleted with another document. */
const FOLLOWERS: Readonly<Record<Kind, (parts: Parts, document: StoredDocument) => Promise<Change[]> | Change[]>> = {
  user: (_parts, { id }) => endOfUser(id),
  developer: async (parts, developer) => [...(await deleteDeveloperChanges(parts, developer))],
  portal_documentation: (_parts, { id }) => [{ op: 'delete', kind: 'portal_documentation_text', id }],
}

/** An organisation as it was stored. */
export interface SavedOrganisation {
  readonly organisation: StoredOrganisation
  readonly revision: Revision
}

/** Most objects that are given to an organisation in the commit that makes it. */
const MOST_MOVED = 1000

/**
 * Stores a new organisation. The first one becomes the default organisation, to which all belongs that was made before.
 * `id` keeps the id of an organisation that is moved here; else it is made. `reusesDeleted`: it may be that of a deleted one, whose records it
 * then reads.
 * @throws Fault `organisation_invalid` (400), `organisation_taken` (403) for an id in use or of a deleted one, `organisation_in_use` (400) when `id` is
 * another than that of the default organisation to come, and too much belongs to that one already, `portal_taken` (409) for the portal host
 * (`cname`) of another organisation
 */
export function newOrganisation(
  parts: SecretParts,
  sent: JsonObject,
  {
    id: wanted,
    reusesDeleted,
    actor,
  }: { readonly id?: DocumentId; readonly reusesDeleted?: boolean; readonly actor: string },
): Promise<SavedOrganisation> {
  const save = async () => {
    const { id, body, changes, from } = await prepareOrganisation(parts, sent, wanted, reusesDeleted)
    const revision = await parts.documents.commit(changes, auditOf(parts, actor, 'organisation.create', id, { id }))
    // Objects that another thread created between the read and the commit.
    if (from !== undefined) await moveObjects(parts, from, id)
    return { organisation: { id, revision, body }, revision }
  }
  return withLock(parts, () => retryOnConflict(save, OPTIMISTIC_LOCK_CONFLICT))
}

/** A new organisation that is not stored yet, and all that must be stored with it. */
interface PreparedOrganisation {
  readonly id: DocumentId
  readonly body: JsonObject
  readonly changes: Change[]
  /** Organisation whose objects go to it; absent = none do. */
  readonly from?: string
}

/** Prepares a new organisation. The caller holds the turn. @throws Fault as `newOrganisation` */
export async function prepareOrganisation(
  parts: SecretParts,
  sent: JsonObject,
  wanted?: DocumentId,
  reusesDeleted = false,
): Promise<PreparedOrganisation> {
  const body = readOrganisation(sent)
  const { documents } = parts
  const installation = await readInstallation(parts)
  const reserved = installation?.default_org
  const first = reserved === undefined || (await documents.get('organisation', reserved)) === undefined
  const id = wanted ?? (first ? reserved : undefined) ?? newDocumentId(clockOf(parts).wall())
  if ((await documents.get('organisation', id)) !== undefined) throw fault('organisation_taken', `id ${id} is in use`)
  const note = tombstoneId('organisation', '', id)
  if (!reusesDeleted && (await documents.get(TOMBSTONE, note)) !== undefined)
    throw fault(
      'organisation_taken',
      `id ${id} was that of a deleted organisation: the new one would see its request records, counts and audit log; choose another id, or call again with ?reuse_deleted_id=true`,
    )
  const labels = defaultLabels(id, clockOf(parts).wall())
  const host = await claimPortalHost(parts, String(body.cname), id)
  const changes: Change[] = [{ op: 'put', kind: 'organisation', id, body, ifRevision: 0 }, ...labels, ...host]
  const from = first && id !== reserved ? (reserved ?? '') : undefined
  if (from !== undefined) {
    const moved = await movesWithin(parts, [from, id], MOST_MOVED)
    if (moved === undefined)
      throw fault(
        'organisation_in_use',
        `more than ${MOST_MOVED} objects belong to the first organisation already: give it the id ${reserved}`,
      )
    const next = {
      setup_hash: '',
      seal_hash: '',
      lookup_sealed: '',
      seal_hashes_before: [],
      ...installation,
      default_org: id,
    }
    changes.push(...moved, putInstallation(next, installation?.revision ?? 0))
  }
  return { id, body, changes, ...(from !== undefined && { from }) }
}

/**
 * Replaces an organisation; its custom permissions stay unless they are sent, and the number of its developers does in any case. Single sign-on
 * that is switched off ends what was opened by it.
 * @throws Fault `organisation_invalid`, `revision_conflict`, `portal_taken` (409) for another portal host that another organisation has
 */
export async function updateOrganisation(
  parts: SecretParts,
  { id, revision: before, body: old }: StoredOrganisation,
  sent: JsonObject,
  actor: string,
): Promise<SavedOrganisation> {
  const { additional_permissions: kept, developer_count: count = 0 } = old
  const read = { ...readOrganisation(sent), developer_count: count }
  const body: JsonObject = { ...(kept !== undefined && { additional_permissions: kept }), ...read }
  const isSwitchedOff = old.sso_enabled === true && body.sso_enabled !== true
  const ends = isSwitchedOff ? await revokeSignInsChanges(parts, id) : []
  if (isSwitchedOff) body.sso_epoch = randomUUID()
  else if (old.sso_epoch !== undefined) body.sso_epoch = old.sso_epoch
  const isMoved = foldCase(String(old.cname ?? '')) !== foldCase(String(body.cname))
  const update = async () => {
    const host = isMoved ? await claimPortalHost(parts, String(body.cname), id) : []
    return save(parts, { id, revision: before, body }, 'organisation.update', actor, [...ends, ...host])
  }
  return withLock(parts, () => retryOnConflict(update, OPTIMISTIC_LOCK_CONFLICT))
}

/**
 * Keeps the rules that an organisation would have the rule engine of others judge calls by. They are never evaluated here.
 * @throws Fault `revision_conflict` (409)
 */
export async function setOpenPolicy(
  parts: SecretParts,
  { id, revision, body }: StoredOrganisation,
  rules: string,
  actor: string,
): Promise<SavedOrganisation> {
  const after = { ...body, open_policy: { enabled: false, rules } }
  return save(parts, { id, revision, body: after }, 'organisation.rules', actor)
}

/** Replaces the custom permissions of an organisation. @throws Fault `organisation_invalid` (400), `revision_conflict` (409) */
export async function setAdditionalPermissions(
  parts: SecretParts,
  { id, revision, body }: StoredOrganisation,
  names: unknown,
  actor: string,
): Promise<SavedOrganisation> {
  const after = { ...body, additional_permissions: checkPermissionNames(names) }
  return save(parts, { id, revision, body: after }, 'organisation.permissions', actor)
}

/**
 * Deletes an organisation and all that belongs to it: people, documents of every kind, keys and tokens. In rounds, itself last, so
 * that an interrupted run can be repeated. What the gateway serves of the default organisation stays, under
 * its id, which the next new organisation gets. @throws Fault `revision_conflict` (409)
 */
export async function deleteOrganisation(
  parts: SecretParts,
  { id, revision }: StoredOrganisation,
  actor: string,
): Promise<Revision> {
  const installation = await readInstallation(parts)
  const keepObjects = installation?.default_org === id
  const entry = (action: string) => auditOf(parts, actor, action, id, { id })
  for await (const changes of belongingsOf(parts, id, { keepObjects }))
    await parts.documents.commit(changes, entry('organisation.empty'))
  return withLock(parts, () => {
    const own: Change = { op: 'delete', kind: 'organisation', id, ifRevision: revision }
    // The default one leaves its id, and what the gateway serves of it, to the next.
    const notes = keepObjects ? [] : [noteOf(id, actor, clockOf(parts).wall())]
    return parts.documents.commit([own, ...notes], entry('organisation.delete'))
  })
}

/** The note that keeps the id of a deleted organisation, for as long as there are records of it. */
function noteOf(id: DocumentId, by: string, at: number): Change {
  const body = tombstoneBody({ org_id: '', noun: 'organisation', named: id, by, at })
  return { op: 'put', kind: TOMBSTONE, id: tombstoneId('organisation', '', id), body }
}

/** An organisation by id; undefined when there is none. */
export async function findOrganisation(
  parts: Pick<SecretParts, 'documents'>,
  id: string,
): Promise<StoredOrganisation | undefined> {
  const found = isDocumentId(id) ? await parts.documents.get('organisation', id) : undefined
  return found && { id: found.id, revision: found.revision, body: found.body }
}

async function save(
  parts: SecretParts,
  { id, revision: before, body }: StoredOrganisation,
  action: string,
  actor: string,
  ends: readonly Change[] = [],
): Promise<SavedOrganisation> {
  const put = { op: 'put', kind: 'organisation', id, body, ifRevision: before } as const
  const revision = await parts.documents.commit([put, ...ends], auditOf(parts, actor, action, id, { id }))
  return { organisation: { id, revision, body }, revision }
}

/**
 * The changes that take away what belongs to an organisation, some hundred at a time, each kind of document that has an index
 * `org_id`, then keys and tokens. `keepObjects`: what the gateway serves stays.
 */
async function* belongingsOf(
  parts: Parts,
  orgId: DocumentId,
  { keepObjects }: { readonly keepObjects: boolean },
): AsyncGenerator<Change[]> {
  const stays: readonly Kind[] = keepObjects ? OBJECT_KINDS : []
  const rest = Object.keys(DOCUMENT_KINDS).filter((kind) => !FIRST.includes(kind) && kind !== TOMBSTONE)
  // Deleting the others leaves notes.
  for (const kind of [...FIRST, ...rest, TOMBSTONE]) if (!stays.includes(kind)) yield* documentsOf(parts, kind, orgId)
  if (keepObjects) return
  for (;;) {
    const { rows } = await parts.tokens.listSessions({ orgId, limit: BATCH })
    if (rows.length === 0) return
    yield rows.map(({ hash }) => ({ op: 'deleteSession', hash }))
    await nextTurn()
  }
}

async function* documentsOf(parts: Parts, kind: Kind, orgId: DocumentId): AsyncGenerator<Change[]> {
  const { unique, lookup } = DOCUMENT_KINDS[kind]!
  if ('org_id' in unique) {
    const found = await parts.documents.find(kind, 'org_id', orgId)
    if (found !== undefined) yield [...(await followersOf(parts, found)), gone(found)]
    return
  }
  if (!('org_id' in lookup)) return
  for (;;) {
    const { rows } = await parts.documents.list(kind, { where: { org_id: orgId }, limit: BATCH })
    if (rows.length === 0) return
    const changes: Change[] = []
    for (const row of rows) changes.push(...(await followersOf(parts, row)), gone(row))
    yield changes
    await nextTurn()
  }
}

async function followersOf(parts: Parts, document: StoredDocument): Promise<Change[]> {
  return Object.hasOwn(FOLLOWERS, document.kind) ? FOLLOWERS[document.kind]!(parts, document) : []
}

const gone = ({ kind, id }: StoredDocument): Change => ({ op: 'delete', kind, id })
