const MAX_LENGTH = 2048
/** Visible ASCII without what RFC 3986 keeps out of an address. Browsers read `\` as `/`. */
const ADDRESS = /^[\x21-\x7e]+$/
const FORBIDDEN = /["<>\\^`{|}]/
const BROKEN_PERCENT = /%(?![0-9A-Fa-f]{2})/
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/
/** A domain name turned round, as RFC 8252 section 7.1 asks: that dot keeps out `javascript:`, `data:` and their like. */
const PRIVATE_SCHEME = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+:\/{0,2}[^/?#@*]+(?:[/?]|$)/
const AUTHORITY = /^[a-z]+:\/\/([^/?#]*)/
const HOST_AND_PORT = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?$/
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:[/?]|$)/i
/** Address, port and the rest of a URI that only the user's own machine answers. */
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::([1-9][0-9]{0,4}))?([/?].*)?$/
/** Schemes of apps from before RFC 8252, `myapp://callback`. */
const APP_SCHEME = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@*]+(?:[/?]|$)/
/** Schemes with a special meaning in browsers and systems: the rest may run, or be read from the disk. */
const TAKEN_SCHEMES = new Set(
  'about blob chrome chrome-extension data file filesystem ftp ftps intent jar javascript ldap mailto moz-extension resource sftp sms ssh tel vbscript view-source ws wss'.split(
    ' ',
  ),
)
/** Several addresses in one text, as some products keep them. */
const SECOND_ADDRESS = /[;,]\s*[A-Za-z][A-Za-z0-9+.-]*:\/\//

/**
 * True for a redirect URI that a client may register by itself: `https`, `http` of a loopback address, or a private-use scheme
 * with a dot in it; without fragment, user, wildcard host or dot segments (RFC 6749 section 3.1.2, RFC 8252 sections 7 and 8.4).
 */
export function isRegistrable(uri: string): boolean {
  if (!isClean(uri)) return false
  const scheme = SCHEME.exec(uri)![1]
  if (scheme === 'https') return hasPlainHost(uri)
  if (scheme === 'http') return isLoopback(uri)
  return PRIVATE_SCHEME.test(uri)
}

/**
 * True for a redirect URI that an administrator may register: besides what `isRegistrable` takes, plain `http` of any host and
 * schemes of apps without a dot. Clients that came from elsewhere have both.
 */
export function isRedirectUri(uri: string): boolean {
  if (isRegistrable(uri)) return true
  if (!isClean(uri)) return false
  const scheme = SCHEME.exec(uri)![1]!
  if (scheme === 'http') return hasPlainHost(uri)
  return scheme !== 'https' && !TAKEN_SCHEMES.has(scheme) && APP_SCHEME.test(uri)
}

/**
 * Why a text is no redirect URI that may be registered; undefined when it is one. `byItself`: as `isRegistrable`, else as `isRedirectUri`.
 */
export function redirectFlaw(uri: string, byItself: boolean): string | undefined {
  if (byItself ? isRegistrable(uri) : isRedirectUri(uri)) return undefined
  if (uri.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`
  const strange = /[^\x21-\x7e]|["<>\\^`{|}]/u.exec(uri)?.[0]
  if (strange !== undefined) return `holds ${JSON.stringify(strange)}, which must be percent-encoded`
  if (uri.includes('#')) return 'has a fragment'
  if (BROKEN_PERCENT.test(uri)) return 'holds a % without two hexadecimal digits'
  if (DOT_SEGMENT.test(uri)) return 'holds a path segment . or ..'
  const scheme = SCHEME.exec(uri)?.[1]
  if (scheme === undefined) return 'must be absolute: it has no scheme'
  if (scheme !== scheme.toLowerCase()) return 'must have its scheme in lower case'
  if (TAKEN_SCHEMES.has(scheme)) return `must not use the scheme ${scheme}`
  const authority = AUTHORITY.exec(uri)?.[1] ?? ''
  if (authority.includes('@')) return 'names a user'
  if (authority.includes('*')) return 'has a wildcard as its host'
  if (!/^https?$/.test(scheme))
    return byItself ? 'must use a private-use scheme with a dot, such as com.example.app' : NO_URL
  if (authority === '' || !HOST_AND_PORT.test(authority) || !URL.canParse(uri)) return 'has no valid host and port'
  return byItself ? 'must use https: http is for loopback addresses only' : NO_URL
}

const NO_URL = 'is no URL that a browser can be sent to'

/** True for `http` on 127.0.0.1, ::1 or localhost, with or without a port. */
export function isLoopback(uri: string): boolean {
  return LOOPBACK.test(uri) && URL.canParse(uri)
}

/** True when both are `http` of one loopback address and differ in nothing but the port (RFC 8252 section 7.3). */
export function differsInLoopbackPort(registered: string, asked: string): boolean {
  const own = LOOPBACK.exec(registered)
  if (own === null) return false
  const given = LOOPBACK.exec(asked)
  if (given === null || Number(given[2] ?? 80) > 65_535) return false
  return own[1] === given[1] && own[3] === given[3]
}

/** True for a text that holds several addresses, parted by `;` or `,`: it would match none of them. */
export function holdsSeveral(text: string): boolean {
  return SECOND_ADDRESS.test(text)
}

function isClean(uri: string): boolean {
  if (uri.length > MAX_LENGTH || !ADDRESS.test(uri) || FORBIDDEN.test(uri) || uri.includes('#')) return false
  if (BROKEN_PERCENT.test(uri) || DOT_SEGMENT.test(uri)) return false
  return SCHEME.test(uri) && URL.canParse(uri)
}

function hasPlainHost(uri: string): boolean {
  return HOST_AND_PORT.test(AUTHORITY.exec(uri)?.[1] ?? '')
}
