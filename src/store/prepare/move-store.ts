import { hash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { fault } from '../../errors/fault.ts'
import { hexOf } from '../../model/text/hex.ts'
import {
  type Cell,
  keyColumnsOf,
  type LoadEdit,
  type MovedSource,
  type MovedTarget,
  type StoreHead,
  type StoreSnapshot,
  TRANSFER_TABLE_NAMES,
  type TransferRow,
  type TransferSource,
  type TransferTableName,
  type TransferTarget,
  type WriteRows,
} from '../ports/transfer.ts'

/** Nodes keep counts of requests for about a second before they write them. */
const COUNTS_MS = 2_500
const BATCH_ROWS = 200

export interface MoveOptions {
  /** Called with the number of all rows, about, before the copy and before the comparison. */
  readonly onStep?: (step: 'copy' | 'compare', rows: number) => void
  readonly onRows?: (rows: number) => void
  /** How long nodes are given to write their counts of requests; 2.5 s unless set. */
  readonly countsMs?: number
  /** Aborted = nothing is left of the copy, and the source takes writes again. */
  readonly stop?: AbortSignal
}

export interface MovedStore {
  readonly counts: TableCounts
  readonly revision: number
  /** How long the source refused writes until the copy was whole. */
  readonly frozenMs: number
}

/**
 * Moves a store that others serve from into an empty one. Copies a snapshot while the source takes writes, then freezes the source and
 * writes what has changed since: rows are compared by digests, about 100 bytes of memory each, which a server makes where it can. The source stays frozen: it would lose
 * what it took from here on. On any failure the target is empty and the source takes writes again.
 * @throws Fault of either store, `internal` where the copy differs, the reason of `stop`
 */
export async function moveStore(source: MovedSource, target: MovedTarget, options: MoveOptions): Promise<MovedStore> {
  const copy = new Copy(options)
  let frozenAt = 0
  try {
    const moved = { revision: 0 }
    await target.load(async (write, edit) => {
      await source.snapshot((snapshot) => copy.fill(snapshot, write))
      await edit.settle()
      frozenAt = performance.now()
      await source.freeze('commits')
      await wait(options.countsMs ?? COUNTS_MS, undefined, options.stop && { signal: options.stop }).catch(() =>
        options.stop?.throwIfAborted(),
      )
      await source.freeze('all')
      return source.snapshot(async (snapshot) => {
        await copy.correct(snapshot, write, edit)
        moved.revision = snapshot.head.revision
        return snapshot.head
      })
    })
    return { counts: copy.counts, revision: moved.revision, frozenMs: performance.now() - frozenAt }
  } catch (error) {
    if (frozenAt > 0) await source.freeze('none')
    throw error
  }
}

/** The rows of a copy, by table: name and digest of each. */
class Copy {
  readonly #rows = new Map<TransferTableName, Map<string, number>>()
  readonly #options: MoveOptions

  constructor(options: MoveOptions) {
    this.#options = options
  }

  get counts(): TableCounts {
    return Object.fromEntries([...this.#rows].map(([table, rows]) => [table, rows.size]))
  }

  /** Writes all rows with a primary key, except quotas, whose values change all the time; `correct` writes the rest. */
  async fill(snapshot: StoreSnapshot, write: WriteRows): Promise<void> {
    await this.#begin('copy', snapshot)
    for (const table of TRANSFER_TABLE_NAMES) {
      if (table === 'quota' || keyColumnsOf(table).length === 0) continue
      const known = this.#known(table)
      const nameOf = namer(table)
      const digests = snapshot.digests?.of(table)
      for await (const rows of snapshot.rows(table)) {
        this.#advance(rows)
        if (digests === undefined) for (const row of rows) known.set(nameOf(row), digestOf(row))
        await write(table, rows)
      }
      for await (const some of digests ?? []) for (const [key, digest] of some) known.set(nameOf(key), digest)
    }
  }

  /** Makes the copy equal to a later snapshot. @throws Fault `internal` where it is not then */
  async correct(snapshot: StoreSnapshot, write: WriteRows, edit: LoadEdit): Promise<void> {
    await this.#begin('compare', snapshot)
    for (const table of TRANSFER_TABLE_NAMES) await this.#correctTable(table, snapshot, write, edit)
  }

  async #correctTable(
    table: TransferTableName,
    snapshot: StoreSnapshot,
    write: WriteRows,
    edit: LoadEdit,
  ): Promise<void> {
    const known = this.#known(table)
    const now = new Map<string, number>()
    const changed: TransferRow[] = []
    const stale: TransferRow[] = []
    const nameOf = namer(table)
    const isChanged = (row: TransferRow, digest: number) => {
      const name = nameOf(row)
      now.set(name, digest)
      if (known.get(name) === digest) return false
      if (known.has(name)) stale.push(keyOf(table, row))
      return true
    }
    const digests = snapshot.digests?.of(table)
    if (digests === undefined)
      for await (const rows of snapshot.rows(table)) {
        this.#advance(rows)
        for (const row of rows) if (isChanged(row, digestOf(row))) changed.push(row)
      }
    const keys: TransferRow[] = []
    for await (const some of digests ?? []) {
      this.#advance(some)
      // Several changes of an audit entry have one name, by which all of them are read.
      for (const [key, digest] of some)
        if (isChanged(key, digest) && !isDeepStrictEqual(keys.at(-1), key)) keys.push(key)
    }
    for (const name of known.keys()) if (!now.has(name)) stale.push(keyFrom(name))
    // First: a new row may have a value that only one row may have.
    for (const some of batches(stale)) await edit.remove(table, some)
    for (const rows of batches(changed)) await write(table, rows)
    for (const some of batches(keys)) await write(table, await snapshot.digests!.rows(table, some))
    this.#rows.set(table, now)
    // Counts of a cluster are outside of the transaction.
    if (table === 'quota') return
    const found = await edit.count(table)
    if (found !== now.size) throw fault('internal', `the copy has ${found} rows of ${table}, the store ${now.size}`)
  }

  async #begin(step: 'copy' | 'compare', snapshot: StoreSnapshot): Promise<void> {
    let total = 0
    for (const table of TRANSFER_TABLE_NAMES) total += await snapshot.count(table)
    this.#options.onStep?.(step, total)
  }

  #advance(rows: readonly unknown[]): void {
    this.#options.stop?.throwIfAborted()
    this.#options.onRows?.(rows.length)
  }

  #known(table: TransferTableName): Map<string, number> {
    const known = this.#rows.get(table) ?? new Map<string, number>()
    this.#rows.set(table, known)
    return known
  }
}

