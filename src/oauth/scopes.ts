import { fault } from '../errors/fault.ts'
import type { OAuthClient } from '../model/oauth-client.ts'
import type { OAuthRules } from '../model/oauth-rules.ts'

/**
 * Reads the scope that a request asks for: each of it must be declared by the API's flows and, where the client is registered
 * with scopes, be one of those; what is not written as RFC 6749 section 3.3 asks is not declared. Answers it without repetitions, separated by spaces; '' when none is asked for: nothing is
 * granted that nobody asked for (RFC 6749 section 3.3).
 * @throws Fault `oauth_invalid_scope`
 */
export function readScope(
  asked: string | undefined,
  client: Pick<OAuthClient, 'scope'>,
  rules: Pick<OAuthRules, 'scopes'>,
): string {
  if (asked === undefined || asked === '') return ''
  const own = client.scope === undefined ? undefined : new Set(client.scope.split(' '))
  const scopes = new Set(asked.split(' '))
  for (const scope of scopes) {
    if (!rules.scopes.has(scope)) throw fault('oauth_invalid_scope')
    if (own !== undefined && !own.has(scope)) throw fault('oauth_invalid_scope')
  }
  return [...scopes].join(' ')
}
