/** Name of the session cookie: clients know it. */
export const SESSION_COOKIE = 'authorisation'
/** The same for a developer's session at the portal. */
export const PORTAL_COOKIE = 'portal_session'

const VALUE = /^[A-Za-z0-9_-]{43}$/

/**
 * The value of the session cookie in a `Cookie` field (RFC 6265 section 5.4); undefined when there is none that we could have
 * set, and when there are two: a neighbour on the same host may have set one, and the order does not tell whose it is.
 */
export function readSessionCookie(field: string | undefined, name = SESSION_COOKIE): string | undefined {
  const found = field === undefined ? [] : readSessionCookies(field, name)
  return found.length === 1 ? found[0] : undefined
}

/** All different values of the session cookie in a `Cookie` field that we could have set. */
export function readSessionCookies(field: string, name = SESSION_COOKIE): string[] {
  const found = new Set<string>()
  for (const pair of field.split(';')) {
    const at = pair.indexOf('=')
    if (at === -1 || pair.slice(0, at).trim() !== name) continue
    const value = pair.slice(at + 1).trim()
    if (VALUE.test(value)) found.add(value)
  }
  return [...found]
}

/** `Set-Cookie` of a session that lives `lifeS` seconds at most. */
export function sessionCookie(value: string, lifeS: number, secure: boolean, name = SESSION_COOKIE): string {
  return `${name}=${value}; Path=/; Max-Age=${lifeS}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
}

/** `Set-Cookie` that makes the browser forget its session. */
export function endedCookie(secure: boolean, name = SESSION_COOKIE): string {
  return sessionCookie('', 0, secure, name)
}
