import type { FaultCode } from '../../errors/catalog.ts'
import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import type { Documents, StoredDocument } from '../../store/ports/ports.ts'
import type { PublishParts } from './parts.ts'

/** Kinds that are found by their own id and by their storage id. */
export type TwoIdKind = 'api' | 'asset' | 'policy'

interface OwnId {
  /** Member of the body that holds the own id. */
  readonly member: 'api_id' | 'id'
  /** Unique index of the own id. */
  readonly index: string
  readonly value: (orgId: string, id: string) => string
  readonly taken: FaultCode
  readonly words: (id: string) => string
}

const inOrganisation = (orgId: string, id: string) => `${orgId}/${id}`

const OWN_IDS: Readonly<Record<TwoIdKind, OwnId>> = {
  api: {
    member: 'api_id',
    index: 'api_id',
    value: (_orgId, id) => id,
    taken: 'id_taken',
    words: (id) => `API ${id}`,
  },
  asset: {
    member: 'id',
    index: 'org_asset',
    value: inOrganisation,
    taken: 'asset_taken',
    words: (id) => `Asset ID already exists: '${id}'`,
  },
  policy: {
    member: 'id',
    index: 'org_policy',
    value: inOrganisation,
    taken: 'id_taken',
    words: (id) => `policy ${id}`,
  },
}

/** A document of an organisation by its own id, else by its storage id; undefined when the organisation has none. */
export async function findByEitherId<K extends TwoIdKind>(
  { documents }: { readonly documents: Documents },
  kind: K,
  orgId: string,
  id: string,
): Promise<StoredDocument<K> | undefined> {
  const { index, value } = OWN_IDS[kind]
  const named = await documents.find(kind, index, value(orgId, id))
  if (named !== undefined && orgOf(named) === orgId) return named
  const kept = isDocumentId(id) ? await documents.get(kind, id) : undefined
  return kept !== undefined && orgOf(kept) === orgId ? kept : undefined
}

/** The ids of an object that is about to be stored under them. */
export interface NewIds {
  readonly orgId: string
  /** Its own id. */
  readonly id: string
  readonly documentId: string
}

/**
 * Refuses ids of a new object by which another object of the organisation is found: look-ups take either id, so the new one would
 * replace the other.
 * @throws Fault `id_taken`, `asset_taken` (409)
 */
export async function checkIdsFree(
  parts: Pick<PublishParts, 'documents'>,
  kind: TwoIdKind,
  { orgId, id, documentId }: NewIds,
): Promise<void> {
  const { taken, words } = OWN_IDS[kind]
  for (const wanted of new Set([id, documentId])) {
    const found = await findByEitherId(parts, kind, orgId, wanted)
    if (found !== undefined) throw fault(taken, words(wanted))
  }
}

/** `checkIdsFree` for a document that is put back as it was: others may have got its ids meanwhile. */
export function checkIdsStillFree(
  parts: Pick<PublishParts, 'documents'>,
  kind: TwoIdKind,
  documentId: string,
  body: StoredDocument['body'],
): Promise<void> {
  const id = body[OWN_IDS[kind].member]
  return checkIdsFree(parts, kind, { orgId: orgOf({ body }), id: String(id ?? ''), documentId })
}

function orgOf({ body }: Pick<StoredDocument, 'body'>): string {
  return typeof body.org_id === 'string' ? body.org_id : ''
}
