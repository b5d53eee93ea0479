import type { BindingParts } from '../oauth/check-binding.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { AuthorityStore } from './authorities.ts'
import type { IntrospectionParts } from './introspection.ts'
import type { KeySets } from './key-sets.ts'
import type { CertificateKeys, Users } from './users.ts'

/** The dependencies of authentication. */
export interface AuthParts {
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
