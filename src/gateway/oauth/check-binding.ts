import { type Fault, prebuilt } from '../../errors/fault.ts'
import type { Api } from '../../model/api.ts'
import { checkTokenProof } from '../../oauth/dpop.ts'
import { provesCertificate } from '../../oauth/mtls.ts'
import type { ProofParts } from '../../oauth/replay.ts'
import { flawOfDates } from '../auth/certificate-dates.ts'
import type { Exchange } from '../exchange.ts'
import type { SchemeWord } from './challenge.ts'
import { publicAddress } from './issuer.ts'
import type { LiveToken } from './live-token.ts'

const UNPROVED = prebuilt('token_proof_missing')

/** What proofs of possession are checked with. */
export interface BindingParts extends ProofParts {
  /** `gateway.public_url`; '' = not set. */
  readonly publicUrl: string
}

/**
 * Checks that whoever sends a token holds what it is bound to: the key of a DPoP proof (RFC 9449 section 7), the certificate of
 * the connection (RFC 8705 section 3). A bound token is no bearer token, and one that is not bound cannot be proved: either under
 * the other's scheme word is refused. What the API asks of every token (`required`) is asked here too.
 */
export function checkBinding(
  parts: BindingParts,
  x: Exchange,
  api: Api,
  presented: { readonly token: LiveToken; readonly text: string; readonly word: SchemeWord },
): Fault | undefined | Promise<Fault | undefined> {
  const { token, text, word } = presented
  if (token.x5t !== '') {
    const { peerCertificate } = x
    if (peerCertificate === '' || !provesCertificate(peerCertificate.sha256, token.x5t)) return UNPROVED
    const flaw = flawOfDates(peerCertificate, x.wall)
    if (flaw !== undefined) return flaw
  }
  if (token.x5t === '' && api.oauth?.mutualTls === 'required') return UNPROVED
  if (token.jkt === '') return word === 'dpop' || api.oauth?.dpop === 'required' ? UNPROVED : undefined
  if (word === 'bearer') return UNPROVED
  const proofs = x.request.all('dpop')
  // A look at a request must not use its proof up.
  if (x.dry) return proofs.length === 0 ? UNPROVED : undefined
  const url = publicAddress(x, api, parts.publicUrl) + x.path
  return checkTokenProof(parts, { proofs, method: x.method, url, token: text, jkt: token.jkt, apiId: api.apiId })
}
