import { createHash } from 'node:crypto'
import { fault } from '../../../errors/fault.ts'
import type { HitDimensions } from '../../../model/analytics/dimensions.ts'
import { DIMENSIONS } from '../../../model/analytics/dimensions.ts'
import { FIRST_DIMENSIONS } from '../../hits/dimension-steps.ts'
import { dimensionTexts } from '../../hits/hit-pack.ts'
import { DIMENSION_COLUMNS, NOT_BY_MINUTE, OF_CALLERS } from '../../hits/hit-times.ts'
import { wellFormed } from '../../prepare/cells.ts'
import type { Tx } from '../connection/db.ts'

/** How many sets of dimensions are cached with their numbers; the oldest go first. About 100 bytes each. */
const KNOWN = 50_000

/** The texts of a set of dimensions as they are stored, in the order of `DIMENSIONS`. */
export function storedTexts(of: HitDimensions): string[] {
  return dimensionTexts(of).map(wellFormed)
}

/** The numbers of sets of dimensions, by their texts; those that have none get one. */
export async function dimensionNumbersOf(tx: Tx, sets: readonly (readonly string[])[]): Promise<number[]> {
  if (sets.length === 0) return []
  const hashes = sets.map(hashOf)
  const names = hashes.map((hash) => hash.toString('latin1'))
  const known = await find(tx, hashes)
  const missing = new Map<string, number>()
  for (const [i, name] of names.entries()) if (!known.has(name)) missing.set(name, i)
  if (missing.size > 0) {
    await insert(
      tx,
      [...missing.values()].map((i) => ({ hash: hashes[i]!, texts: sets[i]! })),
    )
    for (const [name, number] of await find(
      tx,
      [...missing.values()].map((i) => hashes[i]!),
    ))
      known.set(name, number)
  }
  return names.map((name) => {
    const number = known.get(name)
    if (number === undefined) throw fault('store_away', 'a set of dimensions was forgotten while it was looked for')
    return number
  })
}

/** The hash of a set of dimensions. Later dimensions that are '' are left out, so that a set keeps the hash that it had before they came. */
export function hashOf(texts: readonly string[]): Buffer {
  let length = texts.length
  while (length > FIRST_DIMENSIONS && texts[length - 1] === '') length--
  return createHash('sha256').update(texts.slice(0, length).join('\0')).digest()
}

async function find(tx: Tx, hashes: readonly Buffer[]): Promise<Map<string, number>> {
  const rows = await tx.query<{ number: number; hash: Buffer }>(
    'SELECT number, hash FROM hit_dimension WHERE hash = ANY($1::bytea[])',
    [hashes],
  )
  return new Map(rows.map(({ number, hash }) => [hash.toString('latin1'), number]))
}

async function insert(tx: Tx, sets: readonly { hash: Buffer; texts: readonly string[] }[]): Promise<void> {
  const columns = DIMENSION_COLUMNS.map((_, i) => sets.map(({ texts }) => texts[i]!))
  // In one order everywhere, so that two processes never wait for each other.
  await tx.run(
    `INSERT INTO hit_dimension(hash, ${DIMENSION_COLUMNS.join(', ')})
      SELECT * FROM unnest($1::bytea[], ${columns.map((_, i) => `$${i + 2}::text[]`).join(', ')}) AS r(hash) ORDER BY r.hash
      ON CONFLICT (hash) DO NOTHING`,
    [sets.map(({ hash }) => hash), ...columns],
  )
}

interface Use {
  readonly coarse: number
  readonly lastDay: number
}

/** Sets of dimensions that represent others. */
export interface UsedSets {
  /** Of each set the one without callers. */
  readonly coarse: ReadonlyMap<number, number>
  /** Of each of these the one that minutes are counted by. */
  readonly ofMinutes: ReadonlyMap<number, number>
  /** To be called when the transaction was committed. */
  keep(): void
}

/** The representative of each set of dimensions without callers, and when each was used last. */
export class DimensionUses {
  private readonly known = new Map<number, Use>()
  /** The representatives that minutes are counted by, of those that were used on one day: later another process may have forgotten them. */
  private minuteSets = new Map<number, number>()
  private minuteDay = -1

