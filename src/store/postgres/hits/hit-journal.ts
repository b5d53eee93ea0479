import { endianness } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { type HitSamples, SAMPLE_WORDS } from '../../../model/analytics/hit-samples.ts'
import type { Millis } from '../../../model/time/clock.ts'
import { SampleSums } from '../../hits/sample-sums.ts'
import type { HitBatch } from '../../ports/ports.ts'
import type { Db, Tx } from '../connection/db.ts'
import { postgresFault } from '../connection/faults.ts'
import { dayOfHour, type HitRow, type HitWriter, isNew, toHitRow } from './hit-writer.ts'

/** A fold takes entries until it has so many requests, or rows to write: bounds of its memory and of its transaction. */
const FOLDED_SAMPLES = 1_000_000
const FOLDED_ROWS = 20_000
const ENTRIES_AT_ONCE = 4
/** Added up at once, in half a millisecond. As much time is left to what else the thread does, such as requests. */
const SUMMED_AT_ONCE = 4_096 * SAMPLE_WORDS
const REST_MS = 1
/** "Fold" among the advisory locks of the database. */
const LOCK = 0x466f6c64
/** Longer than a fold of another process takes. */
const LOCK_WAIT_MS = 30_000

interface Entry {
  readonly row: number
  readonly hour: number
  readonly samples: Buffer
}

/**
 * Requests that are durable as they came and not in the tables of hits yet. 10,000 keys that come once a second would write 10,000 rows a second
 * in two tables; folded once a minute they write as many in a minute.
 */
export class HitJournal {
  private readonly db: Db
  private readonly writer: HitWriter
  private running: Promise<void> = Promise.resolve()
  /** The fold that has not started yet, shared by all who ask before it does. */
  private next: Promise<void> | undefined

  constructor(db: Db, writer: HitWriter) {
    this.db = db
    this.writer = writer
  }

  /** Adds requests, once for each batch. Resolves when they are durable. @throws Fault `store_full`, `store_away`, `internal` */
  async append(samples: readonly HitSamples[], batch: HitBatch | undefined): Promise<void> {
    const entries = bytesByHour(samples)
    if (entries.size === 0) return
    // The table of an hour is made when it is folded: then it is too late to refuse one that no calendar has.
    for (const hour of entries.keys()) dayOfHour(hour)
    await this.db.transact(async (tx) => {
      if (!(await isNew(tx, batch))) return
      for (const [hour, bytes] of entries)
        await tx.run('INSERT INTO hit_journal(hour, samples) VALUES ($1, $2)', [hour, bytes])
    })
  }

  /** Rolls up everything that is durable now, of all nodes. @throws Fault `store_full`, `store_away` */
  fold(): Promise<void> {
    // One that is under way may have looked before this call.
    this.next ??= this.running
      .catch(() => {})
      .then(() => {
        this.next = undefined
        this.running = this.foldAll()
        return this.running
      })
    return this.next
  }

  /**
   * Runs `fold` before a read or purge. A server with a full disk can still be read, without the last minutes (its
   * gateways cannot write then either), and freed of what is old. @throws Fault `store_away`
   */
  async settle(): Promise<void> {
    await this.fold().catch((error) => {
      if (postgresFault(error).code !== 'store_full') throw error
    })
  }

  /** Does `fold` where something has waited for longer than this. Throws as `fold`. */
  async foldOld(afterMs: Millis): Promise<void> {
    const [oldest] = await this.db.read<{ old: boolean }>(
      "SELECT at < now() - $1 * interval '1 millisecond' AS old FROM hit_journal ORDER BY row LIMIT 1",
      [afterMs],
    )
    if (oldest?.old === true) await this.fold()
  }

  private async foldAll(): Promise<void> {
    const [newest] = await this.db.read<{ row: number | null }>('SELECT max(row) AS row FROM hit_journal')
    const upTo = newest?.row ?? 0
    while (upTo > 0) {
      // Those that another process is folding are seen until it has committed: then its lock is waited for.
      const hours = await this.db.read<{ hour: number }>('SELECT DISTINCT hour FROM hit_journal WHERE row <= $1', [
        upTo,
      ])
      if (hours.length === 0) return
      await this.foldSome(hours.map(({ hour }) => hour))
    }
  }

  private foldSome(hours: readonly number[]): Promise<void> {
    return this.writer.addTaken(new Set(hours.map(dayOfHour)), async (tx) => {
      await tx.run(`SET LOCAL lock_timeout = ${LOCK_WAIT_MS}`)
      await tx.query('SELECT pg_advisory_xact_lock($1)', [LOCK])
      const sums = new SampleSums()
      const taken: number[] = []
      let samples = 0
      while (samples < FOLDED_SAMPLES && sums.size < FOLDED_ROWS) {
        const entries = await entriesAfter(tx, taken.at(-1) ?? 0, hours)
        if (entries.length === 0) break
        for (const entry of entries) {
          samples += await addInPieces(sums, entry)
          taken.push(entry.row)
        }
      }
      await tx.run('DELETE FROM hit_journal WHERE row = ANY($1::bigint[])', [taken])
      return rowsOf(sums)
    })
  }
}

function entriesAfter(tx: Tx, row: number, hours: readonly number[]): Promise<Entry[]> {
  return tx.query<Entry>(
    `SELECT row, hour, samples FROM hit_journal WHERE row > $1 AND hour = ANY($2::bigint[]) ORDER BY row LIMIT ${ENTRIES_AT_ONCE}`,
    [row, hours],
  )
}

/** Turns the words of this machine into those of the store, or back, in place. */
function littleEndian(words: Buffer): Buffer {
  return endianness() === 'LE' ? words : words.swap32()
}

/** The samples of each hour as bytes, by hour. */
function bytesByHour(samples: readonly HitSamples[]): Map<number, Buffer> {
  const parts = new Map<number, Buffer[]>()
  for (const { hour, words } of samples) {
    if (words.length === 0) continue
    const bytes = Buffer.from(words.buffer, words.byteOffset, words.byteLength)
    parts.set(hour, [...(parts.get(hour) ?? []), bytes])
  }
  return new Map([...parts].map(([hour, bytes]) => [hour, littleEndian(Buffer.concat(bytes))]))
}

/** Answers how many there were. */
async function addInPieces(sums: SampleSums, { hour, samples }: Entry): Promise<number> {
  // A copy: a view must begin at a multiple of its element size.
  const words = new Uint32Array(new Uint8Array(littleEndian(samples)).buffer)
  for (let at = 0; at < words.length; at += SUMMED_AT_ONCE) {
    sums.add({ hour, words: words.subarray(at, at + SUMMED_AT_ONCE) })
    await wait(REST_MS)
  }
  return words.length / SAMPLE_WORDS
}

function rowsOf(sums: SampleSums): HitRow[] {
  return Array.from({ length: sums.size }, (_, row) => {
    const numbers: number[] = []
    sums.write(row, numbers, 0)
    return toHitRow(numbers, sums.dimension(row), sums.minute(row))
  })
}
