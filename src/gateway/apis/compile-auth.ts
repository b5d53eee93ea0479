import type { Api, Rules } from '../../model/apis/definition/api.ts'
import type { SchemeRules } from '../../model/authentication/scheme-rules.ts'
import type { KeySets } from '../authentication/key-sets.ts'
import type { CertificateKeys, Users } from '../authentication/users.ts'
import type { BindingParts } from '../oauth/check-binding.ts'
import { hasAuthorizationServer } from '../oauth/endpoints.ts'
import type { Step } from '../server/exchange.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { checkRights } from '../steps/access/check-rights.ts'
import { checkScopes } from '../steps/access/check-scopes.ts'
import { authenticate, checkState } from '../steps/authentication/authenticate.ts'
import { authenticateBasic } from '../steps/authentication/authenticate-basic.ts'
import { authenticateCertificate } from '../steps/authentication/authenticate-certificate.ts'
import { authenticateHmac } from '../steps/authentication/authenticate-hmac.ts'
import { authenticateJwt } from '../steps/authentication/authenticate-jwt.ts'
import { authenticateSeveral } from '../steps/authentication/authenticate-several.ts'
import { authenticateToken } from '../steps/authentication/authenticate-token.ts'
import { dropUnverified } from '../steps/authentication/drop-unverified.ts'

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

/** The steps that say who is calling, and whether they may; none for a keyless API. */
export function authenticationSteps(api: Api, rules: Rules, parts: AuthParts): (Step | undefined)[] {
  const { auth } = api
  if (auth === undefined) return []
  const after = [dropUnverified(api), checkState(), checkRights()]
  if (auth.alternatives === undefined)
    return [schemeStep(auth, api, parts), ...after, auth.method === 'oauth' ? scopeStep(api, rules) : undefined]
  // Of the schemes of one alternative each must be good for itself; the rights are those of the last.
  const alternatives = auth.alternatives.map((schemes) =>
    schemes.flatMap((scheme) => {
      const scopes = scheme.method === 'oauth' ? scopeStep(api, rules) : undefined
      return [schemeStep(scheme, api, parts), checkState(), scopes].filter((step) => step !== undefined)
    }),
  )
  return [authenticateSeveral(alternatives), ...after]
}

function schemeStep(scheme: SchemeRules, api: Api, parts: AuthParts): Step {
  const { sessions, bindings, keySets, users, certificateKeys } = parts
  if (scheme.method === 'jwt') return authenticateJwt(scheme, api, { sessions, keySets, bindings })
  if (scheme.method === 'basic') return authenticateBasic(scheme, api, sessions, users)
  if (scheme.method === 'hmac') return authenticateHmac(scheme, api, sessions)
  if (scheme.method === 'oauth' && hasAuthorizationServer(api))
    return authenticateToken(scheme, api, sessions, bindings)
  const byKey = authenticate(scheme, api, sessions, bindings)
  return scheme.certificate ? authenticateCertificate(scheme, api, { sessions, certificateKeys, byKey }) : byKey
}

function scopeStep(api: Api, rules: Rules): Step | undefined {
  if (!hasAuthorizationServer(api)) return undefined
  return checkScopes(
    api,
    api.auth?.scopes,
    rules.operations.some(({ scopes }) => scopes !== undefined),
  )
}
