import type { JsonObject } from '../json/json.ts'

/** Most percentages that one key is watched at. */
const MOST_TRIGGERS = 20

/** The percentages of a quota that raise an event (`monitor.trigger_limits`), ascending; undefined = none. */
export function triggersOf(session: object | undefined): readonly number[] | undefined {
  const { monitor } = (session ?? {}) as JsonObject
  const limits = (monitor as JsonObject | null | undefined)?.trigger_limits
  if (!Array.isArray(limits)) return undefined
  const valid = limits.filter((limit) => typeof limit === 'number' && limit > 0 && limit <= 100) as number[]
  return valid.length === 0 ? undefined : [...new Set(valid)].sort((a, b) => a - b).slice(0, MOST_TRIGGERS)
}

/** Quotas of which it is remembered how far they were used. */
const MOST_REMEMBERED = 10_000

interface Seen {
  /** When its period ends, Unix milliseconds; 0 = never. */
  readonly endsAt: number
  readonly percent: number
}

/**
 * Reports which percentages of a quota were reached by a request: each once in a period, also when requests overtake each other.
 * For a quota that is new to this process (after a start) only the percentages reached by this request count: the rest was reported.
 */
export class QuotaTriggers {
  readonly #seen = new Map<string, Seen>()

  /** The highest of `percents` (ascending) that was reached since the last call for this quota in its period; undefined = none. */
  reached(
    percents: readonly number[],
    { id, max, remaining, resetMs }: Readonly<{ id: string; max: number; remaining: number; resetMs: number }>,
    now: number,
  ): number | undefined {
    const used = max - remaining
    const percent = (used * 100) / max
    const known = this.#seen.get(id)
    const fresh = known === undefined || used <= 1 || (known.endsAt !== 0 && known.endsAt <= now)
    const before = fresh ? ((used - 1) * 100) / max : known.percent
    if (percent <= before) return undefined
    const endsAt = resetMs > 0 ? now + resetMs : 0
    this.#seen.delete(id)
    this.#seen.set(id, { endsAt, percent })
    if (this.#seen.size > MOST_REMEMBERED) this.#seen.delete(this.#seen.keys().next().value!)
    return percents.findLast((limit) => limit <= percent && limit > before)
  }
}
