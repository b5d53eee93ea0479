import { randomBytes } from 'node:crypto'
import type { JsonObject } from '../../model/json/json.ts'
import type { OAuthCall } from '../endpoints/parts.ts'
import type { Binding } from '../proofs/dpop.ts'
import { signJwt } from '../signing-keys/jwt.ts'
import { type KeyParts, signingKey } from '../signing-keys/keys.ts'

/** The claims of an access token. */
export interface AccessTokenFacts {
  readonly clientId: string
  /** Who allowed it; '' = the client acts for itself. */
  readonly username: string
  /** Separated by spaces; '' = none. */
  readonly scope: string
  /** Resources that it is restricted to; absent = none. */
  readonly resources?: readonly string[]
  /** Unix seconds, both. */
  readonly issuedAtS: number
  readonly expiresAtS: number
  readonly binding: Binding
}

const ID_BYTES = 16

/**
 * Makes the text of a JWT access token (RFC 9068): signed with the organisation's key, no two alike. `sub` is the user, or the
 * client where it acts for itself. `aud` are the resources that were asked for (RFC 8707), else the issuer: the API whose authorization
 * server gives the token (section 3, the default resource).
 * @throws Fault `seal_broken`, `store_away`, `store_full`
 */
export async function accessTokenText(parts: KeyParts, call: OAuthCall, facts: AccessTokenFacts): Promise<string> {
  const { orgId, oauth } = call.api
  const alg = oauth.signingAlgorithm
  const { kid, key } = await signingKey(parts, orgId, alg, facts.expiresAtS - facts.issuedAtS)
  const claims: JsonObject = {
    iss: call.issuer,
    sub: facts.username === '' ? facts.clientId : facts.username,
    aud: audienceOf(facts.resources ?? []) ?? call.issuer,
    client_id: facts.clientId,
    iat: facts.issuedAtS,
    exp: facts.expiresAtS,
    jti: randomBytes(ID_BYTES).toString('base64url'),
  }
  if (facts.scope !== '') claims.scope = facts.scope
  const cnf = confirmationOf(facts.binding)
  if (cnf !== undefined) claims.cnf = cnf
  return signJwt({ typ: oauth.accessTokenType, alg, kid }, claims, key)
}

/** The `aud` of a token: one name as a text, several as a list (RFC 7519 section 4.1.3); undefined for none. */
export function audienceOf(resources: readonly string[]): string | string[] | undefined {
  return resources.length > 1 ? [...resources] : resources[0]
}

/** The `cnf` of a token (RFC 9449 section 6.1, RFC 8705 section 3.1); undefined when it is bound to nothing. */
export function confirmationOf({ jkt, x5t }: Binding): { jkt?: string; 'x5t#S256'?: string } | undefined {
  if (jkt === '' && x5t === '') return undefined
  return { ...(jkt !== '' && { jkt }), ...(x5t !== '' && { 'x5t#S256': x5t }) }
}
