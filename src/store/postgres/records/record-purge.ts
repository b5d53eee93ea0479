import { DAY_MS } from '../../../model/time/calendar.ts'
import type { Db } from '../connection/db.ts'
import type { Months } from '../hits/months.ts'

const STEP_ROWS = 2_000
const MINUTE_MS = 60_000

/** `Records.purgeRecords`: whole months first, the rest in steps, each in a separate transaction. */
export async function purgeRecords(
  db: Db,
  months: Months,
  { before, keep }: { readonly before: number; readonly keep: number },
): Promise<number> {
  let rows = await months.drop(Math.floor(before / DAY_MS))
  rows += await inSteps(db, 'at_ms < $1::bigint', before)
  const [beyond] = await db.read<{ number: number }>(
    `SELECT number FROM record ORDER BY number DESC LIMIT 1 OFFSET ${keep}`,
  )
  if (beyond !== undefined) rows += await inSteps(db, 'number <= $1::bigint', beyond.number)
  // Records that were left out before the oldest stored one say nothing about the stored ones.
  await db.run(
    `DELETE FROM record_dropped WHERE minute < coalesce((SELECT min(at_ms) FROM record), $1::bigint) / ${MINUTE_MS}`,
    [before],
  )
  return rows
}

async function inSteps(db: Db, condition: string, value: number): Promise<number> {
  let all = 0
  for (;;) {
    const some = await db.run(
      `DELETE FROM record WHERE ${condition}
        AND (at_ms, number) IN (SELECT at_ms, number FROM record WHERE ${condition} LIMIT ${STEP_ROWS})`,
      [value],
    )
    all += some
    if (some === 0) return all
  }
}
