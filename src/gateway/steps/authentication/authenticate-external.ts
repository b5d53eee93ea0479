import { hash } from 'node:crypto'
import { type Fault, prebuilt } from '../../../errors/fault.ts'
import type { Api } from '../../../model/apis/definition/api.ts'
import { EXTERNAL_SCHEME, type IntrospectionRules } from '../../../model/authentication/external-scheme.ts'
import { type SchemeRules, settingsOf } from '../../../model/authentication/scheme.ts'
import type { Json } from '../../../model/json/json.ts'
import { isBound, readConfirmation } from '../../../oauth/proofs/confirmation.ts'
import type { AuthParts } from '../../authentication/auth-parts.ts'
import { identityFromClaims } from '../../authentication/claims.ts'
import { type DerivedCaller, DerivedCallers } from '../../authentication/derived-callers.ts'
import { type Introspected, Introspection } from '../../authentication/introspection.ts'
import { challenged } from '../../oauth/challenge.ts'
import { admitBound } from '../../oauth/check-binding.ts'
import type { Exchange, Step, StepOutcome } from '../../server/exchange.ts'
import { authenticateSigned, signerOf } from './authenticate-jwt.ts'
import { readCredential } from './read-credential.ts'
import { TOKEN_LIMIT } from './read-jwt.ts'
import { credentialOf, isOfOtherScheme, schemeOf } from './read-token.ts'

const MISSING = prebuilt('token_missing')
const REPEATED = prebuilt('credential_repeated')
const OTHER_SCHEME = prebuilt('token_of_other_scheme')
const EXPIRED = prebuilt('token_expired')
const AWAY = prebuilt('introspection_away')
const TOO_LONG = prebuilt('token_unknown', 'the token is too long')
const INACTIVE = prebuilt('token_unknown', 'the issuer says that the token is not active')
const OTHER_KIND = prebuilt('token_unknown', 'the issuer says that it is no access token')
const NOBODY = prebuilt('token_unknown', 'the issuer does not say who calls')

/**
 * Identifies the caller by a token of another authorization server: by its signature, or by what the issuer says of it (RFC 7662). Such a
 * caller has access to this API and no limits besides those of the API.
 */
export function authenticateExternal(scheme: SchemeRules, api: Api, parts: AuthParts): Step {
  const { jwt, introspection } = settingsOf(EXTERNAL_SCHEME, scheme)
  if (introspection !== undefined) return authenticateIntrospected(scheme, api, parts, introspection)
  return authenticateSigned(scheme, api, parts, jwt, (claims) =>
    callerOf(api, signerOf(claims, jwt), identityFromClaims(claims, jwt)),
  )
}

function authenticateIntrospected(
  scheme: SchemeRules,
  api: Api,
  { sessions, bindings, introspection: parts }: AuthParts,
  rules: IntrospectionRules,
): Step {
  const introspection = new Introspection(rules, parts)
  const callers = new DerivedCallers(sessions)

  const accept = (x: Exchange, text: string, sent: string, said: Introspected | undefined): Outcome => {
    if (said === undefined) return AWAY
    const word = schemeOf(sent)
    const refuse = (refusal: Fault) => challenged(x, refusal, word, 'off')
    if (said.active !== true) return refuse(INACTIVE)
    if (!isAccessToken(said)) return refuse(OTHER_KIND)
    const endsAt = said.exp === undefined ? Number.POSITIVE_INFINITY : Number(said.exp) * 1000
    // One that is no number, or none that ends, is a token of no known life.
    if (said.exp !== undefined && (typeof said.exp !== 'number' || !Number.isFinite(endsAt))) return refuse(INACTIVE)
    if (!(endsAt > x.wall)) return refuse(EXPIRED)
    const identity = identityFromClaims(said, rules)
    if (identity === '') return refuse(NOBODY)
    const enter = () => {
      x.session = callers.sessionOf(callerOf(api, [rules.url, said.iss ?? ''], identity), x.snapshot!)
      x.credentialEndsAt = endsAt
      return undefined
    }
    const confirmation = readConfirmation(said.cnf)
    if (!isBound(confirmation) && word !== 'dpop') return enter()
    return admitBound(bindings, x, api, { confirmation, text, word }, { dpop: 'off', admit: enter })
  }

  return function authenticateExternal(x) {
    if (x.skipAuthentication) return undefined
    const sent = readCredential(scheme, x)
    if (sent === undefined) return challenged(x, REPEATED, '', 'off')
    const text = credentialOf(sent)
    if (text === '') return challenged(x, MISSING, '', 'off')
    // No issuer is sent a password that was meant for another one.
    if (isOfOtherScheme(scheme, sent)) return challenged(x, OTHER_SCHEME, '', 'off')
    if (text.length > TOKEN_LIMIT) return challenged(x, TOO_LONG, schemeOf(sent), 'off')
    const said = introspection.ask(text, x.clientAddress)
    return said instanceof Promise ? said.then((late) => accept(x, text, sent, late)) : accept(x, text, sent, said)
  }
}

type Outcome = StepOutcome | Promise<StepOutcome>

/** The members in which issuers say the kind of a token: RFC 7662 has none for it, and says `active` of refresh tokens too. */
const KINDS = ['token_use', 'token_type', 'typ']
const OTHER_KINDS = /^(?:refresh|offline|id)(?:[-_ ]?token)?$/i

function isAccessToken(said: Introspected): boolean {
  return !KINDS.some((name) => OTHER_KINDS.test(String(said[name] ?? '')))
}

/** The session is counted under a name that no key can have, and apart for each issuer. */
function callerOf({ apiId, orgId, name }: Api, issuer: Json, identity: string): DerivedCaller {
  const keyHash = hash('sha256', `external ${JSON.stringify([orgId, apiId, issuer, identity])}`, 'hex')
  const access_rights = { [apiId]: { api_id: apiId, api_name: name, versions: [] } }
  const body = { org_id: orgId, alias: identity, access_rights }
  return { source: { body, orgId, clientId: '', evictAt: 0 }, keyHash, place: keyHash, policyCount: 0 }
}
