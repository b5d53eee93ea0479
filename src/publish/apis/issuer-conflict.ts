import type { Api } from '../../model/apis/definition/api.ts'
import { fixedIssuer } from '../../model/apis/definition/issuer.ts'
import { placeKeys, placeOf } from '../../model/apis/definition/stored-api.ts'
import { areDisjointByTags } from '../../model/apis/definition/template.ts'
import { pathsOverlap, territoryOf } from '../../model/apis/definition/territory.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import { type Addresses, addressOf } from '../../model/nodes/addresses.ts'
import { trimTrailing } from '../../model/text/trim-trailing.ts'
import type { StoredDocument, Where } from '../../store/ports/ports.ts'
import type { PublishParts } from '../documents/parts.ts'
import { readAddressesFor } from '../nodes/addresses.ts'
import { readable } from './api-plan.ts'

type IssuerParts = Pick<PublishParts, 'documents' | 'config' | 'clock'>

const MOST_PLACES = 1000

/**
 * The API whose authorization server would have the same issuer (RFC 8414 section 2): clients could not tell them apart. undefined =
 * none, as far as the addresses of both are known. It may be kept apart by tags, by the host of its domain, or by the path of an address.
 */
export async function apiWithSameIssuer(
  parts: IssuerParts,
  api: Api,
  except: readonly DocumentId[],
): Promise<{ readonly row: StoredDocument; readonly api: Api } | undefined> {
  if (api.oauth === undefined || api.internal || !api.active) return undefined
  const addressesOf = await readAddressesFor(parts)
  const addresses = addressesOf(api)
  const place = placesOf(api, addressOf(api, addresses), addresses)
  const { rows } = await parts.documents.list('api', { where: { place }, limit: MOST_PLACES })
  for (const row of [...rows, ...(await tagged(parts, api))]) {
    const other = except.includes(row.id) ? undefined : readable(row)
    if (other?.oauth === undefined || !other.active) continue
    // Of two at one place of one node one is served (`collides`).
    if (placeOf(other) === placeOf(api) && !areDisjointByTags(api.tags, other.tags)) continue
    if (isSameIssuer(api, other, addressesOf)) return { row, api: other }
  }
  return undefined
}

/** Authorization servers that nodes apart may have at paths with placeholders, which places do not tell. */
async function tagged({ documents }: IssuerParts, api: Api): Promise<StoredDocument[]> {
  if (api.tags === undefined || api.tags.length === 0) return []
  const { domain, head } = placeKeys(placeOf(api)!)
  const near: Where = domain !== '' ? { place_domain: domain } : head === '*' ? {} : { place_head: [head, '*'] }
  const { rows } = await documents.list('api', { where: { ...near, auth_type: 'oauth' }, limit: MOST_PLACES })
  return rows
}

function isSameIssuer(a: Api, b: Api, addressesOf: (api: Api) => Addresses): boolean {
  const [mine, theirs] = [addressesOf(a), addressesOf(b)]
  const [one, other] = [fixedIssuer(a, mine), fixedIssuer(b, theirs)]
  if (one !== undefined && other !== undefined) return one === other
  const [here, there] = [addressOf(a, mine), addressOf(b, theirs)]
  if (here === undefined || here !== there) return false
  // On one node a path without placeholders comes first.
  const [long, short] = [territoryOf(a), territoryOf(b)]
  return (
    areDisjointByTags(a.tags, b.tags) && long.segments.length === short.segments.length && pathsOverlap(long, short)
  )
}

/** The places at which another API can have the issuer: its own, with and without the host, below and above the path of an address. */
function placesOf(api: Api, address: string | undefined, { publicUrl, edges }: Addresses): string[] {
  const own = placeOf(api)!
  if (address === undefined) return [own]
  const { hostname } = new URL(address)
  const path = own.slice(own.indexOf(' ') + 1)
  const bases = [publicUrl, ...edges.map(({ endpoint }) => endpoint)].map((url) =>
    url === '' ? '' : trimTrailing(new URL(url).pathname.toLowerCase(), '/'),
  )
  const paths = bases.flatMap((base) => [
    trimTrailing(`${base}${path}`, '/') || '/',
    ...(`${path}/`.startsWith(`${base}/`) ? [path.slice(base.length) || '/'] : []),
  ])
  return [...new Set([own, ...[path, ...paths].flatMap((each) => [` ${each}`, `${hostname} ${each}`])])]
}
