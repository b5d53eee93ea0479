import type { Fault } from '../../errors/fault.ts'
import type { SessionRow } from '../../store/ports/ports.ts'
import type { SharedSteps } from '../apis/shared-steps.ts'
import type { BindingParts } from '../oauth/check-binding.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { AuthorityStore } from './authorities.ts'
import type { IntrospectionParts } from './introspection.ts'
import type { KeySets } from './key-sets.ts'

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
interface CertificateKeys {
  /** The storage hash of a certificate's key (SHA-256 in hex), lower-case hex. */
  hashOf(orgId: string, fingerprint: string): string
}

/** The dependencies of authentication. */
export interface AuthParts {
  readonly shared: SharedSteps
  readonly sessions: Sessions
  /** The dependencies of checking proofs of possession. */
  readonly bindings: BindingParts
  /** Keys of those who issue JSON Web Tokens. */
  readonly keySets: KeySets
  /** Asks issuers about their tokens. */
  readonly introspection: IntrospectionParts
  readonly users: Users
  readonly certificateKeys: CertificateKeys
  /** The CAs that issue client certificates. */
  readonly authorities: AuthorityStore
}
