import type { Api } from '../../model/apis/definition/api.ts'
import { issuerAt, type Reached, reachedAddress } from '../../model/apis/definition/issuer.ts'
import { type Addresses, addressesOf, addressOf } from '../../model/nodes/addresses.ts'
import { FIELD } from '../../wire/http1/fields.ts'
import type { Exchange } from '../server/exchange.ts'

/**
 * The issuer of an API's authorization server. `prefix` is the part of the request's path that the listen path matched. Without an address in
 * the settings it follows the request; what a trusted proxy says of scheme and host counts as the request's.
 */
export function issuerOf(x: Exchange, api: Api, addresses: Addresses, prefix: string): string {
  return issuerAt(addressOf(api, addresses) ?? reachedAddress(api, reachedBy(x)), api, prefix)
}

/**
 * Scheme and host under which the client of a request reaches an API, without a slash at the end: of several edge endpoints the one
 * that the request names.
 */
export function publicAddressOf(x: Exchange, api: Api, addresses: Addresses): string {
  const known = addressesOf(api, addresses)
  if (known.length === 0) return reachedAddress(api, reachedBy(x))
  return known.find((address) => new URL(address).hostname === x.host) ?? known[0]!
}

function reachedBy(x: Exchange): Reached {
  return {
    scheme: proxied(x, FIELD.xForwardedProto) ?? (x.secure ? 'https' : 'http'),
    authority: proxied(x, FIELD.xForwardedHost) ?? x.authority,
    host: x.host,
    hostAndPort: x.authority,
  }
}

const SCHEME_OR_HOST = /^[a-z0-9.\-:[\]]+$/i

/** The first value that a trusted proxy gives; undefined from anybody else. */
function proxied(x: Exchange, field: number): string | undefined {
  if (!x.peerTrusted) return undefined
  const value = x.request.known(field)?.split(',')[0]?.trim()
  return value !== undefined && SCHEME_OR_HOST.test(value) ? value : undefined
}
