import { hash, randomBytes } from 'node:crypto'
import { fault } from '../errors/fault.ts'
import { beginOwner, endOwner, OWNER_CELLS, SharedLocks } from '../model/threads/shared-lock.ts'
import type { RecentTable, RecentTables } from './recent-tables.ts'

const DOUBLE = Float64Array.BYTES_PER_ELEMENT
const MOST_TABLES = 64
const MOST_BYTES = 2 ** 30
const LEAST_BYTES = 2 ** 24

// Cells of the state, as whole numbers.
const LOCK = 0
const OWNERS = 1
const TABLES = 2
const LIVING = 16

// Of a table in the directory, and of the entries in it, as doubles.
const TABLE_NAME = 0
const TABLE_AT = 1
const DIRECTORY_CELLS = 2
const SIZE = 0
const TURN = 1
const TABLE_HEAD = 2
const ENTRY_TURN = 0
const ENTRY_HASH = 1
const ENTRY_HEAD = 3
/** Entries among which a name may be; with room for twice as many names as are wanted such a set is full about never. */
const WAYS = 16
const ROOM = 2

/** The memory of tables, as it goes to another thread. */
export interface SharedTableMemory {
  readonly state: SharedArrayBuffer
  readonly directory: SharedArrayBuffer
  readonly entries: SharedArrayBuffer
  /** With it nobody outside can choose names that push one of another caller out. */
  readonly salt: string
}

/** Reserves the memory of tables that threads share; what they use of it grows with what they hold. @throws Fault `internal` */
export function reserveTables(): SharedTableMemory {
  return {
    state: new SharedArrayBuffer((LIVING + OWNER_CELLS) * Int32Array.BYTES_PER_ELEMENT),
    directory: new SharedArrayBuffer(MOST_TABLES * DIRECTORY_CELLS * DOUBLE),
    entries: reserve(),
    salt: randomBytes(16).toString('hex'),
  }
}

function reserve(): SharedArrayBuffer {
  for (let bytes = MOST_BYTES; bytes >= LEAST_BYTES; bytes /= 2) {
    try {
      return new SharedArrayBuffer(0, { maxByteLength: bytes })
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
    }
  }
  throw fault('internal', 'no memory can be reserved for counts of failed attempts that threads share')
}

/** Numbers of the threads that use the tables: the lock of one that has ended is free. For the thread that starts the others. */
export class SharedTableOwners {
  readonly #cells: Int32Array
  readonly #living: Int32Array

  constructor({ state }: SharedTableMemory) {
    this.#cells = new Int32Array(state, 0, LIVING)
    this.#living = livingOf(state)
  }

