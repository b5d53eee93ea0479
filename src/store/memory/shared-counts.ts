import { fault } from '../../errors/fault.ts'
import { type RateAlgorithmName, rateAlgorithm } from '../../model/limits/rate-algorithms.ts'
import {
  RING_CHUNK,
  RING_CHUNK_MASK,
  RING_CHUNK_SHIFT,
  type RingMemory,
  type SlotMemory,
} from '../../model/limits/slot-memory.ts'
import { type ChangedSlots, QUOTA_CHUNK_DOUBLES, QUOTA_CHUNK_SHIFT } from '../../model/limits/window-quota.ts'
import { beginOwner, type LockOwner, OWNER_CELLS, SharedLocks } from '../../model/threads/shared-lock.ts'

const LEAST_BYTES = 16 << 20

/** Memory of several threads that grows in chunks of one size. What it may grow to is reserved, not used. */
class SharedArea {
  readonly buffer: SharedArrayBuffer
  readonly #chunkBytes: number

  constructor(buffer: SharedArrayBuffer, chunkBytes: number) {
    this.buffer = buffer
    this.#chunkBytes = chunkBytes
  }

  get chunks(): number {
    return this.buffer.byteLength / this.#chunkBytes
  }

  /** Has so many chunks at least. Only under the lock of the tables. @throws Fault `store_full` */
  grow(chunks: number): void {
    const bytes = chunks * this.#chunkBytes
    if (bytes <= this.buffer.byteLength) return
    if (bytes > this.buffer.maxByteLength) throw fault('store_full', 'too many counts of limits are in use at once')
    this.buffer.grow(bytes)
  }

  /** Chunk `index` as doubles. */
  doubles(index: number): Float64Array {
    return new Float64Array(this.buffer, index * this.#chunkBytes, this.#chunkBytes / Float64Array.BYTES_PER_ELEMENT)
  }
}

/** Memory that may grow to `mostBytes`, or as far as this process may reserve. @throws Fault `internal` */
function reserve(mostBytes: number): SharedArrayBuffer {
  for (let bytes = mostBytes; bytes >= LEAST_BYTES; bytes /= 2) {
    try {
      return new SharedArrayBuffer(0, { maxByteLength: bytes })
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
    }
  }
  throw fault('internal', 'no memory can be reserved for counts of limits that threads share')
}

const GIB = 2 ** 30
const DOUBLE = Float64Array.BYTES_PER_ELEMENT

/** The memory of the counts of all threads, as it goes to another one. */
export interface SharedCountMemory {
  /** By which all threads count rates. */
  readonly algorithm: RateAlgorithmName
  readonly state: SharedArrayBuffer
  readonly rings: SharedArrayBuffer
  readonly bits: SharedArrayBuffer
  readonly tables: SharedArrayBuffer
  readonly rates: KindMemory
  readonly quotas: KindMemory
}

interface KindMemory {
  readonly slots: SharedArrayBuffer
  /** Beside each slot: its lock, its name, and the time up to which it was looked at. */
  readonly heads: SharedArrayBuffer
}

// Cells of the state. Those of a kind are numbered from `KINDS`, those of rings by size.
const LOCK = 0
const GENERATION = 1
const OWNERS = 2
const TABLE_PAGES = 3
const RING_CHUNKS = 4
const KINDS = 16
const KIND_CELLS = 8
const UNUSED_RINGS = 64
const FREE_RINGS = 96
const LIVING = 128
const STATE_CELLS = LIVING + OWNER_CELLS

// Of a kind.
const SIZE = 0
const FREE = 1
/** Where its table of names is, and how large: pages × 32 + the power of two of its entries. */
const TABLE = 2
const COUNT = 3
const FRESH = 4

// Of the head of a slot, 32 bytes.
const HEAD_SHIFT = 3
export const SLOT_LOCK = 0
export const SLOT_HASH = 1
export const SLOT_NAME = 2
export const SLOT_NAME_BYTES = 3
const SLOT_NEXT = 4
/** In doubles from the beginning of the head. */
const SLOT_TIME = 3

/** The thread that starts the others. */
export const FIRST_OWNER = 1

const INT_MAX = 0x7fffffff
const TABLE_PAGE = 1024
const TABLE_SIZE_BITS = 5
const FIRST_TABLE_BITS = 10
const BIT_WORDS = 1024
const QUOTA_CHUNKS = { chunkDoubles: QUOTA_CHUNK_DOUBLES, chunkShift: QUOTA_CHUNK_SHIFT }

/** Reserves the memory of counts that threads share. */
export function reserveCounts(algorithm: RateAlgorithmName): SharedCountMemory {
  const kind = (): KindMemory => ({ slots: reserve(2 * GIB), heads: reserve(GIB) })
  return {
    algorithm,
    state: new SharedArrayBuffer(STATE_CELLS * Int32Array.BYTES_PER_ELEMENT),
    rings: reserve(8 * GIB),
    bits: reserve(GIB / 32),
    tables: reserve(GIB),
    rates: kind(),
    quotas: kind(),
  }
}

/** The cells that all threads share besides the counts themselves, the one lock of the tables, and the rings. */
export class SharedState {
  readonly cells: Int32Array
  readonly living: Int32Array
  readonly locks: SharedLocks
  readonly owner: LockOwner
  readonly rings: RingMemory
  /** Tables of names. */
  readonly tables: SharedArea
  #depth = 0

