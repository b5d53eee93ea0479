import { prebuilt } from '../../errors/fault.ts'
import type { OAuthApi } from '../../oauth/parts.ts'
import type { Step } from '../exchange.ts'
import { challenged } from '../oauth/challenge.ts'

const LACKING = prebuilt('scope_missing')

/** Alternatives of scopes, one of which must be held in full; none = nothing is asked for. */
type Alternatives = readonly (readonly string[])[]

/**
 * Refuses a token without the scopes that the operation needs, or where the operation names none the API (RFC 6750 section 3.1);
 * the challenge names the first alternative. Left out when nothing of the API names scopes.
 */
export function checkScopes(
  api: OAuthApi,
  byDefault: Alternatives | undefined,
  perOperation: boolean,
): Step | undefined {
  if (byDefault === undefined && !perOperation) return undefined
  return function checkScopes(x) {
    const token = x.session?.token
    if (token === undefined) return undefined
    const needed = x.operation?.scopes ?? byDefault
    if (needed === undefined || needed.length === 0) return undefined
    for (const scopes of needed) if (scopes.every((scope) => token.scopes.has(scope))) return undefined
    return challenged(
      x,
      LACKING,
      token.confirmation.jkt === '' ? 'bearer' : 'dpop',
      api.oauth.dpop,
      needed[0]!.join(' '),
    )
  }
}
