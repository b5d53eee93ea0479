import { isDeepStrictEqual } from 'node:util'
import type { Api } from '../../model/apis/definition/api.ts'
import { toDocumentId } from '../../model/documents/ids.ts'
import { asJson, isObject, type JsonObject } from '../../model/json/json.ts'
import { type Addresses, type AddressSettings, addressesIn } from '../../model/nodes/addresses.ts'
import { isUp, loadsHere } from '../../model/nodes/node.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { Documents, Feed } from '../../store/ports/ports.ts'
import { clockOf } from '../documents/parts.ts'
import { listNodes } from './node-status.ts'

const ADDRESSES_KIND = 'addresses'
const ADDRESSES_ID = toDocumentId('0'.repeat(24))
const NONE: Addresses = { publicUrl: '', edges: [] }

interface AddressParts {
  readonly documents: Documents
  readonly config: AddressSettings
  readonly clock?: Clock
}

/**
 * Stores the addresses that the settings of a dashboard name, so that gateways without such settings give the same issuers. The last
 * dashboard that starts counts. @throws Fault `store_away`, `store_full`
 */
export async function publishAddresses({ documents, config }: AddressParts): Promise<void> {
  const { publicUrl, edges } = addressesIn(config)
  const own: Addresses = { publicUrl, edges: edges.map(({ endpoint, tags = [] }) => ({ endpoint, tags: [...tags] })) }
  const stored = await readStored(documents)
  if (isDeepStrictEqual(own, stored)) return
  const body: JsonObject = { public_url: own.publicUrl, edge_endpoints: own.edges.map(asJson) }
  await documents.commit([{ op: 'put', kind: ADDRESSES_KIND, id: ADDRESSES_ID, body }], undefined)
}

/**
 * The addresses that gateways give an API, as far as this process can know them: its edge endpoints, and the public URL on which the
 * nodes that load the API agree. Where they do not, there is none.
 */
export async function addressesFor(parts: AddressParts, api: Pick<Api, 'tags'>): Promise<Addresses> {
  const own = joined(addressesIn(parts.config), await readStored(parts.documents))
  const now = clockOf({ ...(parts.clock && { clock: parts.clock }) }).wall()
  const nodes = await listNodes(parts)
  const serving = nodes.filter((node) => isUp(node, now) && !node.management && loadsHere(api, node))
  const urls = new Set(serving.map((node) => node.public_url || own.publicUrl))
  const [publicUrl = own.publicUrl] = urls
  return { publicUrl: urls.size > 1 ? '' : publicUrl, edges: own.edges }
}

/** The addresses that a gateway gives its APIs: those of its own settings, else those that a dashboard has stored. */
export class LiveAddresses {
  readonly #own: Addresses
  readonly #documents: Documents
  readonly #unsubscribe: () => void
  #current: Addresses

  constructor({ documents, config, feed }: AddressParts & { readonly feed: Feed }) {
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
    this.#current = joined(this.#own, await readStored(this.#documents))
  }

  /** Follows the store no longer. */
  close(): void {
    this.#unsubscribe()
  }
}

function joined(own: Addresses, stored: Addresses): Addresses {
  return {
    publicUrl: own.publicUrl || stored.publicUrl,
    edges: own.edges.length > 0 ? own.edges : stored.edges,
  }
}

async function readStored(documents: Documents): Promise<Addresses> {
  const body = (await documents.get(ADDRESSES_KIND, ADDRESSES_ID))?.body
  if (body === undefined) return NONE
  const { public_url: publicUrl, edge_endpoints: edges } = body
  const list = Array.isArray(edges) ? edges.filter(isObject) : []
  return {
    publicUrl: String(publicUrl ?? ''),
    edges: list.map(({ endpoint, tags }) => ({
      endpoint: String(endpoint),
      tags: Array.isArray(tags) ? tags.map(String) : [],
    })),
  }
}
