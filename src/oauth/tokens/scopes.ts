import { fault } from '../../errors/fault.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import type { OAuthRules } from '../../model/oauth-clients/oauth-rules.ts'

/**
 * Reads the scope that a request asks for: each of it must be declared by the API's flows and, where the client is registered
 * with scopes, be one of those. An API that declares none takes any that is written as RFC 6749 section 3.3 asks: nearly every
 * client library sends one, and no operation can ask for it. Answers it without repetitions, separated by spaces; '' when none is
 * asked for: nothing is granted that nobody asked for.
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
    if (!mayAsk(rules, scope)) throw fault('oauth_invalid_scope', `${shown(scope)} is not a scope of the API`)
    if (own !== undefined && !own.has(scope))
      throw fault('oauth_invalid_scope', `${shown(scope)} is not a scope that the client is registered with`)
  }
  return [...scopes].join(' ')
}

/** True while all of a scope that was granted may still be asked for: neither the API nor the client has lost any of it. */
export function isStillGranted(
  granted: string,
  client: Pick<OAuthClient, 'scope'>,
  rules: Pick<OAuthRules, 'scopes'>,
): boolean {
  return granted === scopeLeft(granted, client, rules)
}

/** The part of a granted scope that may still be requested. */
export function scopeLeft(
  granted: string,
  client: Pick<OAuthClient, 'scope'>,
  rules: Pick<OAuthRules, 'scopes'>,
): string {
  const own = client.scope === undefined ? undefined : new Set(client.scope.split(' '))
  const left = granted.split(' ').filter((scope) => mayAsk(rules, scope) && own?.has(scope) !== false)
  return left.join(' ')
}

/** RFC 6749 section 3.3: `scope-token`. */
const TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/
const LONGEST = 1024
const LONGEST_SHOWN = 100

/** A scope as an answer may repeat it (RFC 6749 section 5.2). */
function shown(scope: string): string {
  return scope.length <= LONGEST_SHOWN && TOKEN.test(scope) ? scope : 'a part of scope'
}

function mayAsk({ scopes }: Pick<OAuthRules, 'scopes'>, scope: string): boolean {
  return scopes.size === 0 ? scope.length <= LONGEST && TOKEN.test(scope) : scopes.has(scope)
}
