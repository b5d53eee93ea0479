import type { Fields } from '../../wire/http1/fields.ts'
import { varyKeyOf } from './selecting.ts'
import { type AnswerOwner, type RequestProfile, type StoredAnswer, sameProfile } from './stored-answer.ts'

/** Variants of the responses of one URI; the first is replaced when more are stored. */
const MOST_VARIANTS = 32
/** URIs whose answers were let go while others of them may be on their way. */
const MOST_INVALIDATED = 1000
/** URIs whose answers turned out not to be stored. */
const MOST_PASSED = 1000

/** Where answers are counted, so that all of them stay within one bound. */
export interface AnswerPool {
  enter(answer: StoredAnswer, owner: AnswerOwner): boolean
  leave(answer: StoredAnswer): void
}

/** One fetch of an answer that others wait for. */
export interface Flight {
  readonly ended: Promise<void>
  end(): void
}

/** The stored answers of one version of an API. */
export class ApiResponses implements AnswerOwner {
  readonly #pool: AnswerPool
  readonly #closed: () => void
  #open = true
  /** By URI, then by caller. */
  readonly #answers = new Map<string, Map<string, StoredAnswer[]>>()
  readonly #flights = new Map<string, Flight>()
  readonly #passed = new Set<string>()
  /** Grows with each invalidation: what was asked for before one is not stored after it. */
  #turn = 0
  #clearedAt = 0
  readonly #invalidated = new Map<string, number>()

  constructor(pool: AnswerPool, closed: () => void) {
    this.#pool = pool
    this.#closed = closed
  }

  /** Positions of fetches in the order of invalidations. */
  get turn(): number {
    return this.#turn
  }

  /** The answer to such a request, fresh or not; undefined when there is none. */
  find(uri: string, caller: string, way: RequestProfile, request: Fields): StoredAnswer | undefined {
    const list = this.#answers.get(uri)?.get(caller)
    if (list === undefined) return undefined
    // Of several the one that came last (section 4.1).
    for (let i = list.length - 1; i >= 0; i--) {
      const answer = list[i]!
      const { names, selected, way: its } = answer.selection
      if (sameProfile(its, way) && (names.length === 0 || varyKeyOf(request, names) === selected)) return answer
    }
    return undefined
  }

  /** Stores a response to the request made at `turn`, replacing the equivalent one. */
  put(answer: StoredAnswer, turn: number): void {
    const { uri, caller } = answer.selection
    if (!this.#open || turn < this.#clearedAt || turn < (this.#invalidated.get(uri) ?? 0)) return
    const known = this.#answers.get(uri)?.get(caller) ?? []
    for (const old of known.filter((each) => isReplaced(each, answer))) this.remove(old)
    if (known.length >= MOST_VARIANTS) this.remove(known[0]!)
    if (!this.#pool.enter(answer, this)) return
    // Only now: making room may have removed the list.
    this.#listOf(uri, caller).push(answer)
    this.#passed.delete(uri)
  }

  remove(answer: StoredAnswer): void {
    const { uri, caller } = answer.selection
    const byCaller = this.#answers.get(uri)
    const list = byCaller?.get(caller)
    const at = list?.indexOf(answer) ?? -1
    if (at !== -1) list!.splice(at, 1)
    if (list?.length === 0) byCaller!.delete(caller)
    if (byCaller?.size === 0) this.#answers.delete(uri)
    this.#pool.leave(answer)
  }

  /** Invalidates all stored answers of a URI, for all callers (RFC 9111 section 4.4). */
  invalidate(uri: string): void {
    this.#turn++
    this.#invalidated.delete(uri)
    this.#invalidated.set(uri, this.#turn)
    if (this.#invalidated.size > MOST_INVALIDATED) this.#forgetInvalidated()
    for (const list of [...(this.#answers.get(uri)?.values() ?? [])])
      for (const answer of [...list]) this.remove(answer)
  }

  /** The oldest counts for all URIs from now on: what is on its way since before is not stored. */
  #forgetInvalidated(): void {
    const [uri, turn] = this.#invalidated.entries().next().value!
    this.#invalidated.delete(uri)
    this.#clearedAt = Math.max(this.#clearedAt, turn)
  }

  /** Removes all responses. */
  clear(): void {
    this.#turn++
    this.#clearedAt = this.#turn
    this.#invalidated.clear()
    for (const byCaller of this.#answers.values())
      for (const list of byCaller.values()) for (const answer of list) this.#pool.leave(answer)
    this.#answers.clear()
    this.#passed.clear()
  }

  close(): void {
    this.clear()
    this.#open = false
    this.#closed()
  }

  // --- one fetch for many

  flightOf(uri: string, caller: string): Flight | undefined {
    return this.#flights.get(flightKey(uri, caller))
  }

  /** Begins a fetch that equal requests wait for; undefined where they need not, because their answers are not stored. */
  takeOff(uri: string, caller: string): Flight | undefined {
    if (this.#passed.has(uri)) return undefined
    const key = flightKey(uri, caller)
    const { promise, resolve } = Promise.withResolvers<void>()
    const flight: Flight = {
      ended: promise,
      end: () => {
        if (this.#flights.get(key) === flight) this.#flights.delete(key)
        resolve()
      },
    }
    this.#flights.set(key, flight)
    return flight
  }

  /** Notes that answers of a URI are not stored: until one is, nobody waits for the fetch of another. */
  pass(uri: string): void {
    if (this.#passed.size >= MOST_PASSED) for (const oldest of this.#passed) if (this.#passed.delete(oldest)) break
    this.#passed.add(uri)
  }

  #listOf(uri: string, caller: string): StoredAnswer[] {
    let byCaller = this.#answers.get(uri)
    if (byCaller === undefined) {
      byCaller = new Map()
      this.#answers.set(uri, byCaller)
    }
    let list = byCaller.get(caller)
    if (list === undefined) {
      list = []
      byCaller.set(caller, list)
    }
    return list
  }
}

function flightKey(uri: string, caller: string): string {
  return caller === '' ? uri : `${uri}\n${caller}`
}

/** True when a request that matches one also matches the other. */
function isReplaced(old: StoredAnswer, answer: StoredAnswer): boolean {
  const [a, b] = [old.selection, answer.selection]
  return sameProfile(a.way, b.way) && a.selected === b.selected && a.names.join() === b.names.join()
}
