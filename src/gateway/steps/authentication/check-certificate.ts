import { type Fault, prebuilt } from '../../../errors/fault.ts'
import type { Api } from '../../../model/apis/definition/api.ts'
import { type AuthorityStore, flawOfListed } from '../../authentication/authorities.ts'
import type { Exchange, Step } from '../../server/exchange.ts'

const REQUIRED = prebuilt('client_certificate_required')
const MISDIRECTED = prebuilt('connection_misdirected')

/**
 * Lets in only connections that proved possession of a listed client certificate (SHA-256, with or without the organisation in front), or
 * of one that a listed CA issued, which is valid at the time of the request.
 */
export function checkCertificate(
  { clientCertificates: rules, orgId }: Pick<Api, 'clientCertificates' | 'orgId'>,
  authorities: AuthorityStore,
): Step | undefined {
  if (rules === undefined) return undefined
  const allowed = new Set(rules.allow.map((id) => id.slice(-64).toLowerCase()))
  return function checkCertificate(x) {
    // Of a preflight that the upstream answers: browsers send it without a certificate.
    if (x.skipAuthentication) return undefined
    return unasked(x) ?? flawOfCertificate(x, allowed, orgId, authorities)
  }
}

/**
 * Sends a client whose TLS connection was not asked for a certificate to another one (RFC 9110 section 15.5.20): it was opened for another
 * name, or before an API asked. Only for requests that a connection with their host as server name is asked for.
 */
export function unasked({ secure, askedCertificate }: Exchange): Fault | undefined {
  return secure && !askedCertificate ? MISDIRECTED : undefined
}

/** Why the connection has not proved possession of one of these certificates, or of one that a CA among them issued, valid now. */
export function flawOfCertificate(
  { peerCertificate, wall }: Exchange,
  allowed: ReadonlySet<string>,
  orgId: string,
  authorities: AuthorityStore,
): Fault | undefined | Promise<Fault | undefined> {
  if (peerCertificate === '') return REQUIRED
  return flawOfListed(peerCertificate, allowed, wall, () => authorities.of(orgId))
}
