import { isIP } from 'node:net'
import { encodedPath, readablePath } from '../../patterns/readable-path.ts'
import { foldLetters, foldPath } from '../../text/fold.ts'
import { parsePathTemplate, placeholderExpression } from './template.ts'

/** A segment of a listen path, ready to be compared: a literal in the normal form of requests, or a placeholder; without `pattern` it takes any segment. */
export type TerritorySegment = string | { readonly pattern: RegExp | undefined }

/** The requests that an API can receive: those at its domain, at or below its listen path. */
export interface Territory {
  /** Lower case; '' = every host. */
  readonly domain: string
  readonly segments: readonly TerritorySegment[]
  readonly ignoreCase: boolean
}

/** Host names that the gateway itself is reached by: no organisation owns them. */
export type SharedHosts = ReadonlySet<string>

/** @throws Fault `definition_invalid` when the listen path is none */
export function territoryOf(api: {
  readonly listenPath: string
  readonly domain: string
  readonly ignoreCase: boolean
}): Territory {
  const segments = parsePathTemplate(api.listenPath).map((segment): TerritorySegment => {
    if (typeof segment === 'string') return encodedPath(segment)
    return {
      pattern: segment.pattern === undefined ? undefined : placeholderExpression(segment.pattern, api.ignoreCase),
    }
  })
  return { domain: api.domain, segments, ignoreCase: api.ignoreCase }
}

/** The hosts of URLs such as `gateway.public_url`; what is no URL is left out. */
export function sharedHosts(urls: readonly string[]): SharedHosts {
  return new Set(urls.map((url) => URL.parse(url)?.hostname ?? '').filter((host) => host !== ''))
}

/**
 * True where several organisations have listen paths side by side: at APIs without a domain, at the gateway's own host names, and at
 * names that nobody can own (IP addresses, names without a dot).
 */
export function isShared(domain: string, hosts: SharedHosts): boolean {
  return hosts.has(domain) || isUnownable(domain)
}

/** True for '' as well. */
export function isUnownable(domain: string): boolean {
  return !domain.includes('.') || namesAddress(domain) || domain.endsWith('.localhost')
}

/** A host whose last label is a number is an IPv4 address in some spelling, or none (WHATWG URL, "ends in a number"). */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[\da-f]*)\.?$/i

/** True for an IP address in any spelling that URLs know. */
export function namesAddress(domain: string): boolean {
  return isIP(domain) !== 0 || ENDS_IN_NUMBER.test(domain)
}

/** Why a domain that is a host name by its characters cannot be that of an API; undefined when it can. */
export function domainFault(domain: string): string | undefined {
  if (!ENDS_IN_NUMBER.test(domain) || isIP(domain) === 4) return undefined
  return 'ends in a number, so it must be an IPv4 address of four decimal numbers'
}

/**
 * True unless no request can reach both. A custom domain is owned as a whole; on shared hosts two listen paths overlap when one can
 * match at or below the other, whichever is the longer.
 */
export function territoriesOverlap(a: Territory, b: Territory, hosts: SharedHosts): boolean {
  if (!isShared(a.domain, hosts) || !isShared(b.domain, hosts)) return a.domain === b.domain
  return (a.domain === b.domain || a.domain === '' || b.domain === '') && pathsOverlap(a, b)
}

/** False for `/` and for listen paths of placeholders that take any segment: what is named comes before them. */
export function isSelective({ segments }: Territory): boolean {
  return segments.some((segment) => typeof segment === 'string' || segment.pattern !== undefined)
}

/** True unless it is certain that no path lies at or below both listen paths. */
export function pathsOverlap(a: Territory, b: Territory): boolean {
  const length = Math.min(a.segments.length, b.segments.length)
  for (let i = 0; i < length; i++) if (!segmentsMeet(a, a.segments[i]!, b, b.segments[i]!)) return false
  return true
}

function segmentsMeet(a: Territory, one: TerritorySegment, b: Territory, other: TerritorySegment): boolean {
  if (typeof one === 'string') {
    if (typeof other !== 'string') return takes(b, other, a, one)
    return a.ignoreCase || b.ignoreCase ? foldPath(one) === foldPath(other) : one === other
  }
  // Whether two patterns have a word in common is not decided: they count as if they had.
  return typeof other !== 'string' || takes(a, one, b, other)
}

/** True when a placeholder may take a literal. The router tests patterns on readable words, of APIs that ignore case on folded ones. */
function takes(
  { ignoreCase }: Territory,
  { pattern }: Exclude<TerritorySegment, string>,
  literal: Territory,
  word: string,
): boolean {
  if (pattern === undefined) return true
  const readable = readablePath(word)
  if (ignoreCase) return pattern.test(foldLetters(readable))
  return literal.ignoreCase || pattern.test(readable)
}
