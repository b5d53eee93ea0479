import { DIMENSIONS, type DimensionRow, dimensionRow } from '../../model/analytics/dimensions.ts'

type StoreName = keyof NonNullable<DimensionRow['since']>

const ROWS: readonly DimensionRow[] = DIMENSIONS.map(dimensionRow)

/** How many dimensions every version of the data has. They come first. */
export const FIRST_DIMENSIONS: number = ROWS.filter(({ since }) => since === undefined).length

/** Columns of `hit_dimension` as of a version of a store's schema. */
export function columnsUntil(store: StoreName, version: number, rows: readonly DimensionRow[] = ROWS): string[] {
  return rows.filter(({ since }) => since === undefined || since[store] <= version).map(({ column }) => column)
}

/**
 * The steps of a store's schema, with those that bring the columns of later dimensions at the versions that their rows name.
 * `stepOf` makes one from all columns, of which the last is new. Throws when a version is skipped or named twice.
 */
export function withDimensionSteps<Step>(
  store: StoreName,
  steps: readonly Step[],
  stepOf: (columns: readonly string[]) => Step,
  rows: readonly DimensionRow[] = ROWS,
): Step[] {
  const all = [...steps]
  let before = 0
  for (const { column, since } of rows) {
    if (since === undefined) continue
    const version = since[store]
    if (version <= before || version > all.length + 1) throw new Error(`the column ${column} has no separate version`)
    all.splice(version - 1, 0, stepOf(columnsUntil(store, version, rows)))
    before = version
  }
  return all
}
