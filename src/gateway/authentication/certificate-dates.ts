import { type Fault, prebuilt } from '../../errors/fault.ts'
import type { Millis } from '../../model/time/clock.ts'
import type { PeerCertificate } from '../../wire/listen/peer-certificate.ts'

const EARLY = prebuilt('client_certificate_early')
const EXPIRED = prebuilt('client_certificate_expired')

/** Why a client certificate is not valid at a time; undefined when it is. A connection may outlive the certificate that it began with. */
export function flawOfDates(
  { validFrom, validUntil }: Pick<PeerCertificate, 'validFrom' | 'validUntil'>,
  wall: Millis,
): Fault | undefined {
  // Dates that cannot be read are no dates.
  if (!(validFrom <= wall)) return EARLY
  return wall <= validUntil ? undefined : EXPIRED
}
