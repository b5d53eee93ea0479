import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Json } from '../model/json/json.ts'
import { isLargeJson } from '../model/json/json-pieces.ts'
import type { PausedWork } from '../model/threads/paused-work.ts'

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

  /**
   * Waits for the next turn where the work so far took long and was about one of these large values. For small ones nothing waits, however
   * busy the machine is: what they are read for is done at once, and writes keep their order.
   */
  nextAfter(...values: readonly (Json | undefined)[]): void | Promise<void> {
    return this.isOver && values.some(isLargeJson) ? this.next() : undefined
  }
}

/** Does work about a large value at once, and lets others go first before its result is used, where it took long. */
export function ownTurn<T>(value: Json, work: () => T): T | Promise<T> {
  const slice = new WorkSlice()
  const made = work()
  const turn = slice.nextAfter(value)
  return turn === undefined ? made : turn.then(() => made)
}

/** Does work that pauses between its parts, in turns where it takes long; at once where it does not. */
export function inTurns<T>(work: PausedWork<T>): T | Promise<T> {
  const slice = new WorkSlice()
  const go = () => {
    let step = work.next()
    while (!step.done && !slice.isOver) step = work.next()
    return step
  }
  const later = async () => {
    for (;;) {
      await slice.next()
      const step = go()
      if (step.done) return step.value
    }
  }
  const first = go()
  return first.done ? first.value : later()
}

/** Makes something of each row, in turns where that takes long; at once where it does not. */
export function mapInTurns<Row, Made>(
  rows: readonly Row[],
  make: (row: Row, index: number) => Made,
): Made[] | Promise<Made[]> {
  return inTurns(mapping(rows, make))
}

function* mapping<Row, Made>(rows: readonly Row[], make: (row: Row, index: number) => Made): PausedWork<Made[]> {
  const made: Made[] = []
  for (const row of rows) {
    if (made.length > 0) yield
    made.push(make(row, made.length))
  }
  return made
}
