import { RING_CHUNK_MASK, RING_CHUNK_SHIFT } from '../../model/limits/slot-memory.ts'
import { BUSY } from '../../model/threads/shared-lock.ts'
import type { CountNames } from './count-tables.ts'
import { type SharedSlots, SLOT_HASH, SLOT_LOCK, SLOT_NAME, SLOT_NAME_BYTES } from './shared-counts.ts'

const BAR = '|'.charCodeAt(0)
const DOUBLE = Float64Array.BYTES_PER_ELEMENT

interface SharedTable {
  readonly size: number
  claim(): number
  release(slot: number): void
  generation(slot: number): number
}

/**
 * The names of counts that threads share: an open-addressed table by the hash of the name, whose entries are slots. Any thread looks up and
 * claims; one, which does not end before the others, releases.
 */
export class SharedNames<Table extends SharedTable> implements CountNames<Table> {
  readonly table: Table
  /** The owner sweeps by its timer: no thread that serves does. */
  readonly fresh = 0
  readonly #slots: SharedSlots
  #cursor = 0

  constructor(table: Table, slots: SharedSlots) {
    this.table = table
    this.#slots = slots
  }

  get count(): number {
    return this.#slots.count
  }

  find(id: string): number {
    const name = Buffer.from(id)
    const hash = hashOf(name)
    return this.#slots.state.alone(() => this.#find(name, hash))
  }

  claim(id: string): number {
    const name = Buffer.from(id)
    const hash = hashOf(name)
    return this.#slots.state.alone(() => {
      const known = this.#find(name, hash)
      return known >= 0 ? known : this.#add(name, hash)
    })
  }

  release(slot: number): void {
    this.#slots.state.alone(() => {
      if (this.table.generation(slot) < 0) return
      const { heads, at } = this.#head(slot)
      this.#remove(slot, heads[at + SLOT_HASH]!)
      this.table.release(slot)
      this.#slots.state.rings.give(heads[at + SLOT_NAME]!, nameCapacity(heads[at + SLOT_NAME_BYTES]!))
    })
  }

  idOf(slot: number): string | undefined {
    return this.table.generation(slot) < 0 ? undefined : this.#name(slot).toString()
  }

  sweep(budget: number, visit: (slot: number) => boolean): void {
    for (let left = Math.min(budget, this.table.size); left > 0; left--) {
      if (this.#cursor >= this.table.size) this.#cursor = 0
      const slot = this.#cursor++
      if (this.table.generation(slot) >= 0 && !this.#visit(slot, visit)) return
    }
  }

  owned(owner: string): string[] {
    const prefix = Buffer.from(owner)
    const ids: string[] = []
    for (let slot = 0; slot < this.table.size; slot++) {
      if (this.table.generation(slot) < 0) continue
      const name = this.#name(slot)
      const fits = name.length === prefix.length || (name.length > prefix.length && name[prefix.length] === BAR)
      if (fits && name.subarray(0, prefix.length).equals(prefix)) ids.push(name.toString())
    }
    return ids
  }

  /** A slot that another thread has now is in use. False where the tables cannot be had. */
  #visit(slot: number, visit: (slot: number) => boolean): boolean {
    const { state } = this.#slots
    const { heads, at } = this.#head(slot)
    const look = () => {
      if (!state.locks.tryLock(heads, at + SLOT_LOCK)) return
      try {
        if (visit(slot)) this.release(slot)
      } finally {
        state.locks.unlock(heads, at + SLOT_LOCK)
      }
    }
    try {
      state.alone(look)
      return true
    } catch (error) {
      if (error === BUSY) return false
      throw error
    }
  }

  #find(name: Buffer, hash: number): number {
    const table = this.#slots.table()
    const mask = table.length - 1
    for (let at = hash & mask; table[at] !== 0; at = (at + 1) & mask) {
      const slot = table[at]! - 1
      const head = this.#head(slot)
      if (head.heads[head.at + SLOT_HASH] === hash && this.#name(slot).equals(name)) return slot
    }
    return -1
  }

  /** The entry comes last: a thread that ends before has only wasted a slot. */
  #add(name: Buffer, hash: number): number {
    const slot = this.table.claim()
    const ring = this.#slots.state.rings.take(nameCapacity(name.length))
    const { heads, at } = this.#head(slot)
    heads[at + SLOT_HASH] = hash
    heads[at + SLOT_NAME] = ring
    heads[at + SLOT_NAME_BYTES] = name.length
    this.#name(slot).set(name)
    const table = this.#slots.table()
    const roomy =
      this.#slots.count * 2 <= table.length ? table : this.#slots.widenTable((wide) => this.#rehash(table, wide))
    insert(roomy, slot, hash)
    return slot
  }

  #rehash(from: Int32Array, to: Int32Array): void {
    for (const entry of from) if (entry !== 0) insert(to, entry - 1, this.#hash(entry - 1))
  }

  /** Closes the gap: what was put behind the entry because its place was taken moves up. */
  #remove(slot: number, hash: number): void {
    const table = this.#slots.table()
    const mask = table.length - 1
    let gap = hash & mask
    while (table[gap] !== slot + 1) {
      if (table[gap] === 0) return
      gap = (gap + 1) & mask
    }
    for (let at = (gap + 1) & mask; table[at] !== 0; at = (at + 1) & mask) {
      const home = this.#hash(table[at]! - 1) & mask
      if (((at - home) & mask) < ((at - gap) & mask)) continue
      table[gap] = table[at]!
      gap = at
    }
    table[gap] = 0
  }

  #hash(slot: number): number {
    const { heads, at } = this.#head(slot)
    return heads[at + SLOT_HASH]!
  }

  #name(slot: number): Buffer {
    const { heads, at } = this.#head(slot)
    const ring = heads[at + SLOT_NAME]!
    const chunk = this.#slots.state.rings.chunk(ring >>> RING_CHUNK_SHIFT)
    const offset = chunk.byteOffset + (ring & RING_CHUNK_MASK) * DOUBLE
    return Buffer.from(chunk.buffer as unknown as ArrayBuffer, offset, heads[at + SLOT_NAME_BYTES]!)
  }

  #head(slot: number): { heads: Int32Array; at: number } {
    return { heads: this.#slots.heads(slot), at: this.#slots.head(slot) }
  }
}

function insert(table: Int32Array, slot: number, hash: number): void {
  const mask = table.length - 1
  let at = hash & mask
  while (table[at] !== 0) at = (at + 1) & mask
  table[at] = slot + 1
}

/** Doubles that hold a name, a power of two. */
function nameCapacity(bytes: number): number {
  let capacity = 1
  while (capacity * DOUBLE < bytes) capacity *= 2
  return capacity
}

/** FNV-1a, mixed once more (the finalizer of MurmurHash3), as the low bits pick the entry. */
function hashOf(name: Buffer): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name[i]!, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
