import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fault } from '../../../errors/fault.ts'
import type { HitDimensions } from '../../../model/analytics/dimensions.ts'
import { dimensionTexts, packHits } from '../../hits/hit-pack.ts'
import { checkSamples } from '../../hits/sample-sums.ts'
import { checkUsage } from '../../hits/usage-rows.ts'
import type { Hits } from '../../ports/ports.ts'
import { wholeNumber } from '../../prepare/cells.ts'
import { reading } from '../connection/reading.ts'
import { runInSlices } from '../writer/maintenance-schedule.ts'
import type { Write } from '../writer/messages.ts'
import { findDimensionSql } from './apply-counts.ts'
import { hitReader } from './read-hits.ts'
import { usageReader } from './read-usage.ts'
import type { UsageLink } from './usage-link.ts'

/** Sets of dimensions that are looked up at a time: about 5 µs each on the calling thread. */
const LOOKED_UP_AT_ONCE = 50

/** Hits that are read on a connection of this thread, usage by `link`, and written through the one writer. */
export function sqliteHits(db: DatabaseSync, write: (write: Write) => Promise<number>, link: UsageLink): Hits {
  const find = db.prepare(findDimensionSql())
  const reader = hitReader(db)
  const usage = usageReader(db)
  /** Has all that is acknowledged worked in; true where that cannot be had now, so that readers must look at the journal too. */
  const journalLeft = async (): Promise<boolean> => {
    if (!reader.hasJournal()) return false
    return write({ sort: 'foldHits' }).then(
      () => false,
      () => true,
    )
  }

  const numberOf = (texts: readonly string[]): SQLOutputValue | undefined => reading(() => find.get(...texts)?.row)
  const numbersOf = async (sets: readonly string[][]): Promise<number[]> => {
    const numbers = sets.map(numberOf)
    const missing = sets.filter((_, i) => numbers[i] === undefined)
    if (missing.length > 0) await write({ sort: 'dimensions', dimensions: missing.flat() })
    return numbers.map((number, i) => {
      const known = number ?? numberOf(sets[i]!)
      if (typeof known !== 'number') throw fault('internal', 'a set of dimensions has no number')
      return known
    })
  }
  return {
    async number(dimensions: readonly HitDimensions[]) {
      const numbers: number[] = []
      for (let at = 0; at < dimensions.length; at += LOOKED_UP_AT_ONCE) {
        if (at > 0) await nextTurn()
        numbers.push(...(await numbersOf(dimensions.slice(at, at + LOOKED_UP_AT_ONCE).map(dimensionTexts))))
      }
      return numbers
    },
    async append(samples, batch) {
      checkSamples(samples)
      const copies = samples.map(({ hour, words }) => ({ hour, words: words.slice() }))
      if (copies.length > 0) await write({ sort: 'samples', samples: copies, ...(batch && { batch }) })
    },
    async add(rows, batch) {
      if (rows.length > 0) await write({ sort: 'hits', pack: packHits(rows), ...(batch && { batch }) })
    },
    sum(query) {
      if (!reader.hasJournal()) return reader.sum(query)
      // Without a writer, or room for what it writes, the journal is added to the answer: slower, and as right.
      return write({ sort: 'foldHits' }).then(
        () => reader.sum(query),
        () => reader.sumWithJournal(query),
      )
    },
    async usage(query) {
      checkUsage(query, [query.offset, query.limit])
      return link.page(query, await journalLeft())
    },
    async *eachUsage(query) {
      checkUsage(query)
      yield* link.each(query, await journalLeft())
    },
    knows: (orgId, name, value) => usage.knows(orgId, name, value),
    async purgeHits(beforeDay) {
      const day = wholeNumber(beforeDay)
      // Hits that wait in the journal may be as old.
      await journalLeft()
      return runInSlices(() => write({ sort: 'purgeHits', beforeDay: day }))
    },
  }
}
