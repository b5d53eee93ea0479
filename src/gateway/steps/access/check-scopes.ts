import { prebuilt } from '../../../errors/fault.ts'
import type { OAuthApi } from '../../../oauth/endpoints/parts.ts'
import { challenged } from '../../oauth/challenge.ts'
import type { Step } from '../../server/exchange.ts'

const LACKING = prebuilt('scope_missing')

/** Alternatives of scopes, one of which must be held in full; none = nothing is asked for. */
type Alternatives = readonly (readonly string[])[]

const THOSE_OF_THE_API: readonly (Alternatives | undefined)[] = [undefined]

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
    for (const asked of x.operation?.scopes ?? THOSE_OF_THE_API) {
      const needed = asked ?? byDefault
      if (needed === undefined || needed.length === 0) continue
      if (needed.some((scopes) => scopes.every((scope) => token.scopes.has(scope)))) continue
      return challenged(
        x,
        LACKING,
        token.confirmation.jkt === '' ? 'bearer' : 'dpop',
        api.oauth.dpop,
        needed[0]!.join(' '),
      )
    }
    return undefined
  }
}
