import { createHash } from 'node:crypto'
import type { DocumentId } from '../../../model/documents/ids.ts'
import type { JsonObject } from '../../../model/json/json.ts'
import { equalSecrets, newSecret, seal, unseal } from '../../../model/secrets/secret.ts'
import { newTicket } from '../../../store/ports/new-ticket.ts'
import type { Change } from '../../../store/ports/ports.ts'
import { clockOf, type SecretParts } from '../../documents/parts.ts'

// The record between an approved request and its collected key: a ticket of the request, either the key itself,
// sealed, for the portal that asks for it again, or the code of a link. The store deletes it after its expiry.

/** How long the key of an automatically approved request can be read again. */
const AGAIN_MS = 600_000
/** How long the link of a mail is good. */
const LINK_MS = 7 * 86_400_000
/** A link this recent is not replaced: a second approval is taken for a double click. */
const FRESH_MS = 60_000
const SORT = 'portal_access'

/** The change that keeps the key of a request, sealed, until it is fetched. */
export function storeAccess(parts: SecretParts, id: DocumentId, access: JsonObject): Change {
  const sealed = seal(parts.sealKey, JSON.stringify(access), contextOf(id)).toString('base64')
  return putTicket(parts, id, { sealed }, AGAIN_MS)
}

/**
 * Takes the kept key of a request out: one caller gets it, all others undefined, and it is gone from the store.
 * @throws Fault `seal_broken`, `store_away`
 */
export async function takeStoredAccess(parts: SecretParts, id: DocumentId): Promise<JsonObject | undefined> {
  const hash = hashOf(id)
  const row = await parts.tokens.getTicket(hash)
  const now = clockOf(parts).wall()
  if (row === undefined || row.claimedAt > 0 || row.expiresAt <= now || typeof row.body.sealed !== 'string')
    return undefined
  const access = unseal(parts.sealKey, Buffer.from(row.body.sealed, 'base64'), contextOf(id)).toString('utf8')
  try {
    await parts.documents.commit([{ op: 'claimTicket', hash, sort: SORT, now }, deleteStoredAccess(id)], undefined)
  } catch {
    return undefined
  }
  return JSON.parse(access) as JsonObject
}

/** The change that deletes the access records of a request. */
export function deleteStoredAccess(id: DocumentId): Change {
  return { op: 'deleteTicket', hash: hashOf(id) }
}

/** The code of a link, and the change that stores it instead of an earlier one. */
export function newLink(parts: SecretParts, id: DocumentId): { readonly code: string; readonly change: Change } {
  const code = newSecret()
  const made = clockOf(parts).wall()
  return { code, change: putTicket(parts, id, { code_hash: hashCode(id, code), made }, LINK_MS) }
}

/** True while a link that was made less than a minute ago is there. */
export async function hasFreshLink(parts: SecretParts, id: DocumentId): Promise<boolean> {
  const row = await parts.tokens.getTicket(hashOf(id))
  return row !== undefined && typeof row.body.made === 'number' && clockOf(parts).wall() - row.body.made < FRESH_MS
}

/** The changes that use a link up; undefined when the code is not that of the link, or the link has expired. */
export async function spendLink(parts: SecretParts, id: DocumentId, code: string): Promise<Change[] | undefined> {
  const hash = hashOf(id)
  const row = await parts.tokens.getTicket(hash)
  const now = clockOf(parts).wall()
  if (row === undefined || row.claimedAt > 0 || row.expiresAt <= now) return undefined
  if (typeof row.body.code_hash !== 'string' || !equalSecrets(hashCode(id, code), row.body.code_hash)) return undefined
  return [{ op: 'claimTicket', hash, sort: SORT, now }, deleteStoredAccess(id)]
}

function putTicket(parts: SecretParts, id: DocumentId, body: JsonObject, lifeMs: number): Change {
  const expiresAt = clockOf(parts).wall() + lifeMs
  const row = newTicket(SORT, expiresAt, { body })
  return { op: 'putTicket', hash: hashOf(id), row }
}

const hashOf = (id: string): Buffer => createHash('sha256').update(`${SORT} ${id}`).digest()
const hashCode = (id: string, code: string): string => createHash('sha256').update(`${id} ${code}`).digest('hex')
const contextOf = (id: string): string => `key_request:${id}`
