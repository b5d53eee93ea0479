import { isObject } from '../../model/json/json.ts'

/** How a token is bound to its holder (RFC 7800 section 3.1). */
export interface Confirmation {
  /** Thumbprint of a DPoP key (RFC 9449 section 6.1); '' = not bound that way. */
  readonly jkt: string
  /** Thumbprint of a certificate (RFC 8705 section 3.1); '' = not bound that way. */
  readonly x5t: string
  /** True when it is bound in a way that we cannot check, or the claim is malformed: then nobody can prove that it is theirs. */
  readonly unprovable: boolean
}

/** SHA-256 in base64url. */
const THUMBPRINT = /^[A-Za-z0-9_-]{43}$/
/** That of a token without the claim. */
export const UNBOUND: Confirmation = { jkt: '', x5t: '', unprovable: false }
const UNPROVABLE: Confirmation = { jkt: '', x5t: '', unprovable: true }

/**
 * Reads the `cnf` claim of a token. Members that we do not know (`jwk`, `kid`, others) bind it as well as those that we do, so with
 * them nobody can use the token; the same goes for a claim without members, or of another type. A token without the claim is `UNBOUND`.
 */
export function readConfirmation(cnf: unknown): Confirmation {
  if (cnf === undefined) return UNBOUND
  if (!isObject(cnf)) return UNPROVABLE
  const members = Object.entries(cnf)
  const known = members.every(
    ([name, value]) => (name === 'jkt' || name === 'x5t#S256') && typeof value === 'string' && THUMBPRINT.test(value),
  )
  if (!known || members.length === 0) return UNPROVABLE
  const { jkt = '', 'x5t#S256': x5t = '' } = cnf as { readonly jkt?: string; readonly 'x5t#S256'?: string }
  return { jkt, x5t, unprovable: false }
}

/** True when a token is bound to anything: it is then no bearer token. */
export function isBound({ jkt, x5t, unprovable }: Confirmation): boolean {
  return unprovable || jkt !== '' || x5t !== ''
}
