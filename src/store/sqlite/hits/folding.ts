import { type Fault, fault } from '../../../errors/fault.ts'
import { storeFault } from '../connection/faults.ts'

/** Entries that were made durable as they came, and are worked into their table later, many at a time. */
export interface Journal {
  /** Row of the newest entry, 0 when there is none. */
  last(): number
  /**
   * Works entries in, all or the oldest, in pieces of a few milliseconds with a `yield` between them, each durable by itself.
   * Returns the row up to which it got. What ends half-way is taken up by the next call, also of another process.
   */
  fold(): Generator<void, number>
}

/** A caller who waits until all present entries are rolled up; without a number it is the timer. */
interface Asker {
  readonly number: number | undefined
  /** undefined until it was looked for. */
  last: number | undefined
}

export interface FoldResult {
  readonly number: number
  /** undefined when all went well. */
  readonly fault: Fault | undefined
}

/** Folds one journal piece by piece, between the other work of its thread. */
export class Folding {
  private readonly journal: Journal
  private running: Generator<void, number> | undefined
  private askers: Asker[] = []

  constructor(journal: Journal) {
    this.journal = journal
  }

  /** True while `step` has something to do. */
  get busy(): boolean {
    return this.askers.length > 0
  }

  /** True while a response is pending. */
  get asked(): boolean {
    return this.askers.some(({ number }) => number !== undefined)
  }

  /** Rolls up all present entries. With a `number`, which a response of `step` contains when it is done. */
  ask(number?: number): void {
    if (number !== undefined || this.askers.length === 0) this.askers.push({ number, last: undefined })
  }

  /** Answers those for whom all is worked in, or who cannot be helped now. */
  step(): readonly FoldResult[] {
    try {
      for (const asker of this.askers) asker.last ??= this.journal.last()
      if (this.running === undefined && this.journal.last() === 0) return this.end(Number.POSITIVE_INFINITY)
      this.running ??= this.journal.fold()
      const { done, value } = this.running.next()
      return done ? this.end(value) : []
    } catch (error) {
      return this.fail(storeFault(error))
    }
  }

  private end(upTo: number): readonly FoldResult[] {
    this.running = undefined
    const served = this.askers.filter(({ last = upTo }) => last <= upTo)
    this.askers = this.askers.filter(({ last = upTo }) => last > upTo)
    return answersTo(served, undefined)
  }

  private fail(cause: Fault): readonly FoldResult[] {
    this.running = undefined
    const lost = this.askers
    this.askers = []
    return answersTo(lost, cause)
  }
}

function answersTo(askers: readonly Asker[], fault: Fault | undefined): FoldResult[] {
  return askers.flatMap(({ number }) => (number === undefined ? [] : [{ number, fault }]))
}

/** The bytes of a BLOB as numbers. @throws Fault `store_damaged` when they are no whole number of them */
export function blobNumbers<Numbers>(
  blob: unknown,
  bytes: number,
  make: (buffer: ArrayBuffer, offset: number, length: number) => Numbers,
): Numbers {
  if (!(blob instanceof Uint8Array) || blob.length % bytes !== 0) throw fault('store_damaged', 'an entry of a journal')
  // A view must begin at a multiple of its element size.
  const aligned = blob.byteOffset % bytes === 0 ? blob : new Uint8Array(blob)
  return make(aligned.buffer as ArrayBuffer, aligned.byteOffset, aligned.length / bytes)
}
