import { type Addresses, addressesOf, addressOf } from '../../nodes/addresses.ts'
import { encodedPath, readablePath } from '../../patterns/readable-path.ts'
import type { Api } from './api.ts'
import { parsePathTemplate } from './template.ts'

/** How a caller reached the gateway. */
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
 * Scheme and host of a request, for an API whose address no setting tells: its own domain in place of another host. Without a slash at
 * the end.
 */
export function reachedAddress(api: Pick<Api, 'domain'>, { scheme, authority, host, hostAndPort }: Reached): string {
  if (api.domain === '') return `${scheme}://${authority || 'localhost'}`.toLowerCase()
  // The authority may name a port besides.
  return `${scheme}://${host === api.domain ? hostAndPort.toLowerCase() : api.domain}`
}

/** The path at which clients reach an API, as URLs spell it; placeholders of the listen path stay in braces. */
export function urlPath(listenPath: string): string {
  const pieces = parsePathTemplate(listenPath).map((segment) =>
    typeof segment === 'string' ? encodedPath(readablePath(segment)) : `{${segment.name}}`,
  )
  return `/${pieces.join('/')}${pieces.length > 0 && listenPath.endsWith('/') ? '/' : ''}`
}

/**
 * The issuer of an API's authorization server (RFC 8414 section 2): `address` and listen path, without its last slash. `prefix` is
 * what of a request's path the listen path matched: its segments replace placeholders.
 */
export function issuerAt(address: string, { listenPath }: Pick<Api, 'listenPath'>, prefix: string): string {
  const matched = prefix.split('/').slice(1)
  const pieces = parsePathTemplate(listenPath).map((segment, at) => {
    const word = typeof segment === 'string' ? segment : (matched[at] ?? `{${segment.name}}`)
    return urlSegment(word)
  })
  return address + pieces.join('')
}

/**
 * The address of what is at a path of a request, without its last slash, as URLs spell it. Unlike a listen path, that may be empty, and hold
 * anything where a placeholder is.
 */
export function addressAt(address: string, path: string): string {
  const words = path.split('/').slice(1)
  if (words.at(-1) === '') words.pop()
  return address + words.map(urlSegment).join('')
}

function urlSegment(word: string): string {
  return `/${encodedPath(readablePath(word))}`
}

/** Every address of an API that settings tell, as resource indicators name it (RFC 8707): of each edge endpoint that serves it. */
export function resourcesOf(
  api: Pick<Api, 'listenPath' | 'domain' | 'tags'>,
  addresses: Addresses,
  prefix: string,
): string[] {
  return addressesOf(api, addresses).map((address) => issuerAt(address, api, prefix))
}

/**
 * The issuer of an API's authorization server where it is the same for every request and on every node; undefined where a request
 * decides it: by its Host, as no setting tells the address, or by placeholders of the listen path.
 */
export function fixedIssuer(
  api: Pick<Api, 'listenPath' | 'domain' | 'tags'>,
  addresses: Addresses,
): string | undefined {
  const address = addressOf(api, addresses)
  if (address === undefined || parsePathTemplate(api.listenPath).some((segment) => typeof segment !== 'string'))
    return undefined
  return issuerAt(address, api, '')
}
