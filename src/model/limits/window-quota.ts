import type { MonoMillis } from '../time/clock.ts'

// One slot is four doubles.
const SLOT_SHIFT = 2
const CHUNK_SLOTS_SHIFT = 10
const CHUNK_SLOTS = 1 << CHUNK_SLOTS_SHIFT
const USED = 0
const ENDS = 1
const CHANGED = 2
const GENERATION = 3

const INT_MAX = 0x7fffffff

/** Module state: numbers that are unique over all instances, so that a slot of one is never used in another. */
let generations = 0

/**
 * Quota windows, one a slot: a window starts with its first use, lasts `windowMs` (0 = for ever), and the next starts with the
 * first use after its end. Its end is kept on the monotonic clock, so that nothing that happens to the wall clock renews a
 * quota early or late while the process lives. `windowMs` comes with each call: a shorter one also ends a running window sooner.
 */
export class QuotaWindows {
  private readonly slots: Float64Array[] = []
  private readonly freeSlots: number[] = []
  private changed: number[] = []
  private latest: MonoMillis = Number.NEGATIVE_INFINITY
  private claimed = 0

  /** A slot with nothing used and no window running. */
  claim(): number {
    const slot = this.freeSlots.pop() ?? this.claimed++
    const chunk = slot >> CHUNK_SLOTS_SHIFT
    if (chunk === this.slots.length) this.slots.push(new Float64Array(CHUNK_SLOTS << SLOT_SHIFT))
    const s = this.chunk(slot)
    const b = base(slot)
    s[b + USED] = 0
    s[b + ENDS] = Number.NEGATIVE_INFINITY
    generations = (generations + 1) & INT_MAX
    s[b + GENERATION] = generations
    return slot
  }

  /** Gives the slot back. Its generation is never seen again. */
  release(slot: number): void {
    this.chunk(slot)[base(slot) + GENERATION] = -1
    this.freeSlots.push(slot)
  }

  /** Tells whether a remembered slot still belongs to the same count; -1 for a slot that is nobody's. */
  generation(slot: number): number {
    const s = this.slots[slot >> CHUNK_SLOTS_SHIFT]
    return s === undefined ? -1 : s[base(slot) + GENERATION]! | 0
  }

  /** Number of slots ever claimed at once: slots are 0 to this, exclusive. */
  get size(): number {
    return this.claimed
  }

  /** Permits left at `now`, 0 or less when the next use must be refused. */
  room(slot: number, max: number, windowMs: number, now: MonoMillis): number {
    const s = this.chunk(slot)
    const b = base(slot)
    if (now > this.latest) this.latest = now
    if (s[b + ENDS]! <= this.latest) return max
    const longest = windowMs > 0 ? this.latest + windowMs : Number.POSITIVE_INFINITY
    if (windowMs > 0 ? s[b + ENDS]! > longest : s[b + ENDS]! !== longest) {
      s[b + ENDS] = longest
      this.mark(slot)
    }
    return max - s[b + USED]!
  }

  /** Records a use at the time of the last `room`. */
  use(slot: number, windowMs: number): void {
    const s = this.chunk(slot)
    const b = base(slot)
    if (s[b + ENDS]! <= this.latest) {
      s[b + USED] = 0
      s[b + ENDS] = windowMs > 0 ? this.latest + windowMs : Number.POSITIVE_INFINITY
    }
    s[b + USED] = s[b + USED]! + 1
    if (s[b + CHANGED] === 0) this.mark(slot)
  }

  /** Permits used in the running window, 0 when none runs. */
  used(slot: number, now: MonoMillis): number {
    return this.idle(slot, now) ? 0 : this.chunk(slot)[base(slot) + USED]!
  }

  /** Milliseconds until the running window ends; Infinity when it never does, 0 when none runs. */
  endsInMs(slot: number, now: MonoMillis): number {
    return Math.max(0, this.chunk(slot)[base(slot) + ENDS]! - Math.max(now, this.latest))
  }

  /** Replaces the count; `endsInMs` may be Infinity: the window then ends `windowMs` after the next look at it. */
  set(slot: number, used: number, endsInMs: number, now: MonoMillis): void {
    if (now > this.latest) this.latest = now
    const s = this.chunk(slot)
    s[base(slot) + USED] = used
    s[base(slot) + ENDS] = this.latest + endsInMs
  }

  /** True when no window runs at `now`, so that the slot says nothing. */
  idle(slot: number, now: MonoMillis): boolean {
    return this.chunk(slot)[base(slot) + ENDS]! <= Math.max(now, this.latest)
  }

  /** Puts the slot on the list of changed ones. */
  mark(slot: number): void {
    const s = this.chunk(slot)
    if (s[base(slot) + CHANGED] !== 0) return
    s[base(slot) + CHANGED] = 1
    this.changed.push(slot)
  }

  /** Slots that changed since the last call, each once; released ones may be among them. */
  takeChanged(): number[] {
    const list = this.changed
    this.changed = []
    for (const slot of list) this.chunk(slot)[base(slot) + CHANGED] = 0
    return list
  }

  private chunk(slot: number): Float64Array {
    return this.slots[slot >> CHUNK_SLOTS_SHIFT]!
  }
}

function base(slot: number): number {
  return (slot & (CHUNK_SLOTS - 1)) << SLOT_SHIFT
}
