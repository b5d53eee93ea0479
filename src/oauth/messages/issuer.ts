import type { Api } from '../../model/apis/definition/api.ts'
import { encodedPath, readablePath } from '../../model/patterns/readable-path.ts'
import { trimTrailing } from '../../model/text/trim-trailing.ts'

/** How a caller reached the gateway, or would. */
export interface Reached {
  readonly scheme: string
  /** Host and port that the caller used, by the headers of a trusted proxy if present. '' = unknown. */
  readonly authority: string
  /** Host of the request itself, in lower case. */
  readonly host: string
  /** Host and port of the request itself. */
  readonly hostAndPort: string
}

/**
 * Scheme and host under which clients reach an API, without a slash at the end: the installation's public address, else the
 * API's own domain, else as the request has it. `reached` is asked only where there is no public address.
 */
export function publicAddress(api: Pick<Api, 'domain'>, publicUrl: string, reached: () => Reached): string {
  if (publicUrl !== '') return trimTrailing(publicUrl, '/')
  const { scheme, authority, host, hostAndPort } = reached()
  if (api.domain === '') return `${scheme}://${authority || 'localhost'}`.toLowerCase()
  // The authority may name a port besides.
  return `${scheme}://${host === api.domain ? hostAndPort.toLowerCase() : api.domain}`
}

/**
 * The issuer of an API's authorization server (RFC 8414 section 2): `address` and listen path, without its last slash. `prefix` is
 * what of the request's path the listen path matched; it counts where that has placeholders. '' = not known.
 */
export function issuerAt(address: string, api: Pick<Api, 'listenPath'>, prefix: string): string {
  const path = api.listenPath.includes('{') && prefix !== '' ? prefix : encodedPath(readablePath(api.listenPath))
  return address + trimTrailing(path, '/')
}

/** True when the issuer of the API follows the host of the request, which its callers then choose. */
export function issuerIsOpen(api: Pick<Api, 'domain' | 'oauth'>, publicUrl: string): boolean {
  return api.oauth !== undefined && publicUrl === '' && api.domain === ''
}