/** Names rows. Those that share their key columns, or have none, are numbered in their order. */
function namer(table: TransferTableName): (row: TransferRow) => string {
  const isNumbered = table === 'audit_change' || keyColumnsOf(table).length === 0
  const numbers = new Map<string, number>()
  return (row) => {
    const key = JSON.stringify(
      keyOf(table, row).map((cell) => (cell instanceof Uint8Array ? { hex: hexOf(cell) } : cell)),
    )
    if (!isNumbered) return key
    const number = numbers.get(key) ?? 0
    numbers.set(key, number + 1)
    return `${key}#${number}`
  }
}

function keyOf(table: TransferTableName, row: TransferRow): TransferRow {
  return row.slice(0, keyColumnsOf(table).length)
}

/** The key columns in a name. */
function keyFrom(name: string): TransferRow {
  const cells = JSON.parse(name.replace(/#\d+$/, '')) as (Cell | { readonly hex: string })[]
  return cells.map((cell) =>
    typeof cell === 'object' && cell !== null && 'hex' in cell ? Buffer.from(cell.hex, 'hex') : cell,
  )
}

/** 48 bits of a digest: one of 280 million million changed rows is taken for the same. */
function digestOf(row: TransferRow): number {
  const text = JSON.stringify(row.map((cell) => (cell instanceof Uint8Array ? hexOf(cell) : cell)))
  return hash('sha256', text, 'buffer').readUIntBE(0, 6)
}

function* batches<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; at += BATCH_ROWS) yield rows.slice(at, at + BATCH_ROWS)
}

interface CopyOptions {
  /** In the order of `TRANSFER_TABLE_NAMES`. */
  readonly tables: readonly TransferTableName[]
  /** Called with the number of all rows, about, before the first, and then with each batch. */
  readonly onTotal?: (rows: number) => void
  readonly onRows?: (table: TransferTableName, rows: number) => void
  /** The head that the target begins with; by default that of the source. */
  readonly headOf?: (head: StoreHead) => StoreHead
  /** Aborted = the copy ends before the next batch, and nothing is left of it. */
  readonly stop?: AbortSignal
}

/** Rows of each table, as they were copied. */
type TableCounts = Readonly<Record<string, number>>

/**
 * Copies one consistent snapshot of a store into an empty one, all or nothing. Answers the rows of each table.
 * @throws Fault of either store; the reason of `stop`
 */
export async function copyStore(
  source: TransferSource,
  target: TransferTarget,
  { tables, onTotal, onRows, headOf = (head) => head, stop }: CopyOptions,
): Promise<TableCounts> {
  const counts: Record<string, number> = {}
  await source.snapshot(async (snapshot) => {
    let total = 0
    for (const table of tables) total += await snapshot.count(table)
    onTotal?.(total)
    await target.load(async (write) => {
      for (const table of tables) {
        counts[table] = 0
        for await (const rows of snapshot.rows(table)) {
          stop?.throwIfAborted()
          await write(table, rows)
          counts[table]! += rows.length
          onRows?.(table, rows.length)
        }
      }
      return headOf(snapshot.head)
    })
  })
  return counts
}
