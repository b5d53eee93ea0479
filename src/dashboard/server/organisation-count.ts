import type { Documents, Feed } from '../../store/ports/ports.ts'

/** Knows whether an installation has several organisations, without a question to the store for each call. Unknown counts as several. */
export class OrganisationCount {
  readonly #documents: Pick<Documents, 'list'>
  readonly #unsubscribe: () => void
  #several = true
  #isStale = true
  #reading: Promise<void> | undefined

  constructor(documents: Pick<Documents, 'list'>, feed: Feed) {
    this.#documents = documents
    this.#unsubscribe = feed.subscribe(({ changes, missed }) => {
      if (missed !== true && changes.every(({ kind }) => kind !== 'organisation')) return
      this.#isStale = true
      this.#several = true
    })
  }

  /** As of the last reading; a change is read at the next question, and until then there are several. */
  get isSeveral(): boolean {
    if (this.#isStale) void this.settled()
    return this.#several
  }

  /** Resolves once what was reported is read, or cannot be: then the next question reads it again. */
  settled(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  close(): void {
    this.#unsubscribe()
  }

  async #read(): Promise<void> {
    this.#isStale = false
    try {
      const { rows } = await this.#documents.list('organisation', { limit: 2 })
      if (!this.#isStale) this.#several = rows.length > 1
    } catch {
      // The store is away: the share holds meanwhile, and calls say so themselves.
      this.#isStale = true
    }
  }
}
