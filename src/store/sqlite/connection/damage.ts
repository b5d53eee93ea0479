import type { DatabaseSync } from 'node:sqlite'
import { type Fault, fault, toFault } from '../../../errors/fault.ts'
import type { Log } from '../../../model/logs/log.ts'
import { FROZEN_STORE, outboxHealth, type PartHealth } from '../../../model/nodes/health.ts'
import type { Clock } from '../../../model/time/clock.ts'
import { oldestWaiting } from '../tokens/outbox.ts'
import type { Parts } from '../writer/parts.ts'
import { freezeReader } from './freeze.ts'

/** Anybody may ask for health: the database is read this rarely. */
const KEPT_MS = 1_000

/** The advice that goes with damage wherever it is reported. */
const DAMAGE_ADVICE =
  'stop the server, keep a copy of the data folder, see what "bin/gatehouse doctor --full" finds, and restore the last backup'

/** Look-ups whose answer "there is none" means nothing in a store with damaged indexes. */
const LOOK_UPS: ReadonlySet<string> = new Set(['get', 'find', 'getSession', 'getTicket', 'familyTickets'])

/**
 * Whether the store of this process is damaged. Once it is, it stays so until a restart: writes are refused with `store_damaged`, and
 * so are look-ups that find nothing.
 */
export class StoreDamage {
  /** One number shared by all threads of the process: 1 = damaged. */
  readonly cell: Int32Array<SharedArrayBuffer>
  readonly #log: Log
  #detail = 'damage was found earlier'

  constructor(log: Log, cell = new Int32Array(new SharedArrayBuffer(4))) {
    this.#log = log
    this.cell = cell
  }

  get found(): boolean {
    return Atomics.load(this.cell, 0) === 1
  }

  /** Sets the state; the first report of all threads is logged. */
  report(detail: string): void {
    this.#detail = detail
    if (Atomics.exchange(this.cell, 0, 1) === 1) return
    this.#log.error({ cause: detail }, `the store is damaged and takes no more writes: ${DAMAGE_ADVICE}`)
  }

  fault(): Fault {
    return fault('store_damaged', `${this.#detail}; ${DAMAGE_ADVICE}`)
  }

  /** Runs a write unless the store is damaged, and notes what it comes to. @throws Fault `store_damaged` */
  async guard<Done>(write: () => Promise<Done>): Promise<Done> {
    if (this.found) throw this.fault()
    return write().catch((error) => this.#fail(error))
  }

  /** The same ports; a read that meets damage sets the state. */
  watch(parts: Parts): Parts {
    const { documents, audit, tokens, outbox, hits, records } = parts
    return {
      ...{ documents: this.#watched(documents), audit: this.#watched(audit), tokens: this.#watched(tokens) },
      ...{ outbox: this.#watched(outbox), hits: this.#watched(hits), records: this.#watched(records) },
    }
  }

  #watched<Port extends object>(port: Port): Port {
    const methods = Object.entries(port).map(([name, method]) => [name, this.#method(method, LOOK_UPS.has(name))])
    return Object.fromEntries(methods) as Port
  }

  #method(method: (...given: unknown[]) => unknown, isLookUp: boolean) {
    return (...given: unknown[]): unknown => {
      let answer: unknown
      try {
        answer = method(...given)
      } catch (error) {
        return this.#fail(error)
      }
      if (answer instanceof Promise) return answer.catch((error) => this.#fail(error))
      if (isAsyncIterable(answer)) return this.#batches(answer)
      if (isLookUp && isNothing(answer) && this.found) throw this.fault()
      return answer
    }
  }

  async *#batches(batches: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    try {
      yield* batches
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): never {
    const { code, message } = toFault(error)
    if (code === 'store_damaged') this.report(message)
    throw error
  }
}

function isNothing(answer: unknown): boolean {
  return answer === undefined || (Array.isArray(answer) && answer.length === 0)
}

function isAsyncIterable(answer: unknown): answer is AsyncIterable<unknown> {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer
}

/** The state of the parts of an embedded store, from a connection of this thread. Throws nothing: reads that fail are reported elsewhere. */
export function storeHealth(db: DatabaseSync, clock: Clock): () => readonly PartHealth[] {
  const oldest = oldestWaiting(db)
  const freezeLevel = freezeReader(db)
  let kept: readonly PartHealth[] = []
  let readAt = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - readAt < KEPT_MS) return kept
    readAt = performance.now()
    try {
      const at = db.isOpen ? oldest() : undefined
      const outbox = outboxHealth(at === undefined ? 0 : clock.wall() - at)
      kept = db.isOpen && freezeLevel() !== 'none' ? [FROZEN_STORE, outbox] : [outbox]
    } catch {
      kept = []
    }
    return kept
  }
}
