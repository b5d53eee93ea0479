import type { Fault } from '../../errors/fault.ts'
import type { SessionRow } from '../../store/ports/ports.ts'

/** How the gateway asks for people who come with a name and a password. */
export interface Users {
  /** What the session of a user is stored under, lower-case hex; nobody can send a key that leads there. */
  hashOf(orgId: string, name: string): string
  /**
   * The session of the user with this password; undefined when there is none, which takes the same time; a Fault after too many
   * failures. @throws Fault `passwords_busy` (503), `store_away`
   */
  check(orgId: string, name: string, password: string, clientAddress: string): Promise<SessionRow | undefined | Fault>
}

/** How the gateway finds the keys that client certificates are. */
export interface CertificateKeys {
  /** What the key of a certificate (SHA-256 in hex) is stored under, lower-case hex. */
  hashOf(orgId: string, fingerprint: string): string
}