  /** `number`: of this thread among those that count, the first one's is `FIRST_OWNER`: it hears of the ends of the others. */
  constructor(memory: SharedCountMemory, number: number) {
    this.cells = new Int32Array(memory.state, 0, LIVING)
    this.living = new Int32Array(memory.state, LIVING * Int32Array.BYTES_PER_ELEMENT)
    if (number === FIRST_OWNER) beginOwner(this.living, number)
    this.owner = { number, living: this.living, patient: number !== FIRST_OWNER }
    this.locks = new SharedLocks(this.owner)
    this.tables = new SharedArea(memory.tables, TABLE_PAGE * Int32Array.BYTES_PER_ELEMENT)
    this.rings = new SharedRings(this, new SharedArea(memory.rings, RING_CHUNK * DOUBLE))
  }

  /** A number for another thread: a new one, so that no lock of one that has ended is taken for its own. @throws Fault `internal` beyond 4,096 that live */
  nextOwner(): number {
    for (let tries = 0; tries < OWNER_CELLS; tries++) {
      const number = Atomics.add(this.cells, OWNERS, 1) + FIRST_OWNER + 1
      if (beginOwner(this.living, number)) return number
    }
    throw fault('internal', `more than ${OWNER_CELLS} threads share counts`)
  }

  /** Does the work as the only thread that claims, gives back, or looks up names. @throws `BUSY` as `SharedLocks.lock` */
  alone<T>(work: () => T): T {
    if (this.#depth === 0) this.locks.lock(this.cells, LOCK)
    this.#depth++
    try {
      return work()
    } finally {
      if (--this.#depth === 0) this.locks.unlock(this.cells, LOCK)
    }
  }

  /** So many pages for a table, never given back: answers the first. Only within `alone`. */
  pages(count: number): number {
    const first = this.cells[TABLE_PAGES]!
    this.tables.grow(first + count)
    this.cells[TABLE_PAGES] = first + count
    return first
  }

  nextGeneration(): number {
    return (Atomics.add(this.cells, GENERATION, 1) + 1) & INT_MAX
  }
}

class SharedRings implements RingMemory {
  readonly #state: SharedState
  readonly #area: SharedArea
  readonly #chunks: Float64Array[] = []

  constructor(state: SharedState, area: SharedArea) {
    this.#state = state
    this.#area = area
  }

  take(capacity: number): number {
    return this.#state.alone(() => {
      const { cells } = this.#state
      const size = Math.log2(capacity)
      const again = cells[FREE_RINGS + size]!
      if (again !== 0) {
        // The first number of a free ring says which is the next.
        cells[FREE_RINGS + size] = this.chunk((again - 1) >>> RING_CHUNK_SHIFT)[(again - 1) & RING_CHUNK_MASK]!
        return again - 1
      }
      let ring = cells[UNUSED_RINGS + size]!
      if ((ring & RING_CHUNK_MASK) === 0) {
        const chunk = cells[RING_CHUNKS]!
        this.#area.grow(chunk + 1)
        cells[RING_CHUNKS] = chunk + 1
        ring = chunk * RING_CHUNK
      }
      cells[UNUSED_RINGS + size] = ring + capacity
      return ring
    })
  }

