import type { JwtRules } from '../../model/authentication/jwt-scheme.ts'
import type { Json, JsonObject } from '../../model/json/json.ts'
import { isObject } from '../../model/json/json.ts'

/** Why the claims of a token are refused. The texts go to the log and to `explain`, never to the caller. */
export const CLAIM_FLAWS = {
  exp_missing: 'the exp of the token is missing',
  expired: 'the token has expired',
  nbf_future: 'the nbf of the token lies in the future',
  iat_future: 'the iat of the token lies in the future',
  iss_refused: 'the iss of the token is not allowed',
  aud_refused: 'the aud of the token is not allowed',
  sub_refused: 'the sub of the token is not allowed',
  iss_malformed: 'the iss of the token is malformed',
  aud_malformed: 'the aud of the token is malformed',
  sub_malformed: 'the sub of the token is malformed',
  client_malformed: 'the client of the token is malformed',
  identity_missing: 'the token does not say who calls',
} as const

type ClaimFlaw = keyof typeof CLAIM_FLAWS

/** Furthest time that a claim may name, in seconds: what a date can hold. */
const MOST_SECONDS = 8_640_000_000_000
const MOST_IDENTITY = 1_024
const MOST_POLICIES = 64
const MOST_SCOPES = 256

/**
 * The flaw of a token's claims at this moment (RFC 7519 section 4.1); undefined without one. `exp` is required unless the definition says
 * otherwise: a token that never expires cannot be revoked.
 */
export function flawOfClaims(claims: JsonObject, rules: JwtRules, wallMs: number): ClaimFlaw | undefined {
  const { exp, nbf, iat, iss, aud, sub } = claims
  const { skewMs, issuers, audiences, subjects } = rules
  if (exp === undefined ? !rules.takesEndless : !isTime(exp)) return 'exp_missing'
  if (endOf(claims, rules) <= wallMs) return 'expired'
  if (nbf !== undefined && !(isTime(nbf) && nbf * 1000 <= wallMs + skewMs.notBefore)) return 'nbf_future'
  if (iat !== undefined && !(isTime(iat) && iat * 1000 <= wallMs + skewMs.issuedAt)) return 'iat_future'
  if (iss !== undefined && !isText(iss)) return 'iss_malformed'
  if (aud !== undefined && !(Array.isArray(aud) ? aud.every(isText) : isText(aud))) return 'aud_malformed'
  if (sub !== undefined && shortText(sub) === '') return 'sub_malformed'
  if (issuers.length > 0 && !isOneOf(iss, issuers)) return 'iss_refused'
  if (audiences.length > 0 && !textsOf(aud).some((each) => audiences.includes(each))) return 'aud_refused'
  if (subjects.length > 0 && !isOneOf(sub, subjects)) return 'sub_refused'
  if (
    rules.clientClaim !== '' &&
    claimAt(claims, rules.clientClaim) !== undefined &&
    clientFromClaims(claims, rules) === ''
  )
    return 'client_malformed'
  return identityFromClaims(claims, rules) === '' ? 'identity_missing' : undefined
}

/** Unix milliseconds at which a token with these claims ends; infinite without `exp`. */
export function endOf({ exp }: JsonObject, { skewMs }: JwtRules): number {
  return typeof exp === 'number' ? exp * 1000 + skewMs.expiresAt : Number.POSITIVE_INFINITY
}

function isText(value: Json): boolean {
  return typeof value === 'string' && value !== ''
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MOST_SECONDS
}

function isOneOf(value: Json | undefined, allowed: readonly string[]): boolean {
  return typeof value === 'string' && allowed.includes(value)
}

/** Who calls, as the first claim of those that the definition names says it; '' when it does not. */
export function identityFromClaims(claims: JsonObject, { identityClaims }: Pick<JwtRules, 'identityClaims'>): string {
  return shortText(firstClaim(claims, identityClaims))
}

/** The client that a token was made for, where the definition names the claim; '' when it does not say. */
export function clientFromClaims(claims: JsonObject, { clientClaim }: JwtRules): string {
  return clientClaim === '' ? '' : shortText(claimAt(claims, clientClaim))
}

function shortText(value: Json | undefined): string {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  return typeof text === 'string' && text.length <= MOST_IDENTITY && !/[\x00-\x1f\x7f]/.test(text) ? text : ''
}

/**
 * Ids of the policies that a token calls for: those that it names, and those that its scopes map to; where it has neither claim,
 * those of its client (`ofClient`), else those of the definition. None at all when a claim is there and gives nothing, whatever it holds: that is not the same as no claim.
 */
export function policiesFromClaims(
  claims: JsonObject,
  rules: JwtRules,
  ofClient?: readonly string[],
): readonly string[] {
  const { policyClaims, scopeClaims, scopePolicies, defaultPolicies } = rules
  const named = firstClaim(claims, policyClaims)
  const scopes = scopePolicies.size === 0 ? undefined : firstClaim(claims, scopeClaims)
  if (named === undefined && scopes === undefined) return ofClient ?? defaultPolicies
  const byName = named === undefined ? ofClient : textsOf(named).slice(0, MOST_POLICIES)
  const byScope = scopes === undefined ? undefined : scopesOf(scopes).flatMap((scope) => scopePolicies.get(scope) ?? [])
  if (byName?.length === 0 || byScope?.length === 0) return []
  return [...new Set([...(byName ?? []), ...(byScope ?? [])])]
}

/** A list, or one text with spaces between (RFC 8693 section 4.2). */
function scopesOf(value: Json): readonly string[] {
  return (typeof value === 'string' ? value.split(' ') : textsOf(value)).slice(0, MOST_SCOPES)
}

/** The first of these claims that the token has: one that is there and means nothing hides those after it. */
function firstClaim(claims: JsonObject, names: readonly string[]): Json | undefined {
  for (const name of names) {
    const claim = claimAt(claims, name)
    if (claim !== undefined) return claim
  }
  return undefined
}

/**
 * A claim by its name, else by the path that the name is: `realm_access.roles`. undefined when it is absent; null also where the path
 * leads through something that is no object.
 */
function claimAt(claims: JsonObject, name: string): Json | undefined {
  if (Object.hasOwn(claims, name)) return claims[name]
  if (!name.includes('.')) return undefined
  let at: Json = claims
  for (const part of name.split('.')) {
    if (!isObject(at)) return null
    if (!Object.hasOwn(at, part)) return undefined
    at = at[part]!
  }
  return at
}

function textsOf(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string' && each !== '') : []
}
