import type { FaultCode } from '../../../errors/catalog.ts'
import { fault } from '../../../errors/fault.ts'
import { type DocumentId, newDocumentId } from '../../../model/documents/ids.ts'
import type { JsonObject } from '../../../model/json/json.ts'
import { retryOnConflict } from '../../../runtime/retry-on-conflict.ts'
import type { Awaitable, Documents, StoredDocument } from '../../../store/ports/ports.ts'
import { auditOf, clockOf, type PublishParts } from '../../documents/parts.ts'

/** Kinds of which an organisation has one document. */
export type SingletonKind = 'portal_configuration' | 'catalogue' | 'portal_menu' | 'portal_look'

/** Another writer changed or created the document. */
const LOST_RACE: ReadonlySet<FaultCode> = new Set(['revision_conflict', 'already_exists'])

/** The one document of a kind that an organisation has; undefined before it is made. */
export async function findSingleton(
  { documents }: { readonly documents: Pick<Documents, 'find'> },
  kind: SingletonKind,
  orgId: string,
): Promise<StoredDocument | undefined> {
  return documents.find(kind, 'org_id', orgId)
}

/** The new content, and who writes it. */
export interface SingletonChange {
  readonly kind: SingletonKind
  readonly orgId: string
  readonly actor: string
  /** The new body, from the previous one; called again when another writer was faster. */
  readonly edit: (before: JsonObject | undefined) => Awaitable<JsonObject>
}

/** Writes the one document of a kind, new or over the one before. Answers its id. @throws Fault `revision_conflict`, `already_exists` (409) */
export async function saveSingleton(
  parts: PublishParts,
  { kind, orgId, actor, edit }: SingletonChange,
): Promise<DocumentId> {
  return retryOnConflict(async () => {
    const stored = await findSingleton(parts, kind, orgId)
    const id = stored?.id ?? newDocumentId(clockOf(parts).wall())
    const body = { ...(await edit(stored?.body)), org_id: orgId }
    const audit = auditOf(parts, actor, `${kind}.${stored === undefined ? 'create' : 'update'}`, orgId, { id })
    await parts.documents.commit([{ op: 'put', kind, id, body, ifRevision: stored?.revision ?? 0 }], audit)
    return id
  }, LOST_RACE)
}

/**
 * Makes the one document of a kind. Where there is one already, a call that says nothing is answered with its id, so that a set-up
 * can be repeated. @throws Fault `portal_taken` (409) for a call that says something
 */
export async function createSingleton(
  parts: PublishParts,
  change: SingletonChange & { readonly saysNothing: boolean; readonly name: string },
): Promise<DocumentId> {
  const there = await findSingleton(parts, change.kind, change.orgId)
  if (there === undefined) return saveSingleton(parts, change)
  if (change.saysNothing) return there.id
  throw fault('portal_taken', `There is a ${change.name} already: change it with PUT`)
}
