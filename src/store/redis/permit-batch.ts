import type { Limit } from '../../model/limits/limit.ts'
import type { Millis, MonoMillis } from '../../model/time/clock.ts'
import type { Count } from './count.ts'

/** How much longer Redis counts a use of a rate than the limit says: a permit may be used so long after it was given. */
export const SLACK_MS = 50

/** When a round was sent and answered, by the node's clock. */
export interface BatchTiming {
  readonly sentMs: MonoMillis
  readonly now: MonoMillis
  /** When Redis gave it, by its own clock. */
  readonly givenAt: Millis
  /** True = what it gives must not be used any more. */
  readonly late: boolean
}

/** The arguments of one request within a batched call to Redis. */
export interface PermitRequest {
  readonly limits: readonly Limit[]
  /** Of each limit. */
  readonly counts: readonly Count[]
  /** 0 = only to look. */
  readonly calls: number
  /** How much longer Redis is to count what it gives, as it may be used so much later. */
  readonly aheadMs: Millis
  /** `passed` of the calls; `refuses`: place of the limit that refuses the next one, or -1. The counts know what Redis said. */
  settle(passed: number, refuses: number, when: BatchTiming): void
  fail(error: unknown): void
}

const NONE: Place['unused'] = new Map()

/** The message of a round about a count, to be repeated where it is not received. */
interface Place extends Pick<Count, 'back' | 'unused' | 'toldTo' | 'aloneUses'> {
  readonly count: Count
  readonly index: number
  readonly generation: number
  /** The largest of the limits of the round; -1 = the count is only given something back. */
  max: number
  windowMs: Millis
}

/** One call of the script that takes permits: its arguments, and the meaning of its response. */
export class PermitBatch {
  readonly asks: readonly PermitRequest[]
  readonly keys: string[]
  readonly args: string[]
  private readonly places = new Map<Count, Place>()
  private readonly mark: string

  /** `mark`: of the memory of Redis as the caller knows it. `own`: how often this node used a rate in the last window. */
  constructor(
    asks: readonly PermitRequest[],
    returning: Iterable<Count>,
    { prefix, mark, newMark, nowMs }: { prefix: string; mark: string; newMark: string; nowMs: number | undefined },
    own: (count: Count, windowMs: number, max: number) => number,
  ) {
    this.asks = asks
    this.mark = mark
    let limits = ''
    let wanted = ''
    let limitCount = 0
    for (const ask of asks) {
      wanted += ` ${ask.calls} ${ask.aheadMs} ${ask.limits.length}`
      for (let i = 0; i < ask.limits.length; i++) {
        const { max, windowMs } = ask.limits[i]!
        const place = this.place(ask.counts[i]!)
        if (max > place.max) place.max = max
        if (windowMs > place.windowMs) place.windowMs = windowMs
        limits += ` ${place.index} ${max} ${windowMs}`
        wanted += ` ${limitCount++}`
      }
    }
    for (const count of returning) this.place(count)
    this.keys = [`${prefix}mark`]
    let words = `${this.places.size}`
    for (const place of this.places.values()) {
      this.keys.push(place.count.key)
      words += place.count.kind === 'quota' ? quotaWords(place) : rateWords(place, mark, own)
    }
    words += ` ${limitCount}${limits} ${asks.length}${wanted}`
    this.args = [nowMs === undefined ? '' : String(nowMs), mark, newMark, asks.length > 0 ? '1' : '0', words]
  }

  /** To be called when the round is sent: what it says need not be said again. */
  sent(): void {
    for (const { count, back, aloneUses, max } of this.places.values()) {
      count.back -= back
      if (count.unused.size > 0) count.unused = new Map()
      if (max < 0) continue
      count.toldTo = this.mark
      count.aloneUses -= aloneUses
    }
  }

  /** To be called when it is not known to have been heard, or was not. */
  unheard(): void {
    for (const { count, back, unused, toldTo, aloneUses, generation, max } of this.places.values()) {
      if (max >= 0) {
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
    for (const count of this.places.keys()) {
      count.hear(reply[at++]!, sentMs)
      count.freeInMs = reply[at++]!
      count.freeAtMs = count.freeInMs === 0 ? 0 : sentMs + count.freeInMs
      if (count.kind === 'rate') continue
      count.learn({ generation: reply[at++]!, version: reply[at++]!, ends: reply[at++]!, used: count.used })
    }
    return this.asks.map(() => ({ passed: reply[at++]!, refuses: reply[at++]! }))
  }

  private place(count: Count): Place {
    const known = this.places.get(count)
    if (known !== undefined) return known
    const { back, toldTo, aloneUses } = count
    // Uses that are noted from now on are for the next round.
    const unused = count.unused.size === 0 ? NONE : count.unused
    const { generation } = count.known
    const place = { count, index: this.places.size, back, unused, toldTo, aloneUses, generation, max: -1, windowMs: 0 }
    this.places.set(count, place)
    return place
  }
}

function quotaWords({ count: { known }, back }: Place): string {
  return ` q ${known.generation} ${known.version} ${known.used} ${known.ends} ${back} ${known.generation}`
}

function rateWords(
  { count, max, windowMs, unused, toldTo, aloneUses }: Place,
  mark: string,
  own: (count: Count, windowMs: number, max: number) => number,
): string {
  const uses = max < 0 ? 0 : own(count, windowMs, max)
  const untold = toldTo === mark ? Math.min(uses, aloneUses) : uses
  let words = ` r ${(max < 0 ? count.windowMs : windowMs) + SLACK_MS} ${untold} ${unused.size}`
  for (const [givenAt, permits] of unused) words += ` ${givenAt} ${permits}`
  return words
}
