import { fault } from '../../errors/fault.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { differsInLoopbackPort } from '../../model/oauth-clients/redirect-uri.ts'

/**
 * Answers the redirect URI of a request: the one asked for, where it is one of the client's letter by letter, or differs from
 * it in the port of a loopback address only (RFC 8252 section 7.3); the only registered one when none is asked for.
 * @throws Fault `oauth_invalid_request` when it is another, or none is asked for and the client has none or several
 */
export function redirectOf(client: Pick<OAuthClient, 'redirect_uris'>, asked: string | undefined): string {
  const registered = client.redirect_uris
  if (registered.length === 0) throw fault('oauth_invalid_request', 'the client has no redirect URI')
  if (asked === undefined || asked === '') {
    if (registered.length > 1)
      throw fault('oauth_invalid_request', 'redirect_uri is missing, and the client has several')
    return registered[0]!
  }
  if (isRedirectOf(client, asked)) return asked
  throw fault('oauth_invalid_request', 'redirect_uri is not one of the client')
}

/** True for a redirect URI of the client, letter by letter but for the port of a loopback address. */
export function isRedirectOf(client: Pick<OAuthClient, 'redirect_uris'>, uri: string): boolean {
  return registeredAs(client, uri) !== undefined
}

/** Since when the client has a redirect URI: the mark of its registration; '' = from the beginning, undefined = it is not registered. */
export function sinceOf(
  client: Pick<OAuthClient, 'redirect_uris' | 'redirect_since'>,
  uri: string,
): string | undefined {
  const registered = registeredAs(client, uri)
  if (registered === undefined) return undefined
  const { redirect_since: since = {} } = client
  return Object.hasOwn(since, registered) ? since[registered] : ''
}

function registeredAs({ redirect_uris: registered }: Pick<OAuthClient, 'redirect_uris'>, uri: string) {
  return registered.includes(uri) ? uri : registered.find((each) => differsInLoopbackPort(each, uri))
}
