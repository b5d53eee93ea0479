import { prebuilt } from '../../../errors/fault.ts'
import type { Api } from '../../../model/apis/definition/api.ts'
import { objectOf, textOf } from '../../../model/apis/definition/members.ts'
import { readCallerKey, type VerifyKey, verifySignature } from '../../../model/authentication/jwt-key.ts'
import type { JwtRules } from '../../../model/authentication/jwt-scheme.ts'
import type { SchemeRules } from '../../../model/authentication/scheme.ts'
import type { Json, JsonObject } from '../../../model/json/json.ts'
import { isBound, readConfirmation } from '../../../oauth/proofs/confirmation.ts'
import type { AuthParts } from '../../authentication/auth-parts.ts'
import { CLAIM_FLAWS, endOf, flawOfClaims, identityFromClaims } from '../../authentication/claims.ts'
import { challenged, type SchemeWord } from '../../oauth/challenge.ts'
import { admitBound } from '../../oauth/check-binding.ts'
import type { Exchange, Step, StepOutcome } from '../../server/exchange.ts'
import type { LiveSession, SessionSource } from '../../sessions/sessions.ts'
import { readCredential } from './read-credential.ts'
import { claimsAndHeader, type ReadJwt, readSignedJwt, refusedJwt } from './read-jwt.ts'
import { credentialOf, isOfOtherScheme, schemeOf } from './read-token.ts'

const MISSING = prebuilt('token_missing')
const REPEATED = prebuilt('credential_repeated')
const OTHER_SCHEME = prebuilt('token_of_other_scheme')
const EXPIRED = prebuilt('token_expired')
const NAMES_NOBODY = 'the token names no key of this gateway'
const UNKNOWN = 'the key that the token names is unknown'
const UNSIGNED = 'the key that the token names has not made its signature'

/**
 * Identifies the caller by a JSON Web Token that the caller made: it names a key of this gateway, in `kid` or in its identity claim, and is
 * verified with the `jwt_data.secret` of that key, whose session the request has.
 */
export function authenticateJwtOfKey(
  scheme: SchemeRules,
  api: Api,
  { sessions, bindings }: AuthParts,
  rules: JwtRules,
): Step {
  const { orgId } = api
  const keys = new WeakMap<SessionSource, VerifyKey | string>()
  const keyOf = ({ source }: LiveSession): VerifyKey | string => {
    let key = keys.get(source)
    if (key === undefined) {
      const secret = textOf(objectOf(source.body, 'jwt_data'), 'secret')
      key = secret === '' ? 'has no `jwt_data`' : readCallerKey(secret, rules.family, rules)
      keys.set(source, key)
    }
    return key
  }

  const settle = (x: Exchange, { jwt, named, sent }: Presented, session: LiveSession | undefined): Outcome => {
    if (session === undefined || session.unusable || session.token !== undefined || !session.belongsTo(orgId))
      return refusedJwt(x, UNKNOWN)
    if (session.evictAt !== 0 && session.evictAt <= x.wall) return refusedJwt(x, UNKNOWN)
    const key = keyOf(session)
    if (typeof key === 'string') return refusedJwt(x, `the secret of the key that the token names ${key}`)
    if (!verifySignature(key, jwt.alg, jwt.signed, jwt.signature)) return refusedJwt(x, UNSIGNED)
    const flaw = flawOfClaims(jwt.claims, rules, x.wall)
    if (flaw === 'expired') return challenged(x, EXPIRED, 'bearer', 'off')
    // A token that `kid` gives a name needs no other.
    if (flaw !== undefined && flaw !== 'identity_missing') return refusedJwt(x, CLAIM_FLAWS[flaw])
    const admit = () => {
      x.session = session
      x.claims = api.contextVariables ? withoutCredential(claimsAndHeader(jwt), named) : undefined
      x.credentialEndsAt = endOf(jwt.claims, rules)
      return undefined
    }
    const confirmation = readConfirmation(jwt.claims.cnf)
    const word: SchemeWord = schemeOf(sent)
    if (!isBound(confirmation) && word !== 'dpop') return admit()
    return admitBound(bindings, x, api, { confirmation, text: credentialOf(sent), word }, { dpop: 'off', admit })
  }

  return function authenticateJwtOfKey(x) {
    if (x.skipAuthentication) return undefined
    const sent = readCredential(scheme, x)
    if (sent === undefined) return challenged(x, REPEATED, '', 'off')
    const text = credentialOf(sent)
    if (text === '') return challenged(x, MISSING, '', 'off')
    if (isOfOtherScheme(scheme, sent)) return challenged(x, OTHER_SCHEME, '', 'off')
    const jwt = readSignedJwt(text)
    if (typeof jwt === 'string') return refusedJwt(x, jwt)
    const named = (rules.ofCallers!.byKid && jwt.kid) || identityFromClaims(jwt.claims, rules)
    if (named === '') return refusedJwt(x, NAMES_NOBODY)
    const session = sessions.find(named, x.snapshot!, x.wall)
    const presented = { jwt, named, sent }
    return session instanceof Promise
      ? session.then((late) => settle(x, presented, late))
      : settle(x, presented, session)
  }
}

/** A token, the key that it names, and the credential as it was sent. */
interface Presented {
  readonly jwt: ReadJwt
  readonly named: string
  readonly sent: string
}

/** The name of the key is a credential, which variables must not hand on. */
function withoutCredential(claims: JsonObject, named: string): JsonObject {
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => !holds(value, named)))
}

function holds(value: Json, text: string): boolean {
  if (typeof value === 'string') return value.includes(text)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, each]) => name.includes(text) || holds(each, text))
}

type Outcome = StepOutcome | Promise<StepOutcome>
