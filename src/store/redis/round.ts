import type { Millis, MonoMillis } from '../../model/clock.ts'
import type { Limit } from '../../model/limit.ts'
import type { Count } from './count.ts'

/** How much longer Redis counts a use of a rate than the limit says: a permit may be used so long after it was given. */
export const SLACK_MS = 50

/** When a round was sent and answered, by the node's clock. */
export interface Answered {
  readonly sentMs: MonoMillis
  readonly now: MonoMillis
  /** When Redis gave it, by its own clock. */
  readonly givenAt: Millis
  /** True = what it gives must not be used any more. */
  readonly late: boolean
}

/** What is asked of Redis in one call with others. */
export interface Ask {
  readonly limits: readonly Limit[]
  /** Of each limit. */
  readonly counts: readonly Count[]
  /** 0 = only to look. */
  readonly calls: number
  /** `passed` of the calls; `refuses`: place of the limit that refuses the next one, or -1. The counts know what Redis said. */
  settle(passed: number, refuses: number, when: Answered): void
  fail(error: unknown): void
}

/** What a count has to tell Redis. */
type Said = Pick<Count, 'back' | 'unused' | 'toldTo' | 'aloneUses'> & { readonly generation: number }

/** One call of the script that takes permits: what it is told, and what its answer means. */
export class Round {
  readonly asks: readonly Ask[]
  readonly keys: string[]
  readonly args: string[]
  private readonly counts: readonly Count[]
  /** What the round says of each count, to be said again where it is not heard. */
  private readonly said: readonly Said[]
  private readonly mark: string
  /** Rates of which the round says how often this node used them. */
  private readonly told: ReadonlyMap<Count, unknown>

  /** `mark`: of the memory of Redis as the caller knows it. `own`: how often this node used a rate in the last window. */
  constructor(
    asks: readonly Ask[],
    returning: Iterable<Count>,
    { prefix, mark, newMark, nowMs }: { prefix: string; mark: string; newMark: string; nowMs: number | undefined },
    own: (count: Count, windowMs: number, max: number) => number,
  ) {
    this.asks = asks
    this.mark = mark
    const places = new Map<Count, number>()
    const windows = new Map<Count, { windowMs: number; max: number }>()
    const limits: string[] = []
    const wanted: string[] = []
    let limitCount = 0
    for (const ask of asks) {
      wanted.push(String(ask.calls), String(ask.limits.length))
      for (const [i, limit] of ask.limits.entries()) {
        const count = ask.counts[i]!
        if (!places.has(count)) places.set(count, places.size)
        const { windowMs, max } = windows.get(count) ?? { windowMs: 0, max: 0 }
        windows.set(count, { windowMs: Math.max(windowMs, limit.windowMs), max: Math.max(max, limit.max) })
        limits.push(String(places.get(count)), String(limit.max), String(limit.windowMs))
        wanted.push(String(limitCount++))
      }
    }
    for (const count of returning) if (!places.has(count)) places.set(count, places.size)
    this.counts = [...places.keys()]
    this.told = windows
    this.said = this.counts.map(({ back, unused, toldTo, aloneUses, known }) => {
      return { back, unused, toldTo, aloneUses, generation: known.generation }
    })
    this.keys = [`${prefix}mark`, ...this.counts.map(({ key }) => key)]
    this.args = [nowMs === undefined ? '' : String(nowMs), mark, newMark, String(this.counts.length)]
    for (const count of this.counts) {
      if (count.kind === 'quota') this.args.push('q', ...quotaWords(count))
      else {
        const { windowMs, max } = windows.get(count) ?? { windowMs: count.windowMs, max: 0 }
        const uses = max === 0 ? 0 : own(count, windowMs, max)
        const untold = count.toldTo === mark ? Math.min(uses, count.aloneUses) : uses
        const unused = [...count.unused].flat()
        this.args.push('r', ...[windowMs + SLACK_MS, untold, count.unused.size, ...unused].map(String))
      }
    }
    this.args.push(String(limitCount), ...limits, String(asks.length), ...wanted)
  }

  /** To be called when the round is sent: what it says need not be said again. */
  sent(): void {
    for (const [i, count] of this.counts.entries()) {
      count.back -= this.said[i]!.back
      count.unused = new Map()
      if (!this.told.has(count)) continue
      count.toldTo = this.mark
      count.aloneUses -= this.said[i]!.aloneUses
    }
  }

  /** To be called when it is not known to have been heard, or was not. */
  unheard(): void {
    for (const [i, count] of this.counts.entries()) {
      const { back, unused, toldTo, aloneUses, generation } = this.said[i]!
      if (this.told.has(count)) {
        count.toldTo = toldTo
        count.aloneUses += aloneUses
      }
      for (const [givenAt, permits] of unused) count.giveBack(permits, givenAt)
      // Of another window of a quota it would be too much.
      if (generation === count.known.generation) count.back += back
    }
  }

  /** Tells the counts what Redis said. Answers how many calls of each ask pass, and which limit refuses the next. */
  read(reply: readonly number[], sentMs: MonoMillis): { passed: number; refuses: number }[] {
    let at = 1
    for (const count of this.counts) {
      count.used = reply[at++]!
      count.freeInMs = reply[at++]!
      count.freeAtMs = count.freeInMs === 0 ? 0 : sentMs + count.freeInMs
      if (count.kind === 'rate') continue
      count.learn({ generation: reply[at++]!, version: reply[at++]!, ends: reply[at++]!, used: count.used })
    }
    return this.asks.map(() => ({ passed: reply[at++]!, refuses: reply[at++]! }))
  }
}

function quotaWords({ known, back }: Count): string[] {
  return [known.generation, known.version, known.used, known.ends, back, known.generation].map(String)
}
