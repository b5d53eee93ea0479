import {
  ADDRESSES_ID,
  ADDRESSES_KIND,
  type Addresses,
  type AddressSettings,
  addressesIn,
  joinedAddresses,
  readAddresses,
} from '../../model/nodes/addresses.ts'
import type { Documents, Feed } from '../../store/ports/ports.ts'

interface LiveAddressParts {
  readonly documents: Documents
  readonly config: AddressSettings
  readonly feed: Feed
}

/** The addresses that a gateway gives its APIs: those of its own settings, else those that a dashboard has stored. */
export class LiveAddresses {
  readonly #own: Addresses
  readonly #documents: Documents
  readonly #unsubscribe: () => void
  #current: Addresses

  constructor({ documents, config, feed }: LiveAddressParts) {
    this.#own = addressesIn(config)
    this.#documents = documents
    this.#current = this.#own
    this.#unsubscribe = feed.subscribe(({ changes, missed }) => {
      // A store that is away is read again with its next change.
      if (missed || changes.some(({ kind }) => kind === ADDRESSES_KIND)) this.start().catch(() => {})
    })
  }

  get current(): Addresses {
    return this.#current
  }

  /** Reads what is stored. @throws Fault `store_away` */
  async start(): Promise<void> {
    const stored = await this.#documents.get(ADDRESSES_KIND, ADDRESSES_ID)
    this.#current = joinedAddresses(this.#own, readAddresses(stored?.body))
  }

  /** Follows the store no longer. */
  close(): void {
    this.#unsubscribe()
  }
}