  give(ring: number, capacity: number): void {
    this.#state.alone(() => {
      const { cells } = this.#state
      const size = Math.log2(capacity)
      this.chunk(ring >>> RING_CHUNK_SHIFT)[ring & RING_CHUNK_MASK] = cells[FREE_RINGS + size]!
      cells[FREE_RINGS + size] = ring + 1
    })
  }

  chunk(index: number): Float64Array {
    return this.#chunks[index] ?? this.#open(index)
  }

  #open(index: number): Float64Array {
    const chunk = this.#area.doubles(index)
    this.#chunks[index] = chunk
    return chunk
  }
}

/** The slots of one kind of counts, and what belongs to each besides its count. */
export class SharedSlots implements SlotMemory {
  readonly state: SharedState
  readonly #at: number
  readonly #slots: SharedArea
  readonly #heads: SharedArea
  readonly #shift: number
  readonly #mask: number
  readonly #headInts: Int32Array[] = []
  readonly #headDoubles: Float64Array[] = []

  constructor(state: SharedState, memory: SharedCountMemory, kind: 'rates' | 'quotas') {
    const isRate = kind === 'rates'
    const { chunkDoubles, chunkShift } = isRate ? rateAlgorithm(memory.algorithm) : QUOTA_CHUNKS
    this.state = state
    this.#at = KINDS + (isRate ? 0 : KIND_CELLS)
    this.#shift = chunkShift
    this.#mask = (1 << this.#shift) - 1
    this.#slots = new SharedArea(memory[kind].slots, chunkDoubles * DOUBLE)
    this.#heads = new SharedArea(memory[kind].heads, (4 * DOUBLE) << this.#shift)
  }

