import { createHash } from 'node:crypto'
import { fault } from '../../../errors/fault.ts'
import { DOCUMENT_KINDS } from '../../../model/documents/kinds.ts'
import { indexEntries } from '../../prepare/prepare.ts'
import type { Db, Tx } from '../connection/db.ts'
import { sqlState } from '../connection/faults.ts'
import { insertEntries } from '../writer/group-write.ts'

const UNIQUE_VIOLATION = '23505'
const STEP_ROWS = 200

/**
 * Keeps the index table by the indexes that this program declares. During a rolling upgrade programs of two versions write:
 * those of the newer one re-index what the older ones have filed, and never the other way round.
 */
export interface Reindexing {
  /** By which declaration this program files. */
  readonly number: number
  /** Re-indexes what was filed by older declarations; answers how many documents. */
  refile(): Promise<number>
}

/**
 * Finds the number of this program's declaration, and files by it what was filed by older ones.
 * @throws Fault `already_exists` when two documents have one value under an index that is now unique
 */
export async function declareIndexes(db: Db, hash = declarationHash()): Promise<Reindexing> {
  const number = await numberOf(db, hash)
  const refile = async () => {
    let refiled = 0
    while (true) {
      const rows = await db.transact((tx) => refileSome(tx, number))
      refiled += rows
      if (rows < STEP_ROWS) return refiled
    }
  }
  await refile()
  return { number, refile }
}

async function numberOf(db: Db, hash: string): Promise<number> {
  const find = 'SELECT number FROM declaration WHERE hash = $1'
  const [known] = await db.read<{ number: number }>(find, [hash])
  if (known !== undefined) return known.number
  return db.transact(async (tx) => {
    await tx.query('SELECT 1 FROM store_state FOR UPDATE')
    await tx.run(
      `INSERT INTO declaration(number, hash) SELECT coalesce(max(number), 0) + 1, $1 FROM declaration
        ON CONFLICT (hash) DO NOTHING`,
      [hash],
    )
    return (await tx.query<{ number: number }>(find, [hash]))[0]!.number
  })
}

async function refileSome(tx: Tx, number: number): Promise<number> {
  const [stale] = await tx.query<{ any: boolean }>('SELECT EXISTS (SELECT 1 FROM document WHERE filed < $1) AS any', [
    number,
  ])
  if (stale?.any !== true) return 0
  // No commit may come between.
  await tx.query('SELECT 1 FROM store_state FOR UPDATE')
  const rows = await tx.query<{ kind: string; id: string; body: string }>(
    `SELECT kind, id, body FROM document WHERE filed < $1 LIMIT ${STEP_ROWS}`,
    [number],
  )
  const documents = rows.map(({ kind, id, body }) => ({
    ...{ kind, id },
    entries: Object.hasOwn(DOCUMENT_KINDS, kind) ? indexEntries(kind, JSON.parse(body)) : [],
  }))
  const names = [rows.map(({ kind }) => kind), rows.map(({ id }) => id)]
  const ofDocuments = 'unnest($1::text[], $2::text[]) w(kind, id) WHERE t.kind = w.kind AND t.id = w.id'
  await tx.run(`DELETE FROM document_index t USING ${ofDocuments}`, names)
  const { text, values } = insertEntries(documents)
  try {
    await tx.run(text, values)
  } catch (error) {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error
    throw fault('already_exists', 'stored documents break a unique index', error)
  }
  await tx.run(`UPDATE document t SET filed = $3 FROM ${ofDocuments}`, [...names, number])
  return rows.length
}

/** The identity of the declared indexes. Two are equal by name and text; one that changes in neither must change its name. */
function declarationHash(): string {
  const kinds = Object.entries(DOCUMENT_KINDS).map(([kind, { unique, lookup, sorted = {} }]) => {
    const texts = (index: Readonly<Record<string, unknown>>) =>
      Object.entries(index).map(([name, of]) => `${name}=${of}`)
    return [kind, ...texts(unique), '|', ...texts(lookup), '|', ...texts(sorted)].join(' ')
  })
  return createHash('sha256').update(kinds.sort().join('\n')).digest('hex')
}
