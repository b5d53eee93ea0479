import { useCallback, useMemo, useState } from 'react'

/** Chosen rows of a list, by their key; those of other pages stay chosen. */
export interface Selection<Row> {
  readonly keyOf: (row: Row) => string
  readonly chosen: ReadonlyMap<string, Row>
  readonly toggle: (row: Row) => void
  /** Chooses all of these, or none where all are chosen. */
  readonly toggleAll: (rows: readonly Row[]) => void
  readonly replace: (rows: readonly Row[]) => void
}

/** The state of a selection. `rowKey` must be one function for the whole life of the list. */
export function useSelection<Row>(rowKey: (row: Row) => string): Selection<Row> {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Row>>(new Map())
  const toggle = useCallback(
    (row: Row) =>
      setChosen((before) => {
        const after = new Map(before)
        if (!after.delete(rowKey(row))) after.set(rowKey(row), row)
        return after
      }),
    [rowKey],
  )
  const toggleAll = useCallback(
    (rows: readonly Row[]) =>
      setChosen((before) => {
        const after = new Map(before)
        const areAll = rows.every((row) => before.has(rowKey(row)))
        for (const row of rows) {
          if (areAll) after.delete(rowKey(row))
          else after.set(rowKey(row), row)
        }
        return after
      }),
    [rowKey],
  )
  const replace = useCallback(
    (rows: readonly Row[]) => setChosen(new Map(rows.map((row) => [rowKey(row), row]))),
    [rowKey],
  )
  return useMemo(
    () => ({ keyOf: rowKey, chosen, toggle, toggleAll, replace }),
    [rowKey, chosen, toggle, toggleAll, replace],
  )
}
