import { type Fault, prebuilt } from '../../../errors/fault.ts'
import type { Api } from '../../../model/apis/definition/api.ts'
import type { SchemeRules } from '../../../model/authentication/scheme.ts'
import type { Millis } from '../../../model/time/clock.ts'
import type { PeerCertificate } from '../../../wire/listen/peer-certificate.ts'
import type { AuthParts } from '../../authentication/auth-parts.ts'
import { flawOfDates, flawOfPath } from '../../authentication/authorities.ts'
import type { Exchange, Step, StepOutcome } from '../../server/exchange.ts'
import type { LiveSession } from '../../sessions/sessions.ts'
import { unasked } from './check-certificate.ts'
import { readCredential } from './read-credential.ts'

const UNKNOWN = prebuilt('key_unknown')

/**
 * Identifies a caller without a key by the client certificate that TLS verified possession of: the key made with its id in
 * `certificate`, else the one made with the id of a CA that issued it, while both are valid. A request with a key is judged by the key, in `byKey`.
 */
export function authenticateCertificate(
  scheme: SchemeRules,
  { orgId }: Api,
  { sessions, certificateKeys, authorities }: AuthParts,
  byKey: Step,
): Step {
  const sessionOf = (x: Exchange, sha256: string) =>
    sessions.findByHash(certificateKeys.hashOf(orgId, sha256), x.snapshot!)
  const accept = (
    x: Exchange,
    session: LiveSession | undefined,
    flawOf: (wall: Millis) => Fault | undefined,
  ): StepOutcome => {
    if (session === undefined || session.unusable || !session.belongsTo(orgId)) return UNKNOWN
    if (session.evictAt !== 0 && session.evictAt <= x.wall) return UNKNOWN
    const flaw = flawOf(x.wall)
    if (flaw === undefined) x.session = session
    return flaw
  }
  const acceptSigned = async (x: Exchange, certificate: PeerCertificate): Promise<StepOutcome> => {
    let flaw: StepOutcome = UNKNOWN
    for (const path of (await authorities.of(orgId)).pathsOf(certificate)) {
      const refusal = accept(x, await sessionOf(x, path.authority), (wall) => flawOfPath(path, wall))
      if (refusal === undefined) return undefined
      // That a certificate has expired says more.
      if (refusal !== UNKNOWN) flaw = refusal
    }
    return flaw
  }
  const judge = (x: Exchange, certificate: PeerCertificate, session: LiveSession | undefined) =>
    session === undefined ? acceptSigned(x, certificate) : accept(x, session, (wall) => flawOfDates(certificate, wall))
  return function authenticateCertificate(x) {
    if (x.skipAuthentication) return undefined
    const { peerCertificate } = x
    if (readCredential(scheme, x) !== '') return byKey(x)
    if (peerCertificate === '') return unasked(x) ?? byKey(x)
    const session = sessionOf(x, peerCertificate.sha256)
    return session instanceof Promise
      ? session.then((late) => judge(x, peerCertificate, late))
      : judge(x, peerCertificate, session)
  }
}
