/** The undo steps of a commit, last one first. */
export type Undo = (() => void)[]

/** A row that is another one than in the store. */
export interface Changed<Row> {
  readonly key: string
  readonly before: Row | undefined
  /** undefined: deleted. */
  readonly now: Row | undefined
}

/** Rows of one table as they will be: those that were read, and what the commits of a group have made of them since. */
export class Draft<Row> {
  private readonly before = new Map<string, Row>()
  private readonly now = new Map<string, Row>()

  /** Adds a row in its stored state. */
  load(key: string, row: Row): void {
    this.before.set(key, row)
    this.now.set(key, row)
  }

  get(key: string): Row | undefined {
    return this.now.get(key)
  }

  /** Writes a row; undefined deletes it. */
  set(key: string, row: Row | undefined, undo: Undo): void {
    const found = this.now.get(key)
    undo.push(() => this.put(key, found))
    this.put(key, row)
  }

  /** All rows as they are now. */
  entries(): IterableIterator<[string, Row]> {
    return this.now.entries()
  }

  /** Rows that are another one than in the store. */
  *changed(): Generator<Changed<Row>> {
    for (const [key, row] of this.now) {
      const before = this.before.get(key)
      if (before !== row) yield { key, before, now: row }
    }
    for (const [key, before] of this.before) if (!this.now.has(key)) yield { key, before, now: undefined }
  }

  private put(key: string, row: Row | undefined): void {
    if (row === undefined) this.now.delete(key)
    else this.now.set(key, row)
  }
}

/** The columns of rows, each as a list, as `unnest` takes them. */
export function columns<Row>(rows: Iterable<Row>, ...of: readonly ((row: Row) => unknown)[]): unknown[][] {
  const lists: unknown[][] = of.map(() => [])
  for (const row of rows) for (let i = 0; i < of.length; i++) lists[i]!.push(of[i]!(row))
  return lists
}
