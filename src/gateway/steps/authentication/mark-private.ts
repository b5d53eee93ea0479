import type { AuthRules } from '../../../model/apis/definition/api.ts'
import { alternativesOf } from '../../authentication/credential-places.ts'
import type { Step } from '../../server/exchange.ts'
import { singleParameter } from './read-credential.ts'

const PRIVATE = 'Cache-Control: private\r\n'

/**
 * Keeps answers to a credential in the query out of shared caches (RFC 6750 section 2.3), beside whatever the upstream says; undefined
 * where no scheme reads the query.
 */
export function markPrivate(auth: AuthRules): Step | undefined {
  const names = alternativesOf(auth).flatMap((schemes) => schemes.flatMap(({ query }) => query ?? []))
  if (names.length === 0) return undefined
  return function markPrivate(x) {
    if (x.hasQuery && names.some((name) => singleParameter(x.query, name) !== '')) x.answerExtra += PRIVATE
    return undefined
  }
}
