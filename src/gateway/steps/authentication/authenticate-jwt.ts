import { hash } from 'node:crypto'
import { prebuilt } from '../../../errors/fault.ts'
import type { Api } from '../../../model/apis/definition/api.ts'
import { textsOf } from '../../../model/apis/definition/members.ts'
import { readStaticKey, verifySignature } from '../../../model/authentication/jwt-key.ts'
import { JWT_SCHEME, type JwtRules } from '../../../model/authentication/jwt-scheme.ts'
import { type SchemeRules, settingsOf } from '../../../model/authentication/scheme.ts'
import type { JsonObject } from '../../../model/json/json.ts'
import { type Confirmation, isBound, readConfirmation } from '../../../oauth/proofs/confirmation.ts'
import type { Awaitable } from '../../../store/ports/ports.ts'
import { policyKey } from '../../apis/snapshot.ts'
import type { AuthParts } from '../../authentication/auth-parts.ts'
import {
  CLAIM_FLAWS,
  clientFromClaims,
  endOf,
  flawOfClaims,
  identityFromClaims,
  policiesFromClaims,
} from '../../authentication/claims.ts'
import { type DerivedCaller, DerivedCallers } from '../../authentication/derived-callers.ts'
import { allOf, type KeySets, type KeySource, oneKey } from '../../authentication/key-sets.ts'
import { RecentCache } from '../../authentication/recent-cache.ts'
import { challenged, type SchemeWord } from '../../oauth/challenge.ts'
import { admitBound } from '../../oauth/check-binding.ts'
import { isLiveToken } from '../../oauth/own-token.ts'
import type { Exchange, Snapshot, Step, StepOutcome } from '../../server/exchange.ts'
import type { LiveSession } from '../../sessions/sessions.ts'
import { authenticateJwtOfKey } from './authenticate-jwt-of-key.ts'
import { readCredential } from './read-credential.ts'
import { claimsAndHeader, type ReadJwt, readSignedJwt, refusedJwt } from './read-jwt.ts'
import { credentialOf, isOfOtherScheme, schemeOf } from './read-token.ts'

const MISSING = prebuilt('token_missing')
const REPEATED = prebuilt('credential_repeated')
const OTHER_SCHEME = prebuilt('token_of_other_scheme')
const EXPIRED = prebuilt('token_expired')
const UNKNOWN = prebuilt('key_unknown')
const NO_POLICY = prebuilt('token_without_rights', 'its claims lead to no policy')
const REVOKED = prebuilt('token_unknown', 'the token was revoked, or its client is gone')
const KEYS_AWAY = prebuilt('jwt_keys_away')
/** How soon it is asked again whether a token that could be ours is. */
const OWN_AGAIN_MS = 10_000
/** How soon it is asked again which policy the key of a client has. */
const CLIENT_AGAIN_MS = 1_000
const UNSIGNED = 'no key of the issuer made the signature of the token'

/** Half of the tokens that an API remembers. */
const REMEMBERED = 4_096

/** A token whose signature was right. */
interface Verified {
  /** Unix milliseconds at which it ends. */
  readonly endsAt: number
  /** Monotonic milliseconds from which on its key is looked up again: it may have been taken back. */
  readonly againAt: number
  /** Of the keys, when it was looked up. */
  readonly generation: number
  readonly caller: DerivedCaller
  /** Kept where variables may name them. */
  readonly claims: JsonObject | undefined
  readonly confirmation: Confirmation
  /** True for a token of our own authorization servers: it is valid as long as it is in the store. */
  readonly own: boolean
  /** True when no further check is needed: a bearer token of another issuer. */
  readonly plain: boolean
  live: LiveSession | undefined
}

/** Who a token with these claims speaks for; undefined when they lead to no policy. */
export type ReadCaller = (claims: JsonObject, x: Exchange) => Awaitable<DerivedCaller | undefined>

/**
 * Identifies the caller by a JSON Web Token of another issuer (RFC 7519, RFC 8725): signed by a key of the definition or of
 * the key set at its address, valid now, for this API. Its claims give the identity and the policies; from there on it is a session
 * like that of a key, and counters belong to the identity. A valid token is not checked again until its key set is
 * read again.
 */