  /**
   * The representatives of these sets, noting that they are used on `day`; a deleted set has none.
   */
  async touch(tx: Tx, sets: Iterable<number>, day: number): Promise<UsedSets> {
    const uses = new Map<number, Use>()
    const unknown: number[] = []
    for (const set of new Set(sets)) {
      const use = this.known.get(set)
      // One that was not used today may have been forgotten by another process.
      if (use === undefined || use.lastDay < day) unknown.push(set)
      else uses.set(set, use)
    }
    for (const [set, use] of await read(tx, unknown)) uses.set(set, use)
    const fresh = unknown.filter((set) => !uses.has(set))
    for (const [set, coarse] of await setsWithout(tx, fresh, OF_CALLERS)) uses.set(set, { coarse, lastDay: -1 })
    const coarse = new Map([...uses].map(([set, use]) => [set, use.coarse]))
    const known = this.minuteDay === day ? this.minuteSets : new Map<number, number>()
    const coarseSets = new Set(coarse.values())
    const newMinutes = await setsWithout(
      tx,
      [...coarseSets].filter((set) => !known.has(set)),
      NOT_BY_MINUTE,
    )
    const ofMinutes = new Map([...coarseSets].map((set) => [set, known.get(set) ?? newMinutes.get(set)!]))
    const due = new Map<number, number>([...newMinutes.values()].map((set) => [set, set]))
    for (const [set, { coarse, lastDay }] of uses) {
      if (lastDay >= day) continue
      due.set(set, coarse)
      // A representative is used when its sets are.
      due.set(coarse, coarse)
    }
    await save(tx, due, day)
    return {
      ...{ coarse, ofMinutes },
      keep: () => {
        for (const [set, use] of uses) this.remember(set, { coarse: use.coarse, lastDay: day })
        this.minuteSets = known.size >= KNOWN ? new Map() : known
        for (const [set, ofMinute] of newMinutes) this.minuteSets.set(set, ofMinute)
        this.minuteDay = day
      },
    }
  }

  /** Must be called when sets of dimensions were deleted. */
  forget(): void {
    this.known.clear()
    this.minuteSets.clear()
  }

  private remember(set: number, use: Use): void {
    if (this.known.size >= KNOWN) this.known.delete(this.known.keys().next().value!)
    this.known.set(set, use)
  }
}

async function read(tx: Tx, sets: readonly number[]): Promise<Map<number, Use>> {
  if (sets.length === 0) return new Map()
  const rows = await tx.query<{ dimension: number; coarse: number; last_day: number }>(
    `SELECT u.dimension, u.coarse, u.last_day FROM hit_dimension_use u
      JOIN hit_dimension d ON d.number = u.dimension JOIN hit_dimension c ON c.number = u.coarse
      WHERE u.dimension = ANY($1::bigint[])`,
    [sets],
  )
  return new Map(rows.map(({ dimension, coarse, last_day }) => [dimension, { coarse, lastDay: last_day }]))
}

/** Numbers of the sets without some dimensions. */
async function setsWithout(tx: Tx, sets: readonly number[], blank: readonly string[]): Promise<Map<number, number>> {
  if (sets.length === 0) return new Map()
  const rows = await tx.query<Record<string, string> & { number: number }>(
    `SELECT number, ${DIMENSION_COLUMNS.join(', ')} FROM hit_dimension WHERE number = ANY($1::bigint[]) ORDER BY number`,
    [sets],
  )
  const texts = rows.map((row) =>
    DIMENSION_COLUMNS.map((column, i) => (blank.includes(DIMENSIONS[i]!) ? '' : row[column]!)),
  )
  const numbers = await dimensionNumbersOf(tx, texts)
  return new Map(rows.map(({ number }, i) => [number, numbers[i]!]))
}

async function save(tx: Tx, due: ReadonlyMap<number, number>, day: number): Promise<void> {
  if (due.size === 0) return
  await tx.run(
    `INSERT INTO hit_dimension_use(dimension, coarse, last_day)
      SELECT r.dimension, r.coarse, $3 FROM unnest($1::bigint[], $2::bigint[]) AS r(dimension, coarse) ORDER BY r.dimension
      ON CONFLICT (dimension) DO UPDATE SET coarse = excluded.coarse, last_day = greatest(hit_dimension_use.last_day, excluded.last_day)`,
    [[...due.keys()], [...due.values()], day],
  )
}
