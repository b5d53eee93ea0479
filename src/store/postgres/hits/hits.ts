import { packHits, ROW_NUMBERS } from '../../hits/hit-pack.ts'
import { checkSamples } from '../../hits/sample-sums.ts'
import { checkUsage, USAGE_BATCH } from '../../hits/usage-rows.ts'
import type { Hits } from '../../ports/ports.ts'
import { wellFormed, wholeNumber } from '../../prepare/cells.ts'
import type { Db } from '../connection/db.ts'
import { toHit } from './hit-columns.ts'
import { dimensionNumbersOf, storedTexts } from './hit-dimensions.ts'
import type { HitJournal } from './hit-journal.ts'
import { purgeHits } from './hit-purge.ts'
import { sumSql, usageCountSql, usageSql } from './hit-usage.ts'
import { type HitWriter, toHitRow } from './hit-writer.ts'

type Row = Record<string, unknown>

/**
 * Hits in PostgreSQL: added up by hour and day, for whole sets of dimensions and for those without callers. Rows are as they come;
 * samples wait in the journal, and are worked in before anything is read.
 */
export function openHits(db: Db, writer: HitWriter, journal: HitJournal): Hits {
  return {
    async number(dimensions) {
      const texts = dimensions.map(storedTexts)
      return texts.length === 0 ? [] : db.transact((tx) => dimensionNumbersOf(tx, texts))
    },
    async append(samples, batch) {
      checkSamples(samples)
      await journal.append(samples, batch)
    },
    async add(rows, batch) {
      const { numbers } = packHits(rows)
      const texts = rows.map(storedTexts)
      if (rows.length === 0) return
      const sets = await db.transact((tx) => dimensionNumbersOf(tx, texts))
      const own = sets.map((set, i) => toHitRow(numbers.subarray(i * ROW_NUMBERS, (i + 1) * ROW_NUMBERS), set))
      await writer.add(own, batch)
    },
    async sum(query) {
      const { text, values } = sumSql(query)
      await journal.settle()
      return (await db.read<Row>(text, values)).map(toHit)
    },
    async usage({ offset, limit, ...query }) {
      checkUsage(query, [offset, limit])
      const { text, values } = usageSql(query, { offset, limit })
      await journal.settle()
      const rows = await db.read<Row>(text, values)
      if (rows.length > 0) return { rows: rows.map(toHit), total: rows[0]!.total as number }
      if (offset === 0 && limit > 0) return { rows: [], total: 0 }
      const count = usageCountSql(query)
      const [counted] = await db.read<{ total: number }>(count.text, count.values)
      return { rows: [], total: counted!.total }
    },
    async *eachUsage(query) {
      checkUsage(query)
      const { text, values } = usageSql(query)
      await journal.settle()
      for await (const rows of db.cursor<Row>(text, values, USAGE_BATCH)) yield rows.map(toHit)
    },
    async knows(orgId, name, value) {
      const condition = name === 'keyHash' ? 'd.key_hash = $1' : "d.client_id = $1 AND d.client_id <> ''"
      await journal.settle()
      const rows = await db.read(
        `SELECT 1 FROM hit_dimension d JOIN hit_dimension_use u ON u.dimension = d.number
          WHERE ${condition} AND (d.org_id = $2 OR $2 = '') LIMIT 1`,
        [wellFormed(value), wellFormed(orgId)],
      )
      return rows.length > 0
    },
    async purgeHits(beforeDay) {
      const day = wholeNumber(beforeDay)
      // Hits that wait in the journal may be as old.
      await journal.settle()
      return purgeHits(db, writer, day)
    },
  }
}
