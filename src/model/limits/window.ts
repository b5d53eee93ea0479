import type { MonoMillis } from '../time/clock.ts'
import type { RateAlgorithm, RateTable } from './rate-algorithm.ts'
import {
  OwnRings,
  OwnSlots,
  RING_CHUNK_MASK,
  RING_CHUNK_SHIFT,
  type RingMemory,
  type SlotMemory,
} from './slot-memory.ts'

/** A ring holds at most this many blocks: limits up to it are exact to the millisecond. */
export const MAX_BLOCKS = 1024

// One slot is one cache line: eight 32-bit numbers, then a ring of four times. So a quiet key costs one miss and 64 bytes;
// a busier one has a larger ring from the pool.
const SLOT_INTS_SHIFT = 4
const SLOT_DOUBLES_SHIFT = 3
const INLINE_START = 4
const INLINE_CAPACITY = 4
/** A chunk of slots, in slots and in doubles. */
const WINDOW_CHUNK_SHIFT = 13
const CHUNK_SLOTS = 1 << WINDOW_CHUNK_SHIFT
const WINDOW_CHUNK_DOUBLES = CHUNK_SLOTS << SLOT_DOUBLES_SHIFT
const RING = 0 // where its ring begins in the pool, -1 while it is the one within the slot
const CAPACITY = 1 // blocks that the ring can hold, a power of two
const HEAD = 2 // oldest block
const BLOCKS = 3 // blocks in use
const FILL = 4 // permits in the newest block; all others are full
const SIZE = 5 // permits of a full block
const WINDOW_S = 6 // length of the window in seconds, rounded up, for the sweep
const GENERATION = 7

const INT_MAX = 0x7fffffff
/** Larger limits count as this many permits, so that a block size fits its 32 bits. */
const MAX_PERMITS = INT_MAX * MAX_BLOCKS

/** Permits of one block for a limit of `max`: 1 up to 1024, else a 1024th, rounded up. */
function blockSizeFor(max: number): number {
  return max <= MAX_BLOCKS ? 1 : Math.ceil(max / MAX_BLOCKS)
}

/**
 * The limiter: sliding windows, one a slot. A slot keeps the time of last use of each block of permits in a ring; a block is
 * one permit until more than 1024 are in use at once. No window of `windowMs`, at any offset, ever holds more than `max`
 * uses; up to 1024 it admits whenever that is so, above it may refuse up to one block early.
 *
 * Times are whole milliseconds of a monotonic clock, so a use counts until strictly more than `windowMs` have passed; a clock
 * that goes back counts as stopped. `max` and `windowMs` come with every call and may change: earlier uses still count.
 * `max` is a whole number of at least 1.
 */
export class Windows implements RateTable {
  private readonly slots: Int32Array[] = []
  /** The same memory as `slots`, for the rings within. */
  private readonly inline: Float64Array[] = []
  private readonly memory: SlotMemory
  private readonly pool: RingMemory
  private latest: MonoMillis = Number.NEGATIVE_INFINITY

  /** In the memory of this thread, unless others share what is given. */
  constructor(memory: SlotMemory = new OwnSlots(WINDOW_CHUNK_DOUBLES), pool: RingMemory = new OwnRings()) {
    this.memory = memory
    this.pool = pool
  }

  /** A slot with nothing used. */
  claim(): number {
    const slot = this.memory.take()
    const s = this.chunk(slot)
    const b = base(slot)
    s.fill(0, b, b + GENERATION)
    s[b + RING] = -1
    s[b + CAPACITY] = INLINE_CAPACITY
    s[b + SIZE] = 1
    s[b + GENERATION] = this.memory.nextGeneration()
    return slot
  }

  /** Gives slot and ring back. Its generation is never seen again. */
  release(slot: number): void {
    const s = this.chunk(slot)
    const b = base(slot)
    this.dropRing(s, b)
    s[b + GENERATION] = -1
    this.memory.give(slot)
  }

