import { hash } from 'node:crypto'
import { type Fault, prebuilt } from '../../errors/fault.ts'
import type { Api } from '../../model/api.ts'
import { readStaticKey, verifySignature } from '../../model/jwt-key.ts'
import type { JwtRules, SchemeRules } from '../../model/scheme-rules.ts'
import { type CompactJwt, readCompact } from '../../oauth/jwt.ts'
import { clientOf, flawOfClaims, identityOf, policiesOf } from '../auth/claims.ts'
import { allOf, type KeySets, type KeySource, oneKey } from '../auth/key-sets.ts'
import { Recent } from '../auth/recent.ts'
import type { Exchange, Outcome, Snapshot, Step } from '../exchange.ts'
import { challenged } from '../oauth/challenge.ts'
import type { LiveSession, SessionSource, Sessions } from '../sessions.ts'
import { readCredential, withoutBearer } from './read-credential.ts'

const MISSING = prebuilt('token_missing')
const EXPIRED = prebuilt('token_expired')
const UNKNOWN = prebuilt('key_unknown')
const NO_POLICY = prebuilt('key_unknown', 'the token leads to no policy')
const KEYS_AWAY = prebuilt('jwt_keys_away')
const UNSIGNED = 'no key of the issuer made the signature of the token'

/** As long as the head of a request allows. */
const LIMIT = 16_384
/** Kinds of tokens that speak for a caller (RFC 8725 section 3.11, RFC 9068): proofs and notices of logout do not. */
const TYPES = ['', 'jwt', 'at+jwt']
/** Half of the tokens, and of the callers, that an API remembers. */
const REMEMBERED = 4_096

/** A token whose signature was right. */
interface Verified {
  /** Unix milliseconds at which it ends. */
  readonly endsAt: number
  /** Monotonic milliseconds from which on its key is looked up again: it may have been taken back. */
  readonly againAt: number
  /** Of the keys, when it was looked up. */
  readonly generation: number
  readonly caller: Caller
  live: LiveSession | undefined
}

/** Whom a token speaks for: what the session is made of that stands in no store, and the name of that session. */
interface Caller {
  readonly source: SessionSource
  readonly keyHash: string
  readonly place: string
}

/**
 * Identifies the caller by a JSON Web Token that somebody else issued (RFC 7519, RFC 8725): signed by a key of the definition or of
 * the key set at its address, valid now, for this API. Its claims give the identity and the policies; from there on it is a session
 * like that of a key, and counters belong to the identity. A token that was right is not checked again until its key set has
 * to be.
 */
export function authenticateJwt(scheme: SchemeRules, api: Api, sessions: Sessions, keySets: KeySets): Step {
  const rules = scheme.jwt!
  const keys = keySourceOf(rules, keySets)
  const tokens = new Recent<Verified>(REMEMBERED)
  const callers = new Recent<LiveSession>(REMEMBERED)

  const sessionOf = ({ source, keyHash, place }: Caller, snapshot: Snapshot): LiveSession => {
    const known = callers.get(place)
    if (known !== undefined && known.policyGeneration === snapshot.policyGeneration) return known
    const made = sessions.derive(source, keyHash, snapshot)
    callers.keep(place, made)
    return made
  }

  const accept = (x: Exchange, verified: Verified): Outcome => {
    if (verified.endsAt <= x.wall) return challenged(x, EXPIRED, 'bearer', 'off')
    const snapshot = x.snapshot!
    if (verified.live?.policyGeneration !== snapshot.policyGeneration)
      verified.live = sessionOf(verified.caller, snapshot)
    if (verified.live.unusable) return UNKNOWN
    x.session = verified.live
    return undefined
  }

  const settle = (x: Exchange, jwt: CompactJwt, tokenHash: string, among: Awaited<Candidates>): Outcome => {
    if (among === undefined) return KEYS_AWAY
    const alg = jwt.header.alg as string
    if (!among.some((key) => verifySignature(key, alg, jwt.signed, jwt.signature))) return refused(x, UNSIGNED)
    const flaw = flawOfClaims(jwt.claims, rules, x.wall)
    if (flaw !== undefined) return refused(x, flaw)
    const policies = policiesOf(jwt.claims, rules)
    if (policies.length === 0) return NO_POLICY
    const verified: Verified = {
      endsAt: (jwt.claims.exp as number) * 1000 + rules.skewMs.expiresAt,
      againAt: x.mono + keys.freshMs,
      generation: keys.generation,
      caller: callerOf(jwt, rules, api.orgId, policies),
      live: undefined,
    }
    tokens.keep(tokenHash, verified)
    return accept(x, verified)
  }

  return function authenticateJwt(x) {
    if (x.skipAuthentication) return undefined
    const text = withoutBearer(readCredential(scheme, x))
    if (text === '') return challenged(x, MISSING, '', 'off')
    const tokenHash = hash('sha256', text, 'base64')
    const known = tokens.get(tokenHash)
    if (known !== undefined && known.againAt > x.mono && known.generation === keys.generation) return accept(x, known)
    const jwt = readCompact(text, LIMIT, TYPES)
    if (typeof jwt === 'string') return refused(x, jwt)
    const { alg, kid = '' } = jwt.header
    if (typeof alg !== 'string' || typeof kid !== 'string') return refused(x, 'the header of the token is malformed')
    const among = keys.candidates(kid, alg)
    return among instanceof Promise
      ? among.then((late) => settle(x, jwt, tokenHash, late))
      : settle(x, jwt, tokenHash, among)
  }
}

type Candidates = ReturnType<KeySource['candidates']>

function keySourceOf({ key, family, keySets }: JwtRules, sets: KeySets): KeySource {
  if (keySets.length > 0) return allOf(keySets.map(({ url, freshMs }) => sets.at(url, family, freshMs)))
  const read = readStaticKey(key, family)
  // The definition was checked when it was saved.
  if (typeof read === 'string') throw new TypeError(`jwt_source ${read}`)
  return oneKey(read)
}

/**
 * The session of a caller. It is counted under a name that no key can have (there is a space in it), and of its own for each issuer:
 * whoever signs for one cannot use up what another one's callers may do.
 */
function callerOf({ claims }: CompactJwt, rules: JwtRules, orgId: string, policies: readonly string[]): Caller {
  const identity = identityOf(claims, rules)
  const issuer = [rules.keySets.map(({ url }) => url), hash('sha256', rules.key, 'base64'), claims.iss ?? '']
  const keyHash = hash('sha256', `jwt ${JSON.stringify([orgId, issuer, identity])}`, 'hex')
  const clientId = clientOf(claims, rules)
  const body = { org_id: orgId, alias: identity, apply_policies: [...policies] }
  return {
    source: { body, orgId, clientId, evictAt: 0 },
    keyHash,
    place: JSON.stringify([keyHash, clientId, policies]),
  }
}

/** Refusals by their reason; there are as many as sentences in the code. */
const refusals = new Map<string, Fault>()

function refused(x: Exchange, reason: string): Fault {
  if (reason === 'the token has expired') return challenged(x, EXPIRED, 'bearer', 'off')
  let fault = refusals.get(reason)
  if (fault === undefined) {
    fault = prebuilt('token_unknown', reason)
    refusals.set(reason, fault)
  }
  return challenged(x, fault, 'bearer', 'off')
}
