import { setImmediate as nextTurn } from 'node:timers/promises'

/** Work of one piece: short beside what a person or a request notices, long beside what a turn costs. */
const SLICE_MS = 8

/** Module state: the event loop belongs to the thread, not to a caller. */
let last: Promise<unknown> = Promise.resolve()

/** Waits for a turn of the event loop in which no other long work is done: cheap calls wait for one piece of one work at most. */
export async function soleTurn(): Promise<void> {
  last = last.then(() => nextTurn())
  await last
}

/** The time that long work may take before it lets others go first: look at `isOver` after each small part, and wait for `next` then. */
export class WorkSlice {
  #since = performance.now()

  get isOver(): boolean {
    return performance.now() - this.#since > SLICE_MS
  }

  /** Waits for a turn, in which the next slice begins. */
  async next(): Promise<void> {
    await soleTurn()
    this.#since = performance.now()
  }
}

/** Makes something of each row, in turns where that takes long; at once where it does not. */
export function mapInTurns<Row, Made>(
  rows: readonly Row[],
  make: (row: Row, index: number) => Made,
): Made[] | Promise<Made[]> {
  const slice = new WorkSlice()
  const made: Made[] = []
  const go = () => {
    while (made.length < rows.length && !slice.isOver) made.push(make(rows[made.length]!, made.length))
    return made.length === rows.length
  }
  const later = async () => {
    do await slice.next()
    while (!go())
    return made
  }
  return go() ? made : later()
}
