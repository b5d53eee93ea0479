import { isDeepStrictEqual } from 'node:util'
import type { Api } from '../../model/apis/definition/api.ts'
import { asJson, type JsonObject } from '../../model/json/json.ts'
import {
  ADDRESSES_ID,
  ADDRESSES_KIND,
  type Addresses,
  type AddressSettings,
  addressesIn,
  joinedAddresses,
  readAddresses,
} from '../../model/nodes/addresses.ts'
import { isUp, loadsHere } from '../../model/nodes/node.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { Documents } from '../../store/ports/ports.ts'
import { clockOf } from '../documents/parts.ts'
import { listNodes } from './node-status.ts'

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
  return (await readAddressesFor(parts))(api)
}

/** The same for many APIs: what the store knows of addresses is read once. @throws Fault `store_away` */
export async function readAddressesFor(parts: AddressParts): Promise<(api: Pick<Api, 'tags'>) => Addresses> {
  const own = joinedAddresses(addressesIn(parts.config), await readStored(parts.documents))
  const now = clockOf({ ...(parts.clock && { clock: parts.clock }) }).wall()
  const nodes = await listNodes(parts)
  const up = nodes.filter((node) => isUp(node, now) && !node.management)
  return (api) => {
    const urls = new Set(up.filter((node) => loadsHere(api, node)).map((node) => node.public_url || own.publicUrl))
    const [publicUrl = own.publicUrl] = urls
    return { publicUrl: urls.size > 1 ? '' : publicUrl, edges: own.edges }
  }
}

async function readStored(documents: Documents): Promise<Addresses> {
  return readAddresses((await documents.get(ADDRESSES_KIND, ADDRESSES_ID))?.body)
}
