import type { Config } from '../../config/schema.ts'
import type { Api } from '../../model/apis/definition/api.ts'
import { ownWords } from '../../model/apis/definition/vendor-words.ts'
import { FRESH_S } from '../../model/authentication/jwt-scheme.ts'
import type { Log } from '../../model/logs/log.ts'
import {
  ADDRESSES_ID,
  ADDRESSES_KIND,
  type Addresses,
  type AddressSettings,
  addressesIn,
  joinedAddresses,
  readAddresses,
} from '../../model/nodes/addresses.ts'
import type { SealKey } from '../../model/secrets/secret.ts'
import type { Policy } from '../../model/sessions/session.ts'
import type { Clock } from '../../model/time/clock.ts'
import { type ClientDocumentParts, ClientDocuments } from '../../oauth/clients/client-documents.ts'
import type { OAuthParts } from '../../oauth/endpoints/parts.ts'
import { AuthorizationServer } from '../../oauth/endpoints/server.ts'
import { newServerState } from '../../oauth/endpoints/server-state.ts'
import { OwnKeys } from '../../oauth/signing-keys/own-keys.ts'
import { Lease } from '../../oauth/tokens/lease.ts'
import { Deliveries } from '../../oauth/webhooks/deliver-webhooks.ts'
import type { KeyedMutex } from '../../runtime/keyed-mutex.ts'
import type { LoginThrottle } from '../../runtime/login-throttle.ts'
import type { RecentTables } from '../../runtime/recent-tables.ts'
import type { Documents, Feed, Store } from '../../store/ports/ports.ts'
import type { SecretGate } from '../admin/admin-secret.ts'
import type { KeySets } from '../authentication/key-sets.ts'
import type { BindingParts } from './check-binding.ts'
import { OAuthEndpoints } from './endpoints.ts'
import { LiveClients } from './live-clients.ts'

interface LiveAddressParts {
  readonly documents: Documents
  readonly config: AddressSettings
  readonly feed: Feed
}

/** The dependencies of a node's authorization servers. */
export interface AuthorizationParts {
  readonly config: Config
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly sealKey: SealKey
  readonly locks: KeyedMutex
  /** Failed password checks, shared with basic authentication. */
  readonly basicAuthThrottle: LoginThrottle
  /** In which failed attempts are counted. */
  readonly tables: RecentTables
  readonly secretGate: SecretGate
  /** An API by its id, in any state. */
  readonly findApi: (apiId: string) => Api | undefined
  /** A policy that is in force. */
  readonly findPolicy: (orgId: string, policyId: string) => Policy | undefined
  /** As `OAuthParts.mergeOf`. */
  readonly mergeOf: NonNullable<OAuthParts['mergeOf']>
  /** Reads the metadata document of a client. Rejects on failure. */
  readonly fetchClientDocument: ClientDocumentParts['fetch']
  /** The key sets at addresses of clients. */
  readonly clientKeySets: KeySets
  /** True when other gateways share the store, in other processes or threads. */
  readonly several: boolean
  /** As `OAuthParts.registrationTokens`. */
  readonly registrationTokens?: OAuthParts['registrationTokens']
}

/** The authorization servers of a node. */
export interface Authorization {
  readonly clients: LiveClients
  readonly endpoints: OAuthEndpoints
  readonly bindings: BindingParts
  /** To be started when APIs are loaded. */
  readonly deliveries: Deliveries
  /** Reads what authorization servers need before the first call. */
  start(): Promise<void>
  /** Sends nothing more, follows the store no longer. */
  close(): Promise<void>
}

/** Makes the authorization servers of a node: their endpoints, the clients that they know, and the sending of notifications. */
export function openAuthorization(parts: AuthorizationParts): Authorization {
  const { config, store, clock, log, sealKey, locks, secretGate, findApi, findPolicy } = parts
  const { documents, tokens, outbox } = store
  const addresses = new LiveAddresses({ documents, config, feed: store.feed })
  const state = newServerState(clock, parts.tables, parts.basicAuthThrottle)
  const ownKeys = new OwnKeys(state.ringCache)
  const clients = new LiveClients(documents, store.feed, ownKeys)
  const common = { documents, tokens, outbox, clock, log, config, sealKey, locks, findApi, findPolicy }
  const turn = parts.several ? { turn: new Lease({ documents, tokens, clock }, 'outbox') } : {}
  const words = ownWords(config.compat.vendor_aliases)
  const deliveries = new Deliveries({
    ...{ ...common, ...turn },
    allowPrivate: config.webhooks.allow_private,
    alias: words[1],
  })
  const oauth: OAuthParts = {
    ...common,
    ...state,
    ...(store.pending !== undefined && { pending: store.pending }),
    ...(parts.registrationTokens !== undefined && { registrationTokens: parts.registrationTokens }),
    mergeOf: parts.mergeOf,
    findClient: (clientId, api) => clients.find(clientId, api),
    clientDocuments: new ClientDocuments({ clock, log, fetch: parts.fetchClientDocument }),
    clientKeySets: (url, orgId) => parts.clientKeySets.at(url, '', 1000 * FRESH_S, orgId),
    isRetired: (token) => ownKeys.isRetired(token),
    wakeDeliveries: () => deliveries.wake(),
  }
  const server = new AuthorizationServer(oauth)
  const endpoints = new OAuthEndpoints({ answer: (call) => server.answer(call), addresses, words, secretGate, log })
  return {
    clients,
    endpoints,
    bindings: { documents, clock, addresses, ownKeys },
    deliveries,
    // Without the store a gateway has the addresses of its own settings.
    start: () => addresses.start().catch(() => {}),
    async close() {
      addresses.close()
      await deliveries.close()
      clients.close()
    },
  }
}

/** The addresses that a gateway gives its APIs: those of its own settings, else those that a dashboard has stored. */
class LiveAddresses {
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
