import { prebuilt } from '../../../errors/fault.ts'
import type { Api } from '../../../model/apis/definition/api.ts'
import type { SchemeRules } from '../../../model/authentication/scheme-rules.ts'
import type { PeerCertificate } from '../../../wire/listen/peer-certificate.ts'
import type { AuthParts } from '../../authentication/auth-parts.ts'
import { flawOfDates } from '../../authentication/certificate-dates.ts'
import type { Exchange, Step, StepOutcome } from '../../server/exchange.ts'
import type { LiveSession } from '../../sessions/sessions.ts'
import { unasked } from './check-certificate.ts'
import { readCredential } from './read-credential.ts'

const UNKNOWN = prebuilt('key_unknown')

/**
 * Identifies a caller without a key by the client certificate that TLS verified possession of: the key made with its id in
 * `certificate`, while the certificate is valid. A request with a key is judged by the key, in `byKey`.
 */
export function authenticateCertificate(
  scheme: SchemeRules,
  { orgId }: Api,
  { sessions, certificateKeys }: AuthParts,
  byKey: Step,
): Step {
  const accept = (x: Exchange, certificate: PeerCertificate, session: LiveSession | undefined): StepOutcome => {
    if (session === undefined || session.unusable || !session.belongsTo(orgId)) return UNKNOWN
    if (session.evictAt !== 0 && session.evictAt <= x.wall) return UNKNOWN
    const flaw = flawOfDates(certificate, x.wall)
    if (flaw === undefined) x.session = session
    return flaw
  }
  return function authenticateCertificate(x) {
    if (x.skipAuthentication) return undefined
    const { peerCertificate } = x
    if (readCredential(scheme, x) !== '') return byKey(x)
    if (peerCertificate === '') return unasked(x) ?? byKey(x)
    const keyHash = certificateKeys.hashOf(orgId, peerCertificate.sha256)
    const session = sessions.findByHash(keyHash, x.snapshot!)
    return session instanceof Promise
      ? session.then((late) => accept(x, peerCertificate, late))
      : accept(x, peerCertificate, session)
  }
}
