import type { StoreHead, TransferSource, TransferTableName, TransferTarget } from '../ports/transfer.ts'

export interface CopyOptions {
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
export type TableCounts = Readonly<Record<string, number>>

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
