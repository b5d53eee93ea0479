import type { Api, Rules } from '../../model/apis/definition/api.ts'
import type { SchemeRules } from '../../model/authentication/scheme.ts'
import type { AuthMethod } from '../../model/authentication/schemes.ts'
import type { AuthParts } from '../authentication/auth-parts.ts'
import { hasAuthorizationServer } from '../oauth/endpoints.ts'
import type { Step } from '../server/exchange.ts'
import { checkRights } from '../steps/access/check-rights.ts'
import { checkScopes } from '../steps/access/check-scopes.ts'
import { authenticate, checkState } from '../steps/authentication/authenticate.ts'
import { authenticateBasic } from '../steps/authentication/authenticate-basic.ts'
import { authenticateExternal } from '../steps/authentication/authenticate-external.ts'
import { authenticateHmac } from '../steps/authentication/authenticate-hmac.ts'
import { authenticateJwt } from '../steps/authentication/authenticate-jwt.ts'
import { authenticateSeveral } from '../steps/authentication/authenticate-several.ts'
import { authenticateToken } from '../steps/authentication/authenticate-token.ts'
import { dropUnverified } from '../steps/authentication/drop-unverified.ts'
import { markPrivate } from '../steps/authentication/mark-private.ts'

/** The steps of an authentication scheme. */
interface SchemeSteps {
  /** Says who is calling, or refuses with the challenge of the scheme. */
  authenticate(rules: SchemeRules, api: Api, parts: AuthParts): Step
  /** Says whether the caller may, besides the rights of the session. */
  authorize?(api: Api, rules: Rules): Step | undefined
}

const STEPS: Readonly<Record<AuthMethod, SchemeSteps>> = {
  token: { authenticate },
  oauth: { authenticate: authenticateOAuth, authorize: checkScopesOf },
  external: { authenticate: authenticateExternal },
  jwt: { authenticate: authenticateJwt },
  basic: { authenticate: authenticateBasic },
  hmac: { authenticate: authenticateHmac },
}
const BY_METHOD = new Map<string, SchemeSteps>(Object.entries(STEPS))

function stepsOf({ method }: SchemeRules): SchemeSteps {
  const steps = BY_METHOD.get(method)
  if (steps === undefined) throw new Error(`there are no steps for ${method}`)
  return steps
}

/** The steps that say who is calling, and whether they may; none for a keyless API. */
export function authenticationSteps(api: Api, rules: Rules, parts: AuthParts): (Step | undefined)[] {
  const { auth } = api
  if (auth === undefined) return []
  const after = [markPrivate(auth), dropUnverified(api), checkState(parts), checkRights]
  if (auth.alternatives === undefined) {
    const scheme = stepsOf(auth)
    return [scheme.authenticate(auth, api, parts), ...after, scheme.authorize?.(api, rules)]
  }
  // Of the schemes of one alternative each must be good for itself; the rights are those of the last.
  const alternatives = auth.alternatives.map((schemes) =>
    schemes.flatMap((each) => {
      const scheme = stepsOf(each)
      const steps = [scheme.authenticate(each, api, parts), checkState(parts), scheme.authorize?.(api, rules)]
      return steps.filter((step) => step !== undefined)
    }),
  )
  return [authenticateSeveral(alternatives), ...after]
}

function authenticateOAuth(rules: SchemeRules, api: Api, parts: AuthParts): Step {
  return hasAuthorizationServer(api) ? authenticateToken(rules, api, parts) : authenticate(rules, api, parts)
}

function checkScopesOf(api: Api, rules: Rules): Step | undefined {
  if (!hasAuthorizationServer(api)) return undefined
  return checkScopes(
    api,
    api.auth?.scopes,
    rules.operations.some(({ scopes }) => scopes !== undefined),
  )
}