export function authenticateJwt(scheme: SchemeRules, api: Api, parts: AuthParts): Step {
  const rules = settingsOf(JWT_SCHEME, scheme)
  const { orgId } = api
  if (rules.ofCallers !== undefined) return authenticateJwtOfKey(scheme, api, parts, rules)
  if (!readsClients(rules))
    return authenticateSigned(scheme, api, parts, rules, (claims, x) => callerOf(claims, rules, api, x.snapshot!))
  return authenticateSigned(scheme, api, parts, rules, async (claims, x) => {
    const key = await parts.sessions.find(clientFromClaims(claims, rules), x.snapshot!, x.wall)
    const isOurs = key !== undefined && key.token === undefined && key.belongsTo(orgId)
    const [first] = isOurs ? textsOf(key.source.body, 'apply_policies') : []
    return callerOf(claims, rules, api, x.snapshot!, first === undefined ? undefined : [first])
  })
}

/** True where a key that is called as the client of a token says which policy it has, because no claim does. */
function readsClients({ clientClaim, policyClaims }: JwtRules): boolean {
  return clientClaim !== '' && policyClaims.length === 0
}

/** The same by other rules, for whom `callerFor` says. */
export function authenticateSigned(
  scheme: SchemeRules,
  api: Api,
  { sessions, keySets, bindings }: AuthParts,
  rules: JwtRules,
  callerFor: ReadCaller,
): Step {
  const keys = keySourceOf(rules, keySets)
  const tokens = new RecentCache<Verified>(REMEMBERED)
  const callers = new DerivedCallers(sessions)

  const enter = (x: Exchange, verified: Verified): StepOutcome => {
    const snapshot = x.snapshot!
    if (verified.live?.policyGeneration !== snapshot.policyGeneration)
      verified.live = callers.sessionOf(verified.caller, snapshot)
    // A policy that is gone may have held the caller back: the others alone would give the token other rights.
    if (verified.live.unusable || verified.live.policyIds.length < verified.caller.policyCount) return UNKNOWN
    x.session = verified.live
    x.claims = verified.claims
    x.credentialEndsAt = verified.endsAt
    return undefined
  }

  const prove = (x: Exchange, verified: Verified, presented: Presented, stored: LiveSession | undefined) => {
    if (verified.own && !isLiveToken(stored, x.snapshot!, x.wall)) return challenged(x, REVOKED, presented.word, 'off')
    const { confirmation } = verified
    const admit = () => {
      x.ownToken = stored?.keyHash ?? ''
      return enter(x, verified)
    }
    return admitBound(bindings, x, api, { own: stored?.token, confirmation, ...presented }, { dpop: 'off', admit })
  }

  const accept = (x: Exchange, verified: Verified, presented: Presented): StepOutcome | Promise<StepOutcome> => {
    if (verified.endsAt <= x.wall) return challenged(x, EXPIRED, presented.word, 'off')
    if (verified.plain && presented.word !== 'dpop') return enter(x, verified)
    const stored = verified.own ? sessions.find(presented.text, x.snapshot!, x.wall) : undefined
    return stored instanceof Promise
      ? stored.then((late) => prove(x, verified, presented, late))
      : prove(x, verified, presented, stored)
  }

  const settle = async (x: Exchange, jwt: ReadJwt, presented: Presented, among: Awaited<Candidates>) => {
    if (among === undefined) return KEYS_AWAY
    const signer = among.find((key) => verifySignature(key, jwt.alg, jwt.signed, jwt.signature))
    if (signer === undefined) return refusedJwt(x, UNSIGNED)
    const flaw = flawOfClaims(jwt.claims, rules, x.wall)
    if (flaw === 'expired') return challenged(x, EXPIRED, 'bearer', 'off')
    if (flaw !== undefined) return refusedJwt(x, CLAIM_FLAWS[flaw])
    const caller = await callerFor(jwt.claims, x)
    if (caller === undefined) return challenged(x, NO_POLICY, presented.word, 'off')
    const confirmation = readConfirmation(jwt.claims.cnf)
    const own = bindings.ownKeys.has(signer.key)
    // Our first key may have been created on another node a moment ago.
    const couldBeOurs = !own && (jwt.header.typ === 'at+jwt' || typeof jwt.claims.client_id === 'string')
    const againMs = readsClients(rules) ? CLIENT_AGAIN_MS : couldBeOurs ? OWN_AGAIN_MS : keys.freshMs
    const freshMs = Math.min(keys.freshMs, againMs)
    const verified: Verified = {
      endsAt: endOf(jwt.claims, rules),
      againAt: x.mono + freshMs,
      generation: keys.generation,
      caller,
      claims: api.contextVariables ? claimsAndHeader(jwt) : undefined,
      confirmation,
      own,
      plain: !own && !isBound(confirmation),
      live: undefined,
    }
    tokens.keep(hash('sha256', presented.text, 'base64'), verified)
    return accept(x, verified, presented)
  }

  return function authenticateJwt(x) {
    if (x.skipAuthentication) return undefined
    const sent = readCredential(scheme, x)
    if (sent === undefined) return challenged(x, REPEATED, '', 'off')
    const text = credentialOf(sent)
    if (text === '') return challenged(x, MISSING, '', 'off')
    const word = schemeOf(sent)
    const known = tokens.get(hash('sha256', text, 'base64'))
    if (known !== undefined && known.againAt > x.mono && known.generation === keys.generation) {
      // The ordinary case, without anything made for it.
      if (known.plain && word !== 'dpop' && known.endsAt > x.wall) return enter(x, known)
      return accept(x, known, { text, word })
    }
    if (isOfOtherScheme(scheme, sent)) return challenged(x, OTHER_SCHEME, '', 'off')
    const jwt = readSignedJwt(text)
    if (typeof jwt === 'string') return refusedJwt(x, jwt)
    const presented = { text, word }
    const among = keys.candidates(jwt.kid, jwt.alg)
    return among instanceof Promise
      ? among.then((late) => settle(x, jwt, presented, late))
      : settle(x, jwt, presented, among)
  }
}

