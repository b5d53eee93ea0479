import type { BindingParts } from '../oauth/check-binding.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { KeySets } from './key-sets.ts'
import type { CertificateKeys, Users } from './users.ts'

/** What callers are identified with. */
export interface AuthParts {
  readonly sessions: Sessions
  /** What proofs of possession are checked with. */
  readonly bindings: BindingParts
  /** Keys of those who issue JSON Web Tokens. */
  readonly keySets: KeySets
  readonly users: Users
  readonly certificateKeys: CertificateKeys
}
