import type { Hit } from '../../../model/analytics/hit.ts'
import { USAGE_BATCH } from '../../hits/usage-rows.ts'
import type { UsageQuery } from '../../ports/ports.ts'
import type { UsageReader } from './read-usage.ts'

/** Readings of one answer. */
const MOST_READINGS = 20

/**
 * Rows of an answer that is being handed out, `USAGE_BATCH` at a time: their reader works through a batch in one turn. Each
 * reading looks through all that the rows are made of, so there are only so many, however many rows, and the time grows with their
 * number alone.
 */
export class AnswerRows {
  readonly #reader: Pick<UsageReader, 'numbers'>
  readonly #query: UsageQuery
  readonly #journal: boolean
  readonly #names: readonly Hit[]
  #read = 0
  #rows: readonly Hit[] = []
  #given = 0

  constructor(reader: Pick<UsageReader, 'names' | 'numbers'>, query: UsageQuery, journal: boolean) {
    this.#reader = reader
    this.#query = query
    this.#journal = journal
    this.#names = reader.names(query, journal)
  }

  /** The next rows; undefined after the last. */
  next(): Hit[] | undefined {
    // Rows may have gone meanwhile.
    while (this.#given >= this.#rows.length) {
      if (this.#read >= this.#names.length) return undefined
      const size = Math.max(USAGE_BATCH, Math.ceil(this.#names.length / MOST_READINGS))
      const some = this.#names.slice(this.#read, this.#read + size)
      this.#read += size
      this.#given = 0
      this.#rows = this.#reader.numbers(this.#query, some, this.#journal)
    }
    const batch = this.#rows.slice(this.#given, this.#given + USAGE_BATCH)
    this.#given += USAGE_BATCH
    return batch
  }
}
