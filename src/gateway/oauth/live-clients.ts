import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import type { ServerApi } from '../../model/oauth-clients/oauth-registration.ts'
import { ClientCache } from '../../oauth/clients/client-cache.ts'
import type { OwnKeys } from '../../oauth/signing-keys/own-keys.ts'
import type { Awaitable, Documents, Feed } from '../../store/ports/ports.ts'

/** The clients as sessions see them. */
export interface Clients {
  /** Grows with every change of any client, and when a signing key was retired: what was asked before it is asked again. */
  readonly generation: number
  /** True for an access token that names a retired signing key: it belongs to no client any more. Its signature is not checked. */
  isRetired(token: string): boolean
  /** The registration of a client id at an API, undefined when there is none. @throws Fault `store_away` */
  find(clientId: string, api: ServerApi): Awaitable<OAuthClient | undefined>
}

/** The clients as this node knows them: a change is in force with the commit that made it. */
export class LiveClients implements Clients {
  readonly #cache: ClientCache
  readonly #ownKeys: Pick<OwnKeys, 'isRetired' | 'retirements'>
  readonly #unsubscribe: () => void
  #changes = 0

  constructor(documents: Documents, feed: Feed, ownKeys: Pick<OwnKeys, 'isRetired' | 'retirements'>) {
    this.#ownKeys = ownKeys
    this.#cache = new ClientCache(documents, feed)
    this.#unsubscribe = feed.subscribe(({ changes, missed }) => {
      if (missed || changes.some(({ kind }) => kind === 'oauth_client')) this.#changes++
    })
  }

  get generation(): number {
    return this.#changes + this.#ownKeys.retirements
  }

  isRetired(token: string): boolean {
    return this.#ownKeys.isRetired(token)
  }

  find(clientId: string, api: ServerApi): Awaitable<OAuthClient | undefined> {
    return this.#cache.find(clientId, api)
  }

  /** Follows the store no longer. */
  close(): void {
    this.#unsubscribe()
    this.#cache.close()
  }
}