  /** @throws Fault `internal` beyond 4,096 that live */
  next(): number {
    for (let tries = 0; tries < OWNER_CELLS; tries++) {
      const number = Atomics.add(this.#cells, OWNERS, 1) + 1
      if (beginOwner(this.#living, number)) return number
    }
    throw fault('internal', `more than ${OWNER_CELLS} threads share tables`)
  }

  ended(number: number): void {
    endOwner(this.#living, number)
  }
}

function livingOf(state: SharedArrayBuffer): Int32Array {
  return new Int32Array(state, LIVING * Int32Array.BYTES_PER_ELEMENT)
}

/** Tables in memory that several threads share, under one lock: what they hold is asked for by attempts that fail, not by requests. */
export class SharedRecentTables implements RecentTables {
  readonly #memory: SharedTableMemory
  readonly #cells: Int32Array
  readonly #directory: Float64Array
  readonly #locks: SharedLocks
  #depth = 0

  /** `owner`: the number of this thread. */
  constructor(memory: SharedTableMemory, owner: number) {
    this.#memory = memory
    this.#cells = new Int32Array(memory.state, 0, LIVING)
    this.#directory = new Float64Array(memory.directory)
    this.#locks = new SharedLocks({ number: owner, living: livingOf(memory.state), patient: true })
  }

  get salt(): string {
    return this.#memory.salt
  }

  alone<T>(work: () => T): T {
    if (this.#depth === 0) this.#locks.lock(this.#cells, LOCK)
    this.#depth++
    try {
      return work()
    } finally {
      if (--this.#depth === 0) this.#locks.unlock(this.#cells, LOCK)
    }
  }

  /** All threads must ask for it alike. */
  table(name: string, most: number, width: number): RecentTable {
    const sets = 2 ** Math.ceil(Math.log2(Math.max(1, (most * ROOM) / WAYS)))
    const length = TABLE_HEAD + sets * WAYS * (ENTRY_HEAD + width)
    const at = this.alone(() => this.#place(digest(this.#memory.salt, name).slice(0, 1)[0]!, length))
    const cells = new Float64Array(this.#memory.entries, at, length)
    return new SharedTable(this, cells, { sets, width, salt: `${this.#memory.salt}${name}\0` })
  }

  /** Where a table is, in bytes: a new one is at the end. */
  #place(name: number, length: number): number {
    const count = this.#cells[TABLES]!
    for (let table = 0; table < count; table++) {
      const entry = table * DIRECTORY_CELLS
      if (this.#directory[entry + TABLE_NAME] === name) return this.#directory[entry + TABLE_AT]!
    }
    const { entries } = this.#memory
    const at = entries.byteLength
    if (count === MOST_TABLES || at + length * DOUBLE > entries.maxByteLength)
      throw fault('internal', 'no room for another table that threads share')
    entries.grow(at + length * DOUBLE)
    const entry = count * DIRECTORY_CELLS
    this.#directory[entry + TABLE_NAME] = name
    this.#directory[entry + TABLE_AT] = at
    this.#cells[TABLES] = count + 1
    return at
  }
}

/** Three numbers of 48 bits. */
function digest(salt: string, name: string): readonly number[] {
  const bytes = hash('sha256', `${salt}${name}`, 'buffer')
  return [bytes.readUIntBE(0, 6), bytes.readUIntBE(6, 6), bytes.readUIntBE(12, 6)]
}

interface TableShape {
  readonly sets: number
  readonly width: number
  readonly salt: string
}

class SharedTable implements RecentTable {
  readonly #tables: SharedRecentTables
  readonly #cells: Float64Array
  readonly #shape: TableShape

  constructor(tables: SharedRecentTables, cells: Float64Array, shape: TableShape) {
    this.#tables = tables
    this.#cells = cells
    this.#shape = shape
  }

  get size(): number {
    return this.#tables.alone(() => this.#cells[SIZE]!)
  }

  get(name: string): readonly number[] | undefined {
    const names = this.#hash(name)
    return this.#tables.alone(() => {
      const at = this.#find(names)
      if (at < 0) return undefined
      return Array.from(this.#cells.subarray(at + ENTRY_HEAD, at + ENTRY_HEAD + this.#shape.width))
    })
  }

  put(name: string, numbers: readonly number[]): void {
    const names = this.#hash(name)
    this.#tables.alone(() => {
      const cells = this.#cells
      const known = this.#find(names)
      const at = known < 0 ? this.#leastRecent(names) : known
      if (cells[at + ENTRY_TURN] === 0) cells[SIZE] = cells[SIZE]! + 1
      // A thread that ends amid this leaves a free entry.
      cells[at + ENTRY_TURN] = 0
      cells.set(names.slice(1), at + ENTRY_HASH)
      cells.set(numbers, at + ENTRY_HEAD)
      const turn = cells[TURN]! + 1
      cells[TURN] = turn
      cells[at + ENTRY_TURN] = turn
    })
  }

  change(name: string, numbers: readonly number[]): void {
    const names = this.#hash(name)
    this.#tables.alone(() => {
      const at = this.#find(names)
      if (at >= 0) this.#cells.set(numbers, at + ENTRY_HEAD)
    })
  }

  delete(name: string): void {
    const names = this.#hash(name)
    this.#tables.alone(() => {
      const at = this.#find(names)
      if (at < 0) return
      this.#cells[at + ENTRY_TURN] = 0
      this.#cells[SIZE] = this.#cells[SIZE]! - 1
    })
  }

  #hash(name: string): readonly number[] {
    return digest(this.#shape.salt, name)
  }

  /** Where the entry of a name is; -1 where there is none. */
  #find([place = 0, first, second]: readonly number[]): number {
    const cells = this.#cells
    for (const at of this.#set(place))
      if (cells[at + ENTRY_TURN] !== 0 && cells[at + ENTRY_HASH] === first && cells[at + ENTRY_HASH + 1] === second)
        return at
    return -1
  }

  /** The entry of its set that is free, or was put before all others. */
  #leastRecent([place = 0]: readonly number[]): number {
    return this.#set(place).reduce((least, at) =>
      this.#cells[at + ENTRY_TURN]! < this.#cells[least + ENTRY_TURN]! ? at : least,
    )
  }

  #set(place: number): number[] {
    const { sets, width } = this.#shape
    const size = ENTRY_HEAD + width
    const first = TABLE_HEAD + (place % sets) * WAYS * size
    return Array.from({ length: WAYS }, (_, way) => first + way * size)
  }
}
