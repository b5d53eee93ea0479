/** How many rows are worked on at once. */
const AT_ONCE = 4

/** A row that failed, and why. */
export interface BulkFailure<Row> {
  readonly row: Row
  readonly error: unknown
}

/** The outcome of an action on several rows, in their order. */
export interface BulkOutcome<Row, Answer> {
  readonly answers: readonly Answer[]
  readonly failures: readonly BulkFailure<Row>[]
  /** Rows that were not begun, as the reader stopped it. */
  readonly left: readonly Row[]
}

/** Does something to every row, whatever becomes of the others: one that fails undoes nothing and stops nothing. */
export async function runOnEach<Row, Answer>(
  rows: readonly Row[],
  act: (row: Row) => Promise<Answer>,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (done: number) => void },
): Promise<BulkOutcome<Row, Answer>> {
  const answers = new Map<number, Answer>()
  const failures = new Map<number, BulkFailure<Row>>()
  let next = 0
  const work = async () => {
    while (next < rows.length && !signal.aborted) {
      const at = next++
      const row = rows[at]!
      try {
        answers.set(at, await act(row))
      } catch (error) {
        failures.set(at, { row, error })
      }
      onProgress(answers.size + failures.size)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const inOrder = <Value>(found: ReadonlyMap<number, Value>) =>
    [...found].sort(([a], [b]) => a - b).map(([, value]) => value)
  return { answers: inOrder(answers), failures: inOrder(failures), left: rows.slice(next) }
}