  get size(): number {
    return Atomics.load(this.state.cells, this.#at + SIZE)
  }

  /** Slots in use. */
  get count(): number {
    return Atomics.load(this.state.cells, this.#at + COUNT)
  }

  /** Slots that were taken since the last call. */
  takeFresh(): number {
    return Atomics.exchange(this.state.cells, this.#at + FRESH, 0)
  }

  take(): number {
    return this.state.alone(() => {
      const { cells } = this.state
      const again = cells[this.#at + FREE]!
      if (again === 0) {
        const slot = cells[this.#at + SIZE]!
        const chunks = (slot >> this.#shift) + 1
        this.#slots.grow(chunks)
        this.#heads.grow(chunks)
        Atomics.store(cells, this.#at + SIZE, slot + 1)
      } else cells[this.#at + FREE] = this.heads(again - 1)[this.head(again - 1) + SLOT_NEXT]!
      cells[this.#at + COUNT] = cells[this.#at + COUNT]! + 1
      Atomics.add(cells, this.#at + FRESH, 1)
      return again === 0 ? cells[this.#at + SIZE]! - 1 : again - 1
    })
  }

  give(slot: number): void {
    this.state.alone(() => {
      const { cells } = this.state
      this.heads(slot)[this.head(slot) + SLOT_NEXT] = cells[this.#at + FREE]!
      cells[this.#at + FREE] = slot + 1
      cells[this.#at + COUNT] = cells[this.#at + COUNT]! - 1
    })
  }

  nextGeneration(): number {
    return this.state.nextGeneration()
  }

  chunk(index: number): Float64Array {
    return this.#slots.doubles(index)
  }

  /** The heads among which that of a slot is, from `head` on. */
  heads(slot: number): Int32Array {
    return this.#headInts[slot >> this.#shift] ?? this.#open(slot >> this.#shift)
  }

  head(slot: number): number {
    return (slot & this.#mask) << HEAD_SHIFT
  }

  /** Up to when a slot was looked at; only with its lock. */
  timeOf(slot: number): number {
    const chunk = slot >> this.#shift
    if (this.#headDoubles[chunk] === undefined) this.#open(chunk)
    return this.#headDoubles[chunk]![((slot & this.#mask) << 2) + SLOT_TIME]!
  }

  setTime(slot: number, time: number): void {
    this.#headDoubles[slot >> this.#shift]![((slot & this.#mask) << 2) + SLOT_TIME] = time
  }

  /** The table of names, of a power of two entries; only within `alone`. */
  table(): Int32Array {
    const ref = this.state.cells[this.#at + TABLE]!
    return ref === 0 ? this.#newTable(FIRST_TABLE_BITS) : this.#tableOf(ref)
  }

  /** Makes the table of names twice as large, with what `fill` puts into it; only within `alone`. */
  widenTable(fill: (table: Int32Array) => void): Int32Array {
    return this.#newTable(Math.log2(this.table().length) + 1, fill)
  }

  #newTable(bits: number, fill = (_table: Int32Array) => {}): Int32Array {
    // Page 0 is none, so that no table is at 0.
    const page = Math.max(1, this.state.pages(2 ** bits / TABLE_PAGE + 1) + 1)
    const ref = (page << TABLE_SIZE_BITS) | bits
    const table = this.#tableOf(ref)
    table.fill(0)
    fill(table)
    // From here on it is the one: a thread that ends before has changed nothing.
    this.state.cells[this.#at + TABLE] = ref
    return table
  }

  #tableOf(ref: number): Int32Array {
    const page = ref >>> TABLE_SIZE_BITS
    const bytes = TABLE_PAGE * Int32Array.BYTES_PER_ELEMENT
    return new Int32Array(this.state.tables.buffer, page * bytes, 2 ** (ref & ((1 << TABLE_SIZE_BITS) - 1)))
  }

  #open(chunk: number): Int32Array {
    const doubles = this.#heads.doubles(chunk)
    this.#headDoubles[chunk] = doubles
    const ints = new Int32Array(doubles.buffer, doubles.byteOffset, doubles.length * 2)
    this.#headInts[chunk] = ints
    return ints
  }
}

/** Changed slots as bits, which any thread may set and one takes. */
export class SharedChangedSlots implements ChangedSlots {
  readonly #state: SharedState
  readonly #area: SharedArea
  readonly #words: Int32Array[] = []

  constructor(state: SharedState, { bits }: SharedCountMemory) {
    this.#state = state
    this.#area = new SharedArea(bits, BIT_WORDS * Int32Array.BYTES_PER_ELEMENT)
  }

  add(slot: number): void {
    const word = slot >> 5
    const chunk = word >> 10
    if (chunk >= this.#area.chunks) this.#state.alone(() => this.#area.grow(chunk + 1))
    Atomics.or(this.#chunk(chunk), word & (BIT_WORDS - 1), 1 << (slot & 31))
  }

  take(): number[] {
    const slots: number[] = []
    for (let chunk = 0; chunk < this.#area.chunks; chunk++) {
      const words = this.#chunk(chunk)
      for (let at = 0; at < BIT_WORDS; at++) {
        if (Atomics.load(words, at) === 0) continue
        const set = Atomics.exchange(words, at, 0)
        for (let bit = 0; bit < 32; bit++) if ((set >>> bit) & 1) slots.push((((chunk << 10) | at) << 5) | bit)
      }
    }
    return slots
  }

  #chunk(index: number): Int32Array {
    const known = this.#words[index]
    if (known !== undefined) return known
    const bytes = BIT_WORDS * Int32Array.BYTES_PER_ELEMENT
    const words = new Int32Array(this.#area.buffer, index * bytes, BIT_WORDS)
    this.#words[index] = words
    return words
  }
}
