import { type Fault, prebuilt } from '../../errors/fault.ts'
import type { Api } from '../../model/apis/definition/api.ts'
import type { Addresses } from '../../model/nodes/addresses.ts'
import type { BindingRule } from '../../model/oauth-clients/oauth-rules.ts'
import type { Confirmation } from '../../oauth/proofs/confirmation.ts'
import { checkTokenProof } from '../../oauth/proofs/dpop.ts'
import { provesCertificate } from '../../oauth/proofs/mtls.ts'
import type { ProofParts } from '../../oauth/proofs/replay.ts'
import type { OwnKeys } from '../../oauth/signing-keys/own-keys.ts'
import { flawOfDates } from '../authentication/authorities.ts'
import type { Exchange, StepOutcome } from '../server/exchange.ts'
import { challenged, type SchemeWord } from './challenge.ts'
import { flawOfAudience } from './check-audience.ts'
import { publicAddressOf } from './issuer.ts'
import type { LiveToken } from './live-token.ts'

const UNPROVED = prebuilt('token_proof_missing')

/** The dependencies of token checks. */
export interface BindingParts extends ProofParts {
  readonly addresses: { readonly current: Addresses }
  readonly ownKeys: OwnKeys
}

/** A token as a request presents it. */
export interface BoundToken {
  readonly confirmation: Confirmation
  readonly text: string
  readonly word: SchemeWord
  /** A token of ours as it is stored. */
  readonly own?: LiveToken | undefined
}

/**
 * Checks that the sender holds what a token is bound to: the key of a DPoP proof (RFC 9449 section 7), the certificate of the
 * connection (RFC 8705 section 3), both where it names both. A token bound to a key is not a bearer token, and an unbound one cannot be
 * proved: either is refused under the other's scheme. What the OAuth method of the API requires of every token (`required`) is checked
 * here too. Every verification of a token calls this.
 */
function checkBinding(
  parts: BindingParts,
  x: Exchange,
  api: Api,
  { confirmation, text, word }: BoundToken,
): Fault | undefined | Promise<Fault | undefined> {
  const { jkt, x5t, unprovable } = confirmation
  if (unprovable) return UNPROVED
  if (x5t !== '') {
    const { peerCertificate } = x
    if (peerCertificate === '' || !provesCertificate(peerCertificate.sha256, x5t)) return UNPROVED
    const flaw = flawOfDates(peerCertificate, x.wall)
    if (flaw !== undefined) return flaw
  }
  if (x5t === '' && api.oauth?.mutualTls === 'required') return UNPROVED
  if (jkt === '') return word === 'dpop' || api.oauth?.dpop === 'required' ? UNPROVED : undefined
  if (word !== 'dpop') return UNPROVED
  const proofs = x.request.all('dpop')
  // A look at a request must not use its proof up.
  if (x.dry) return proofs.length === 0 ? UNPROVED : undefined
  // Another method, or the API that the request came in by, has used the proof up for this same token.
  const place = `${jkt} ${text}`
  if (x.provedToken === place) return undefined
  const url = publicAddressOf(x, api, parts.addresses.current) + x.sentPath
  const checked = checkTokenProof(parts, { proofs, method: x.method, url, token: text, jkt, apiId: api.apiId })
  return checked.then((refusal) => {
    if (refusal === undefined) x.provedToken = place
    return refusal
  })
}

/** True when the OAuth method of an API takes bound tokens only. */
export function requiresBinding({ oauth }: Api): boolean {
  return oauth?.dpop === 'required' || oauth?.mutualTls === 'required'
}

/**
 * Runs `admit` once it is sure that a token is for this API and that its binding is proved, else answers the refusal with its challenge: at the scheme that would have been
 * right. `dpop`: what the challenge says of DPoP where it was not tried.
 */
export function admitBound(
  parts: BindingParts,
  x: Exchange,
  api: Api,
  token: BoundToken,
  { dpop, admit }: { readonly dpop: BindingRule; readonly admit: () => StepOutcome },
): StepOutcome | Promise<StepOutcome> {
  const { confirmation, word } = token
  const settle = (refusal: Fault | undefined): StepOutcome =>
    refusal === undefined ? admit() : challenged(x, refusal, confirmation.jkt === '' ? word : 'dpop', dpop)
  const elsewhere = flawOfAudience(parts.addresses.current, x, api, token.own)
  const checked = elsewhere ?? checkBinding(parts, x, api, token)
  return checked instanceof Promise ? checked.then(settle) : settle(checked)
}
