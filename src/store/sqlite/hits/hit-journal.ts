import type { DatabaseSync } from 'node:sqlite'
import { type HitSamples, SAMPLE_WORDS } from '../../../model/analytics/hit-samples.ts'
import { ROW_NUMBERS } from '../../hits/hit-pack.ts'
import { type Folded, SampleSums } from '../../hits/sample-sums.ts'
import { inTransaction } from '../migrations/schema.ts'
import { blobNumbers, type Journal } from './folding.ts'
import { mergeHitValues } from './hit-columns.ts'
import { type HitTables, hitTables } from './hit-tables.ts'

/** How much a fold does at once. */
export interface FoldLimits {
  /** It takes entries until it has so many samples, or rows to write: bounds of its memory and of the longest piece. */
  readonly samples: number
  readonly rows: number
  /** A transaction ends after this time, checked every so many rows; or after so many deleted entries. */
  readonly pieceMs: number
  readonly lookEveryRows: number
  readonly pieceEntries: number
}

const LIMITS: FoldLimits = { samples: 1_000_000, rows: 30_000, pieceMs: 8, lookEveryRows: 64, pieceEntries: 8 }

export interface HitJournal extends Journal {
  /** Adds samples inside an open transaction. */
  append(samples: readonly HitSamples[]): void
}

/** The journal of requests that are not in `hit` yet. */
export function hitJournal(
  db: DatabaseSync,
  limits: FoldLimits = LIMITS,
  tables: HitTables = hitTables(db),
): HitJournal {
  const insert = db.prepare('INSERT INTO hit_journal(hour, samples) VALUES (?, ?)')
  const last = db.prepare('SELECT coalesce(max(row), 0) AS row FROM hit_journal')
  const oldest = db.prepare(`SELECT coalesce(min(row), ${Number.MAX_SAFE_INTEGER}) AS row FROM hit_journal`)
  const saveState = db.prepare('UPDATE hit_fold SET up_to = ?, hour = ?, dimension = ?')
  const remove = db.prepare(
    'DELETE FROM hit_journal WHERE row IN (SELECT row FROM hit_journal WHERE row <= ? ORDER BY row LIMIT ?)',
  )
  const entries = journalReader(db)
  const values: number[] = new Array(ROW_NUMBERS + 1)
  const more: number[] = new Array(ROW_NUMBERS + 1)

  const read = (sums: SampleSums, row: number, into: number[]) => {
    sums.write(row, into, 1)
    // The hour comes first, then the dimensions, which the numbers of a pack do not have.
    into[0] = into[1]!
    into[1] = sums.dimension(row)
    tables.addMinute(into, sums.minute(row))
  }
  /** Adds the minutes of one hour, set of dimensions and status; answers the place of the next row. */
  const addHour = (sums: SampleSums, order: Uint32Array, from: number): number => {
    const row = order[from]!
    read(sums, row, values)
    let at = from + 1
    for (; at < order.length && sameSet(sums, row, order[at]!); at++) {
      if (sums.status(order[at]!) !== sums.status(row)) break
      read(sums, order[at]!, more)
      mergeHitValues(values, more)
    }
    tables.add(values)
    return at
  }
  /** Adds rows from `at` on; answers where it ended, always between two sets of dimensions. */
  const addSome = (sums: SampleSums, order: Uint32Array, from: number, upTo: number): number => {
    const endAt = performance.now() + limits.pieceMs
    let at = from
    let lookAt = from + limits.lookEveryRows
    while (at < order.length) {
      const row = order[at]!
      at = addHour(sums, order, at)
      if (at < lookAt) continue
      lookAt = at + limits.lookEveryRows
      if (performance.now() < endAt) continue
      while (at < order.length && sameSet(sums, row, order[at]!)) at = addHour(sums, order, at)
      break
    }
    tables.flush()
    if (at > from) saveState.run(upTo, sums.hour(order[at - 1]!), sums.dimension(order[at - 1]!))
    return at
  }
  const addPiece = (sums: SampleSums, order: Uint32Array, at: number, upTo: number): number => {
    try {
      return inTransaction(db, () => addSome(sums, order, at, upTo))
    } catch (error) {
      tables.forget()
      throw error
    }
  }
  return {
    append(samples) {
      for (const { hour, words } of samples) if (words.length > 0) insert.run(hour, words)
    },
    last: () => last.get()!.row as number,
    *fold() {
      const { upTo: begun, folded } = foldState(db)
      const sums = new SampleSums(folded)
      let upTo = 0
      let samples = 0
      for (const entry of entries(begun)) {
        sums.add(entry.samples)
        upTo = entry.row
        samples += entry.samples.words.length / SAMPLE_WORDS
        // One that was begun must end where it was to end.
        if (begun === 0 && (samples >= limits.samples || sums.size >= limits.rows)) break
        yield
      }
      const order = sums.ordered()
      for (let at = 0; at < order.length; ) {
        at = addPiece(sums, order, at, upTo)
        yield
      }
      for (;;) {
        const removed: boolean = inTransaction(db, () => {
          remove.run(upTo, limits.pieceEntries)
          if ((oldest.get()!.row as number) <= upTo) return false
          // In one transaction with the last of them: the rows of an empty table begin at 1 again.
          saveState.run(0, -1, 0)
          return true
        })
        if (removed) return upTo
        yield
      }
    },
  }
}

function sameSet(sums: SampleSums, a: number, b: number): boolean {
  return sums.dimension(a) === sums.dimension(b) && sums.hour(a) === sums.hour(b)
}

/** Up to which entry a fold was begun, 0 = none, and how far it got. */
function foldState(db: DatabaseSync): { upTo: number; folded: Folded } {
  const { up_to, hour, dimension } = db.prepare('SELECT up_to, hour, dimension FROM hit_fold').get()!
  return { upTo: up_to as number, folded: { hour: hour as number, dimension: dimension as number } }
}

interface Entry {
  readonly row: number
  readonly samples: HitSamples
}

/** Reads entries one by one, in order, up to a row (0 = all); others may be added meanwhile. */
export function journalReader(db: DatabaseSync): (upTo: number) => Generator<Entry> {
  const next = db.prepare('SELECT row, hour, samples FROM hit_journal WHERE row > ? AND row <= ? ORDER BY row LIMIT 1')
  return function* entries(upTo) {
    let row = 0
    for (;;) {
      const found = next.get(row, upTo === 0 ? Number.MAX_SAFE_INTEGER : upTo)
      if (found === undefined) return
      row = found.row as number
      const words = blobNumbers(found.samples, 4, (...at) => new Uint32Array(...at))
      yield { row, samples: { hour: found.hour as number, words } }
    }
  }
}

/**
 * The sums of acknowledged samples that are not in `hit` yet. Both must be read in one transaction.
 * Blocks for about a millisecond for 20,000 samples.
 */
export function unfolded(db: DatabaseSync): SampleSums[] {
  const { upTo, folded } = foldState(db)
  const begun = new SampleSums(folded)
  const rest = new SampleSums()
  for (const { row, samples } of journalReader(db)(0)) (row <= upTo ? begun : rest).add(samples)
  return [begun, rest]
}
