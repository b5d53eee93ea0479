import type { Fault } from '../../errors/fault.ts'
import { publicText } from '../../errors/render.ts'
import type { BindingRule } from '../../model/oauth-clients/oauth-rules.ts'
import { JWT_ALGORITHMS } from '../../oauth/signing-keys/jwt.ts'
import type { Exchange } from '../server/exchange.ts'

/** The scheme before a token; '' = none. */
export type SchemeWord = 'bearer' | 'dpop' | ''

const REALM = 'realm="oauth"'
const ALGS = `algs="${JWT_ALGORITHMS.join(' ')}"`

/**
 * Puts the challenges of a refusal on the answer (RFC 6750 section 3, RFC 9449 section 7.1) and answers the refusal: what the API
 * takes, and at the scheme that was tried what was wrong. Without a credential there is no error to name.
 * The metadata of the API say where its tokens come from (RFC 9728 section 5.1).
 * `scope`: what the operation needs, separated by spaces, where the token lacks it; without a usable token it is named as well.
 */
export function challenged(x: Exchange, refusal: Fault, tried: SchemeWord, dpop: BindingRule, scope = ''): Fault {
  const needed = scope === '' ? scopesNeeded(x) : scope
  const error = errorOf(refusal) + (needed === '' ? '' : `, scope="${needed}"`)
  const address = x.chain?.metadataAddress?.(x)
  const metadata = address === undefined ? '' : `, resource_metadata="${address}"`
  const takesBearer = dpop !== 'required'
  const atDpop = tried === 'dpop' || !takesBearer
  if (takesBearer) x.answerExtra += `WWW-Authenticate: Bearer ${REALM}${atDpop ? '' : error}${metadata}\r\n`
  if (atDpop || dpop !== 'off') x.answerExtra += `WWW-Authenticate: DPoP ${ALGS}${atDpop ? error : ''}${metadata}\r\n`
  return refusal
}

/** The scopes that the operation, else the API, asks tokens of its own authorization server for; '' = none. */
function scopesNeeded({ chain, operation }: Exchange): string {
  if (chain?.api.oauth === undefined) return ''
  for (const asked of operation?.scopes ?? [undefined]) {
    const [first] = asked ?? chain.api.auth?.scopes ?? []
    if (first !== undefined) return first.join(' ')
  }
  return ''
}

function errorOf(refusal: Fault): string {
  const { oauth } = refusal.entry
  if (oauth === undefined) return ''
  const description = publicText(refusal).replace(/["\\]/g, "'")
  return `, error="${oauth}", error_description="${description}"`
}
