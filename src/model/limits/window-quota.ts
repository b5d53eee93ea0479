import type { MonoMillis } from '../time/clock.ts'
import { OwnSlots, type SlotMemory } from './slot-memory.ts'

// One slot is four doubles.
const SLOT_SHIFT = 2
/** A chunk of slots, in slots and in doubles. */
export const QUOTA_CHUNK_SHIFT = 13
const CHUNK_SLOTS = 1 << QUOTA_CHUNK_SHIFT
export const QUOTA_CHUNK_DOUBLES = CHUNK_SLOTS << SLOT_SHIFT
const USED = 0
const ENDS = 1
const CHANGED = 2
const GENERATION = 3

/** Slots that changed since they were last taken. */
export interface ChangedSlots {
  add(slot: number): void
  /** Each once; nothing is left. */
  take(): number[]
}

class OwnChangedSlots implements ChangedSlots {
  #slots: number[] = []

  add(slot: number): void {
    this.#slots.push(slot)
  }

  take(): number[] {
    const slots = this.#slots
    this.#slots = []
    return slots
  }
}

/**
 * Quota windows, one a slot: a window starts with its first use, lasts `windowMs` (0 = for ever), and the next starts with the
 * first use after its end. Its end is kept on the monotonic clock, so that nothing that happens to the wall clock renews a
 * quota early or late while the process lives. `windowMs` comes with each call: a shorter one also ends a running window sooner.
 */
export class QuotaWindows {
  private readonly slots: Float64Array[] = []
  private readonly memory: SlotMemory
  private readonly changed: ChangedSlots
  private latest: MonoMillis = Number.NEGATIVE_INFINITY

  /** In the memory of this thread, unless others share what is given. */
  constructor(memory: SlotMemory = new OwnSlots(QUOTA_CHUNK_DOUBLES), changed: ChangedSlots = new OwnChangedSlots()) {
    this.memory = memory
    this.changed = changed
  }

  /** A slot with nothing used and no window running. */
  claim(): number {
    const slot = this.memory.take()
    const s = this.chunk(slot)
    const b = base(slot)
    s[b + USED] = 0
    s[b + ENDS] = Number.NEGATIVE_INFINITY
    s[b + GENERATION] = this.memory.nextGeneration()
    return slot
  }

  /** Gives the slot back. Its generation is never seen again. */
  release(slot: number): void {
    this.chunk(slot)[base(slot) + GENERATION] = -1
    this.memory.give(slot)
  }

  /** Tells whether a remembered slot still belongs to the same count; -1 for a slot that is nobody's. */
  generation(slot: number): number {
    const s = this.slots[slot >> QUOTA_CHUNK_SHIFT]
    if (s !== undefined) return s[base(slot) + GENERATION]! | 0
    return slot >= this.memory.size ? -1 : this.chunk(slot)[base(slot) + GENERATION]! | 0
  }

  /** Number of slots ever claimed at once: slots are 0 to this, exclusive. */
  get size(): number {
    return this.memory.size
  }

  /** The time of the newest look. */
  get time(): MonoMillis {
    return this.latest
  }

  /** No later look is at an earlier time than this. */
  advance(to: MonoMillis): void {
    if (to > this.latest) this.latest = to
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
    this.changed.add(slot)
  }

  /** Slots that changed since the last call, each once; released ones may be among them. Each is to be unmarked or marked again. */
  takeChanged(): number[] {
    return this.changed.take()
  }

  /** Puts a slot that was taken from the list there again. */
  markAgain(slot: number): void {
    this.changed.add(slot)
  }

  /** A later change puts the slot on the list again. */
  unmark(slot: number): void {
    this.chunk(slot)[base(slot) + CHANGED] = 0
  }

  private chunk(slot: number): Float64Array {
    const index = slot >> QUOTA_CHUNK_SHIFT
    return this.slots[index] ?? this.view(index)
  }

  private view(index: number): Float64Array {
    const chunk = this.memory.chunk(index)
    this.slots[index] = chunk
    return chunk
  }
}

function base(slot: number): number {
  return (slot & (CHUNK_SLOTS - 1)) << SLOT_SHIFT
}
