import { randomBytes } from 'node:crypto'

/** Numbers by name, of so many names at most: of more those that were not put for longest go. */
export interface RecentTable {
  /** Names in it. */
  readonly size: number
  get(name: string): readonly number[] | undefined
  /** Puts numbers, as many as the table is wide; the name is now the most recent one. */
  put(name: string, numbers: readonly number[]): void
  /** Changes the numbers of a name that is there, which gets no more recent by it. */
  change(name: string, numbers: readonly number[]): void
  delete(name: string): void
}

/** Tables of one thread, or of several that count together. */
export interface RecentTables {
  /** For hashes of what nobody is to read in memory. */
  readonly salt: string
  /** The table of this name, for `most` names with `width` numbers each. */
  table(name: string, most: number, width: number): RecentTable
  /** Does the work while no other thread is at the tables. */
  alone<T>(work: () => T): T
}

/** A name of its own for a group of tables among all of them. */
export interface TablePlace {
  readonly tables: RecentTables
  readonly name: string
}

/** The place of tables that only their user reads. */
export function ownPlace(): TablePlace {
  const tables: RecentTables = {
    salt: randomBytes(16).toString('hex'),
    table: (_name, most) => new OwnTable(most),
    alone: (work) => work(),
  }
  return { tables, name: '' }
}

class OwnTable implements RecentTable {
  readonly #most: number
  /** In order of the last `put`. */
  readonly #entries = new Map<string, readonly number[]>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#entries.size
  }

  get(name: string): readonly number[] | undefined {
    return this.#entries.get(name)
  }

  put(name: string, numbers: readonly number[]): void {
    this.#entries.delete(name)
    this.#entries.set(name, numbers)
    if (this.#entries.size > this.#most) this.#entries.delete(this.#entries.keys().next().value!)
  }

  change(name: string, numbers: readonly number[]): void {
    if (this.#entries.has(name)) this.#entries.set(name, numbers)
  }

  delete(name: string): void {
    this.#entries.delete(name)
  }
}
