import type { AuditEntry, Change, SessionRow, Store } from '../src/store/ports/ports.ts'

/** Changes of one commit: as many as a group of the writer takes at ease. */
const PER_COMMIT = 5000
/** Notes that wait for the store at a time. */
const NOTES_AT_ONCE = 1000

/** Puts what belongs to 0 to count - 1 into a store itself, as an import would. Answers how many of them in a second. */
export async function commitMany(
  { documents }: Store,
  count: number,
  changesOf: (i: number) => readonly Change[],
): Promise<number> {
  const from = performance.now()
  let changes: Change[] = []
  for (let i = 0; i < count; i++) {
    changes.push(...changesOf(i))
    if (changes.length < PER_COMMIT && i < count - 1) continue
    await documents.commit(changes, undefined)
    changes = []
  }
  return (count / (performance.now() - from)) * 1000
}

/** Writes entries of the audit log. */
export async function noteMany({ documents }: Store, count: number, entryOf: (i: number) => AuditEntry): Promise<void> {
  for (let first = 0; first < count; first += NOTES_AT_ONCE) {
    const length = Math.min(NOTES_AT_ONCE, count - first)
    await Promise.all(Array.from({ length }, (_, i) => documents.note(entryOf(first + i))))
  }
}

/** The session of a key that the product made: what others are made after. @throws Error when it is not there */
export async function sessionOf({ tokens }: Store, hash: Uint8Array): Promise<SessionRow> {
  const row = await tokens.getSession(hash)
  if (row === undefined) throw new Error('the key that others are made after is not there')
  return row
}