/** A token as the request carries it. */
interface Presented {
  readonly text: string
  readonly word: SchemeWord
}

type Candidates = ReturnType<KeySource['candidates']>

function keySourceOf({ key, family, keySets, takesShortSecrets }: JwtRules, sets: KeySets): KeySource {
  if (keySets.length > 0) return allOf(keySets.map(({ url, freshMs }) => sets.at(url, family, freshMs)))
  const read = readStaticKey(key, family, { takesShortSecrets })
  // The definition was checked when it was saved.
  if (typeof read === 'string') throw new TypeError(`jwt_source ${read}`)
  return oneKey(read)
}

/**
 * The session of a caller. It is counted under a name that no key can have (it contains a space), and separately for each issuer:
 * an issuer of one cannot exhaust the limits of another one's callers.
 */
function callerOf(
  claims: JsonObject,
  rules: JwtRules,
  { orgId }: Api,
  snapshot: Snapshot,
  ofClient?: readonly string[],
): DerivedCaller | undefined {
  const named = policiesFromClaims(claims, rules, ofClient)
  if (named.length === 0) return undefined
  // A claim may name the storage id of a policy: sessions name its id.
  const policies = [...new Set(named.map((id) => snapshot.policies.get(policyKey(orgId, id))?.id ?? id))]
  const identity = identityFromClaims(claims, rules)
  const keyHash = hash('sha256', `jwt ${JSON.stringify([orgId, signerOf(claims, rules), identity])}`, 'hex')
  const clientId = clientFromClaims(claims, rules)
  const body = { org_id: orgId, alias: identity, apply_policies: [...policies] }
  return {
    source: { body, orgId, clientId, evictAt: 0 },
    keyHash,
    place: JSON.stringify([keyHash, clientId, policies]),
    policyCount: named === rules.defaultPolicies ? 0 : policies.length,
  }
}

/** A value that tells the identities of one issuer from those of another. */
export function signerOf(claims: JsonObject, { keySets, key }: JwtRules): JsonObject[string] {
  return [keySets.map(({ url }) => url), hash('sha256', key, 'base64'), claims.iss ?? '']
}
