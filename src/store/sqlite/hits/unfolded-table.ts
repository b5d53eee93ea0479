import type { DatabaseSync } from 'node:sqlite'
import { ROW_NUMBERS } from '../../hits/hit-pack.ts'
import { insertHitSql } from './hit-columns.ts'
import { unfolded } from './hit-journal.ts'

/** Makes the table `temp.hit_unfolded` with what is acknowledged and not in `hit`. Inside a transaction, with which it goes. */
export function unfoldedTable(db: DatabaseSync): void {
  db.exec('CREATE TEMP TABLE hit_unfolded AS SELECT * FROM hit WHERE 0')
  const insert = db.prepare(insertHitSql('temp.hit_unfolded'))
  const values: number[] = new Array(ROW_NUMBERS + 1)
  for (const sums of unfolded(db)) {
    for (let row = 0; row < sums.size; row++) {
      sums.write(row, values, 1)
      values[0] = values[1]!
      values[1] = sums.dimension(row)
      insert.run(...values)
    }
  }
}
