import type { Api } from '../../model/apis/definition/api.ts'
import { publicAddress as addressOf, issuerAt, type Reached } from '../../oauth/messages/issuer.ts'
import { FIELD } from '../../wire/http1/fields.ts'
import type { Exchange } from '../server/exchange.ts'

/**
 * Scheme and host under which clients reach an API, without a slash at the end. What a trusted proxy says of scheme and host counts
 * as the request's.
 */
export function publicAddressOf(x: Exchange, api: Api, publicUrl: string): string {
  return addressOf(api, publicUrl, () => reachedBy(x))
}

/** The issuer of an API's authorization server. `prefix` is what of the request's path the listen path matched. */
export function issuerOf(x: Exchange, api: Api, publicUrl: string, prefix: string): string {
  return issuerAt(publicAddressOf(x, api, publicUrl), api, prefix)
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
