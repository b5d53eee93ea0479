import type { Fault } from '../../errors/fault.ts'
import type { SessionRow } from '../../store/ports/ports.ts'

/** How the gateway asks for people who come with a name and a password. */
export interface Users {
  /** The storage hash of a user's session, lower-case hex; no key that a caller can send leads to it. */
  hashOf(orgId: string, name: string): string
  /**
   * The session of the user with this password; undefined when there is none, which takes the same time; a Fault after too many
   * failures. @throws Fault `passwords_busy` (503), `store_away`
   */
  check(orgId: string, name: string, password: string, clientAddress: string): Promise<SessionRow | undefined | Fault>
}

/** How the gateway finds the keys that client certificates are. */
export interface CertificateKeys {
  /** The storage hash of a certificate's key (SHA-256 in hex), lower-case hex. */
  hashOf(orgId: string, fingerprint: string): string
}