  /** Tells whether a remembered slot still belongs to the same count; -1 for a slot that is nobody's. */
  generation(slot: number): number {
    const s = this.slots[slot >> WINDOW_CHUNK_SHIFT]
    if (s !== undefined) return s[base(slot) + GENERATION]!
    return slot >= this.memory.size ? -1 : this.chunk(slot)[base(slot) + GENERATION]!
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

  /** Permits left at `now`, 0 or less when the next use must be refused. Takes nothing. */
  room(slot: number, max: number, windowMs: number, now: MonoMillis): number {
    const s = this.chunk(slot)
    const b = base(slot)
    if (now > this.latest) this.latest = now
    if (s[b + BLOCKS]! > 0) this.expire(slot, s, b, this.latest - windowMs)
    const blocks = s[b + BLOCKS]!
    const permits = max > MAX_PERMITS ? MAX_PERMITS : max
    if (blocks === 0) return permits
    const size = s[b + SIZE]!
    if (size > 1) this.refine(slot, s, b, permits)
    return permits - used(s, b)
  }

  /** Records a use at the time of the last `room`, which must have answered more than 0 for the same slot and numbers. */
  use(slot: number, max: number, windowMs: number): void {
    const s = this.chunk(slot)
    const b = base(slot)
    s[b + WINDOW_S] = Math.min(INT_MAX, Math.ceil(windowMs / 1000))
    const blocks = s[b + BLOCKS]!
    if (blocks > 0 && s[b + FILL]! < s[b + SIZE]!) {
      s[b + FILL] = s[b + FILL]! + 1
      this.stamp(slot, s, b, blocks - 1)
      return
    }
    if (blocks === 0) s[b + SIZE] = 1
    if (blocks === s[b + CAPACITY]!) {
      this.widen(slot, s, b, Math.min(max, MAX_PERMITS))
      this.use(slot, max, windowMs)
      return
    }
    s[b + BLOCKS] = blocks + 1
    s[b + FILL] = 1
    this.stamp(slot, s, b, blocks)
  }

  /** Milliseconds until one permit more is free than now (until the next use is admitted, when none is), 0 when none is used. */
  nextMs(slot: number, max: number, windowMs: number): number {
    const s = this.chunk(slot)
    const b = base(slot)
    const blocks = s[b + BLOCKS]!
    if (blocks === 0) return 0
    const over = used(s, b) - Math.min(max, MAX_PERMITS)
    const block = over <= 0 ? 0 : Math.min(blocks - 1, Math.floor(over / s[b + SIZE]!))
    return Math.max(0, this.timeOf(slot, s, b, block) + windowMs + 1 - this.latest)
  }

  /** True when nothing in the slot counts any more at `now`, by the window of its last use. */
  idle(slot: number, now: MonoMillis): boolean {
    const s = this.chunk(slot)
    const b = base(slot)
    const blocks = s[b + BLOCKS]!
    if (blocks === 0) return true
    return this.timeOf(slot, s, b, blocks - 1) + s[b + WINDOW_S]! * 1000 < now
  }

  /** Gives most of a ring back that has become far too large. */
  trim(slot: number): void {
    const s = this.chunk(slot)
    const b = base(slot)
    if (s[b + CAPACITY]! > INLINE_CAPACITY && s[b + BLOCKS]! * 4 < s[b + CAPACITY]!)
      this.repack(slot, s, b, s[b + SIZE]!)
  }

  /** Adds what `from` has used to what `to` has used. */
  add(from: number, to: number): void {
    const source = this.read(from, this.chunk(from), base(from))
    const s = this.chunk(to)
    const b = base(to)
    const own = this.read(to, s, b)
    if (source.length === 0) return
    const all = [...own, ...source].sort((x, y) => x.at - y.at)
    const total = all.reduce((sum, entry) => sum + entry.permits, 0)
    s[b + WINDOW_S] = Math.max(s[b + WINDOW_S]!, this.chunk(from)[base(from) + WINDOW_S]!)
    this.write(to, s, b, all, Math.max(s[b + SIZE]!, blockSizeFor(total)))
  }

  private chunk(slot: number): Int32Array {
    return this.slots[slot >> WINDOW_CHUNK_SHIFT] ?? this.view(slot >> WINDOW_CHUNK_SHIFT)
  }

  private view(index: number): Int32Array {
    const doubles = this.memory.chunk(index)
    this.inline[index] = doubles
    const ints = new Int32Array(doubles.buffer, doubles.byteOffset, doubles.length * 2)
    this.slots[index] = ints
    return ints
  }

  /** Drops blocks whose last use was before `since`. */
  private expire(slot: number, s: Int32Array, b: number, since: number): void {
    const ring = s[b + RING]!
    const times = this.times(slot, ring)
    const start = startOf(slot, ring)
    const mask = s[b + CAPACITY]! - 1
    let head = s[b + HEAD]!
    let blocks = s[b + BLOCKS]!
    if (times[start + head]! >= since) return
    do {
      head = (head + 1) & mask
      blocks--
    } while (blocks > 0 && times[start + head]! < since)
    s[b + HEAD] = head
    s[b + BLOCKS] = blocks
  }

  /** Goes back to smaller blocks once the limit wants them and they fit, so that a lowered limit is exact again within one window. */
  private refine(slot: number, s: Int32Array, b: number, max: number): void {
    const wanted = blockSizeFor(max)
    if (s[b + SIZE]! > wanted && used(s, b) <= wanted * MAX_BLOCKS) this.repack(slot, s, b, wanted)
  }

  /** Makes room for one block more: a larger ring, or at the largest, larger blocks. */
  private widen(slot: number, s: Int32Array, b: number, max: number): void {
    const capacity = s[b + CAPACITY]!
    if (capacity < MAX_BLOCKS) {
      this.enlarge(slot, s, b, capacity * 2)
      return
    }
    this.repack(slot, s, b, Math.max(s[b + SIZE]! + 1, blockSizeFor(max)))
  }

  /** Moves a full ring to a larger one. */
  private enlarge(slot: number, s: Int32Array, b: number, capacity: number): void {
    const ring = this.pool.take(capacity)
    const times = this.pool.chunk(ring >>> RING_CHUNK_SHIFT)
    const start = ring & RING_CHUNK_MASK
    const blocks = s[b + BLOCKS]!
    for (let i = 0; i < blocks; i++) times[start + i] = this.timeOf(slot, s, b, i)
    this.dropRing(s, b)
    s[b + RING] = ring
    s[b + CAPACITY] = capacity
    s[b + HEAD] = 0
    s[b + BLOCKS] = blocks
  }

  private repack(slot: number, s: Int32Array, b: number, size: number): void {
    this.write(slot, s, b, this.read(slot, s, b), size)
  }

  /** Uses by time, oldest first. */
  private read(slot: number, s: Int32Array, b: number): { at: number; permits: number }[] {
    const list: { at: number; permits: number }[] = []
    const blocks = s[b + BLOCKS]!
    for (let i = 0; i < blocks; i++) {
      list.push({ at: this.timeOf(slot, s, b, i), permits: i === blocks - 1 ? s[b + FILL]! : s[b + SIZE]! })
    }
    return list
  }

  /** Lays uses down in blocks of `size`; a block takes the time of its last use, which errs towards refusing. */
  private write(
    slot: number,
    s: Int32Array,
    b: number,
    list: readonly { at: number; permits: number }[],
    size: number,
  ): void {
    const total = list.reduce((sum, entry) => sum + entry.permits, 0)
    let capacity = INLINE_CAPACITY
    while (capacity * size < total) capacity *= 2
    // Taken before the old one is dropped: where there is none, the uses stay as they are.
    const ring = capacity === INLINE_CAPACITY ? -1 : this.pool.take(capacity)
    this.dropRing(s, b)
    const times = this.times(slot, ring)
    const start = startOf(slot, ring)
    let blocks = 0
    let fill = size
    for (const entry of list) {
      let left = entry.permits
      while (left > 0) {
        if (fill === size) {
          blocks++
          fill = 0
        }
        const taken = Math.min(left, size - fill)
        fill += taken
        left -= taken
        times[start + blocks - 1] = entry.at
      }
    }
    s[b + RING] = ring
    s[b + CAPACITY] = capacity
    s[b + HEAD] = 0
    s[b + BLOCKS] = blocks
    s[b + FILL] = fill
    s[b + SIZE] = size
  }

  private timeOf(slot: number, s: Int32Array, b: number, block: number): number {
    const ring = s[b + RING]!
    const at = (s[b + HEAD]! + block) & (s[b + CAPACITY]! - 1)
    return this.times(slot, ring)[startOf(slot, ring) + at]!
  }

  private stamp(slot: number, s: Int32Array, b: number, block: number): void {
    const ring = s[b + RING]!
    const at = (s[b + HEAD]! + block) & (s[b + CAPACITY]! - 1)
    this.times(slot, ring)[startOf(slot, ring) + at] = this.latest
  }

  /** The memory in which a ring lies. */
  private times(slot: number, ring: number): Float64Array {
    return ring < 0 ? this.inline[slot >> WINDOW_CHUNK_SHIFT]! : this.pool.chunk(ring >>> RING_CHUNK_SHIFT)
  }

  /** Back to the empty ring within the slot. */
  private dropRing(s: Int32Array, b: number): void {
    const ring = s[b + RING]!
    const capacity = s[b + CAPACITY]!
    s[b + BLOCKS] = 0
    s[b + RING] = -1
    s[b + CAPACITY] = INLINE_CAPACITY
    // Last: a thread that ends within this must not leave a ring that two slots use.
    if (ring >= 0) this.pool.give(ring, capacity)
  }
}

/** Exact sliding windows: no window of its length, at any offset, ever holds more than the limit. */
export const SLIDING_WINDOW: RateAlgorithm<'sliding_window'> = {
  name: 'sliding_window',
  chunkShift: WINDOW_CHUNK_SHIFT,
  chunkDoubles: WINDOW_CHUNK_DOUBLES,
  table: (memory, rings) => new Windows(memory, rings),
}

/** Where a ring begins in its memory. */
function startOf(slot: number, ring: number): number {
  return ring < 0 ? ((slot & (CHUNK_SLOTS - 1)) << SLOT_DOUBLES_SHIFT) + INLINE_START : ring & RING_CHUNK_MASK
}

function base(slot: number): number {
  return (slot & (CHUNK_SLOTS - 1)) << SLOT_INTS_SHIFT
}

function used(s: Int32Array, b: number): number {
  return s[b + SIZE]! * (s[b + BLOCKS]! - 1) + s[b + FILL]!
}
