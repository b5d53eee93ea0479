import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../model/json/json.ts'
import type { Change, Documents, Tokens } from '../../store/ports/ports.ts'

/** Times of the last write: a save that changes nothing else is none. */
const WRITTEN_AT: ReadonlySet<string> = new Set(['last_updated', 'updated_at', 'date_updated'])

/**
 * True when every change writes what is stored already. Such a commit would make a new version, an audit entry and an event of nothing.
 * Reads each document once.
 */
export async function changesNothing(
  { documents, tokens }: { readonly documents: Pick<Documents, 'get'>; readonly tokens: Pick<Tokens, 'getSession'> },
  changes: readonly Change[],
): Promise<boolean> {
  // The lease of the node that assigns a listen path comes with every save of an API.
  const saves = changes.filter((change) => change.op !== 'putTicket' || change.row.sort !== 'lease')
  if (saves.length === 0 || !saves.every(({ op }) => op === 'put' || op === 'putSession')) return false
  for (const change of saves) if (!(await isStored({ documents, tokens }, change))) return false
  return true
}

async function isStored({ documents, tokens }: Parameters<typeof changesNothing>[0], change: Change): Promise<boolean> {
  if (change.op === 'put') {
    const stored = await documents.get(change.kind, change.id)
    if (stored === undefined || (change.ifRevision !== undefined && change.ifRevision !== stored.revision)) return false
    return isSame(stored.body, change.body as JsonObject)
  }
  if (change.op !== 'putSession' || change.ifAbsent === true) return false
  const stored = await tokens.getSession(change.hash)
  if (stored === undefined) return false
  const { body, hash: _hash, ...before } = stored
  const { body: next, ...after } = change.row
  // A seal is random, and holds the same key under the same hash.
  const sealed = { sealedKey: before.sealedKey !== undefined }
  const wanted = { sealedKey: after.sealedKey !== undefined }
  const plain = (row: object) => JSON.parse(JSON.stringify({ family: '', ...row, sealedKey: undefined })) as JsonObject
  return isDeepStrictEqual([sealed, plain(before)], [wanted, plain(after)]) && isSame(body, next)
}

/** As JSON, but for the times of writes at the top. Most saves differ in one of the first members: nothing is copied before. */
function isSame(stored: object, next: object): boolean {
  return isSameJson(timeless(stored), timeless(next))
}

function timeless(body: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !WRITTEN_AT.has(name)))
}

/** Compares values as they would be stored: members that are undefined are none. */
function isSameJson(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return storedValue(one) === storedValue(other)
  if (Array.isArray(one) !== Array.isArray(other)) return false
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, i) => isSameJson(item, other[i]))
  const [mine, theirs] = [membersOf(one), membersOf(other)]
  if (mine.length !== theirs.length) return false
  const named = new Map(theirs)
  return mine.every(([name, value]) => named.has(name) && isSameJson(value, named.get(name)))
}

const membersOf = (value: object): [string, unknown][] => Object.entries(value).filter(([, item]) => item !== undefined)

/** JSON has no numbers that are none, and one zero. */
function storedValue(value: unknown): unknown {
  if (value === undefined || (typeof value === 'number' && !Number.isFinite(value))) return null
  return value === 0 ? 0 : value
}
