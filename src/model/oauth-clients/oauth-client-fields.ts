import { createPublicKey } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { DEVELOPER_ID } from '../portal/developers/developer.ts'
import {
  type Check,
  checkFields,
  checkLength,
  checksOf,
  date,
  Findings,
  flag,
  integer,
  listOf,
  members,
  oneOf,
  text,
} from '../sessions/session-fields.ts'
import { GRANTS } from './grants.ts'
import { CLIENT_REQUIREMENTS, type ClientAuthMethod, type ClientRequirement } from './oauth-client.ts'
import { holdsSeveral, redirectFlaw } from './redirect-uri.ts'

const MOST_KEYS = 20
const LEAST_RSA_BITS = 2048
const CURVES: ReadonlyMap<string, readonly string[]> = new Map([
  ['EC', ['P-256', 'P-384', 'P-521']],
  ['OKP', ['Ed25519', 'Ed448']],
])
/** Members of private and symmetric keys (RFC 7518 section 6): a key set that shows one has given its secret away. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/**
 * The errors of a client's key set (`private_key_jwt`, RFC 7523); undefined when it is valid.
 * Public keys only, EC on P-256, P-384 or P-521, Ed25519, Ed448, or RSA of at least 2,048 bits, each under another `kid`.
 */
export function flawOfJwks(value: Json): string | undefined {
  const keys = isObject(value) ? value.keys : undefined
  if (!Array.isArray(keys) || keys.length === 0) return 'must be a JSON Web Key Set with at least one key'
  if (keys.length > MOST_KEYS) return `must not hold more than ${MOST_KEYS} keys`
  const ids = keys.map((key) => (isObject(key) ? key.kid : undefined)).filter((id) => id !== undefined)
  if (new Set(ids).size < ids.length) return 'two keys have the same kid'
  for (const [index, key] of keys.entries()) {
    const flaw = flawOfKey(key)
    if (flaw !== undefined) return `keys[${index}]: ${flaw}`
  }
  return undefined
}

const LONGEST_ADDRESS = 2_048

/** The errors of the address of a client's key set (`jwks_uri`), in words that follow its name; undefined when it is valid. */
export function flawOfKeyAddress(text: string): string | undefined {
  if (text.length > LONGEST_ADDRESS) return `is longer than ${LONGEST_ADDRESS} characters`
  const url = /^https?:\/\/[\x21-\x7e]+$/i.test(text) ? URL.parse(text) : null
  if (url === null) return 'must be an https address'
  if (url.username !== '' || url.password !== '') return 'must not hold a user or a password'
  return text.includes('#') ? 'must not have a fragment' : undefined
}

function flawOfKey(jwk: Json): string | undefined {
  if (!isObject(jwk)) return 'must be an object'
  if (PRIVATE_MEMBERS.some((name) => Object.hasOwn(jwk, name))) return 'is no public key: take its private part out'
  if (jwk.kid !== undefined && typeof jwk.kid !== 'string') return 'kid must be a string'
  const known = jwk.kty === 'RSA' || CURVES.get(String(jwk.kty))?.includes(String(jwk.crv))
  if (known !== true) return 'must be EC on P-256, P-384 or P-521, OKP on Ed25519 or Ed448, or RSA'
  try {
    const { asymmetricKeyDetails: details } = createPublicKey({ key: jwk, format: 'jwk' })
    return (details?.modulusLength ?? LEAST_RSA_BITS) < LEAST_RSA_BITS ? 'is shorter than 2,048 bits' : undefined
  } catch {
    return 'is not a valid key'
  }
}

/** The client in a body; undefined = absent, null = remove. */
export interface ClientFields {
  readonly redirect_uris: readonly string[] | undefined
  readonly policies: readonly string[] | undefined
  readonly metadata: JsonObject | undefined
  readonly description: string | undefined
  readonly auth_method: ClientAuthMethod | undefined
  readonly token_lifetime: number | undefined
  readonly grant_types: readonly string[] | null | undefined
  readonly scope: string | null | undefined
  readonly jwks: JsonObject | null | undefined
  readonly jwks_uri: string | null | undefined
  readonly certificate: string | null | undefined
  readonly requirements: Readonly<Partial<Record<ClientRequirement, boolean | null>>>
  /** Fields that are kept as they came. */
  readonly extra: JsonObject
}

const METHODS: readonly ClientAuthMethod[] = [
  'any',
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'tls_client_auth',
  'none',
]
const MOST_URIS = 50
const MOST_POLICIES = 100
const LONGEST_TEXT = 4096
const YEAR_S = 31_536_000
/** RFC 6749 section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/
/** RFC 6749 appendix A.1 and A.2. */
const VISIBLE = /^[\x20-\x7e]+$/
/** A segment `.` or `..`, bare, encoded or with parameters: no path that holds one is taken. */
const DOT_SEGMENT = /(?:^|[/\\]|%(?:25)*(?:2f|5c))(?:\.|%(?:25)*2e){1,2}(?:$|[/\\;]|%(?:25)*(?:2f|5c|3b))/i
const THUMBPRINT = /^(?:[0-9a-f]{2}:?){31}[0-9a-f]{2}$/i

const shortText: Check = (value, path, findings) => {
  text(value, path, findings)
  if (typeof value === 'string' && value.length > LONGEST_TEXT) findings.add(path, `is longer than ${LONGEST_TEXT}`)
}
const redirect: Check = (value, path, findings) => {
  if (typeof value !== 'string') return findings.add(path, 'must be a string')
  if (holdsSeveral(value)) return findings.add(path, 'holds several addresses: send them as the list redirect_uris')
  const flaw = redirectFlaw(value, false)
  if (flaw !== undefined) findings.add(path, flaw)
}
const oneOrMoreRedirects: Check = (value, path, findings) => {
  if (value === '') return
  if (Array.isArray(value)) listOf(redirect)(value, path, findings)
  else redirect(value, path, findings)
}
const scope: Check = (value, path, findings) => {
  if (typeof value !== 'string' || (value !== '' && !SCOPE.test(value)))
    findings.add(path, 'must be scopes separated by one space')
}
const lifetime: Check = (value, path, findings) => {
  integer(value, path, findings)
  if (typeof value === 'number' && (value < 0 || value > YEAR_S)) findings.add(path, `must be from 0 to ${YEAR_S}`)
}
const jwks: Check = (value, path, findings) => {
  const flaw = isNoKeySet(value) ? undefined : flawOfJwks(value)
  if (flaw !== undefined) findings.add(path, flaw)
}

const keyAddress: Check = (value, path, findings) => {
  text(value, path, findings)
  const flaw = typeof value === 'string' && value !== '' ? flawOfKeyAddress(value) : undefined
  if (flaw !== undefined) findings.add(path, flaw)
}

/** Programs that write a value for every member they know send an empty list for no choice of grants: those of the API. */
function grantTypesIn({ grant_types: sent }: JsonObject): string[] | null | undefined {
  return Array.isArray(sent) && sent.length === 0 ? null : (sent as string[] | null | undefined)
}

/** The same with an empty object for no key set. */
function isNoKeySet(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0
}

const CHECKS = checksOf({
  redirect_uri: oneOrMoreRedirects,
  redirect_uris: listOf(redirect),
  policy_id: text,
  policies: listOf(text),
  meta_data: members,
  metadata: members,
  description: shortText,
  client_name: shortText,
  app_description: shortText,
  use_case: shortText,
  date_created: date,
  auth_method: oneOf(...METHODS),
  token_endpoint_auth_method: oneOf(...METHODS),
  token_lifetime: lifetime,
  grant_types: listOf(oneOf(...GRANTS.map(({ type }) => type))),
  scope,
  jwks,
  jwks_uri: keyAddress,
  certificate: shortText,
  ...Object.fromEntries(CLIENT_REQUIREMENTS.map((name) => [name, flag])),
  api_id: text,
  api_ids: listOf(text),
  org_id: text,
})

/** Internal members, and members with their own handling: never copied from input. */
const OWN = new Set([
  ...CHECKS.keys(),
  ...[
    'client_id',
    'secret',
    'client_secret',
    'secrets',
    'registered_by_policy',
    'epoch',
    'api_epochs',
    'registration_id',
    'registration',
    'redirect_since',
  ],
  DEVELOPER_ID,
])
const KEPT_TEXTS = ['client_name', 'app_description', 'use_case']

/**
 * Reads the client in a body. `redirect_uri` is a text or a list, with or instead of `redirect_uris`;
 * `policy_id` comes first among `policies`; `meta_data` and `metadata` are the same.
 * @throws Fault `oauth_client_invalid` (400) naming each field
 */
export function readClientFields(body: JsonObject): ClientFields {
  const findings = new Findings()
  checkFields(body, CHECKS, '', findings)
  checkLength(body, findings)
  refuse(findings)
  const redirects = united(findings, 'redirect_uri', body.redirect_uri, 'redirect_uris', body.redirect_uris)
  const policies = united(findings, 'policy_id', body.policy_id, 'policies', body.policies)
  if ((redirects ?? []).length > MOST_URIS) findings.add('redirect_uris', `more than ${MOST_URIS}`)
  if ((policies ?? []).length > MOST_POLICIES) findings.add('policies', `more than ${MOST_POLICIES}`)
  if (differ(body.meta_data, body.metadata)) findings.add('metadata', 'is not the same as meta_data')
  if (differ(body.auth_method, body.token_endpoint_auth_method))
    findings.add('auth_method', 'is not the same as token_endpoint_auth_method')
  if (body.jwks != null && !isNoKeySet(body.jwks) && body.jwks_uri != null && body.jwks_uri !== '')
    findings.add('jwks_uri', 'cannot be there together with jwks (RFC 7591 section 2)')
  refuse(findings)
  const certificate = body.certificate as string | null | undefined
  return {
    redirect_uris: redirects,
    policies,
    metadata: (body.metadata ?? body.meta_data ?? undefined) as JsonObject | undefined,
    description: (body.description ?? undefined) as string | undefined,
    auth_method: (body.auth_method ?? body.token_endpoint_auth_method ?? undefined) as ClientAuthMethod | undefined,
    token_lifetime: body.token_lifetime === null ? 0 : (body.token_lifetime as number | undefined),
    grant_types: grantTypesIn(body),
    scope: body.scope as string | null | undefined,
    jwks: isNoKeySet(body.jwks) ? null : (body.jwks as JsonObject | null | undefined),
    jwks_uri: body.jwks_uri === '' ? null : (body.jwks_uri as string | null | undefined),
    certificate: typeof certificate === 'string' ? thumbprintOf(certificate) : certificate,
    requirements: Object.fromEntries(
      CLIENT_REQUIREMENTS.filter((name) => body[name] !== undefined).map((name) => [name, body[name] || null]),
    ) as ClientFields['requirements'],
    extra: extraOf(body),
  }
}

/**
 * Checks a client id or secret that a caller chose: visible ASCII and spaces, at most 1,024 characters, and an id that a path
 * can carry as one segment. @throws Fault `oauth_client_invalid`
 */
export function checkClientText(name: 'client_id' | 'secret', value: string): string {
  if (!VISIBLE.test(value) || value.length > 1024)
    throw fault('oauth_client_invalid', `${name}: must be 1 to 1,024 characters of visible ASCII`)
  if (name === 'client_id' && DOT_SEGMENT.test(value))
    throw fault('oauth_client_invalid', 'client_id: must not hold a path segment . or .., in any encoding')
  return value
}

/** The single value first, then the list. If both are given, the list must contain the value: otherwise it is unclear which counts. */
function united(
  findings: Findings,
  oneName: string,
  one: Json | undefined,
  listName: string,
  list: Json | undefined,
): string[] | undefined {
  const first = (Array.isArray(one) ? one : [one]).filter(
    (item): item is string => typeof item === 'string' && item !== '',
  )
  if (list === undefined || list === null) return one === undefined || one === null ? undefined : [...new Set(first)]
  const all = (list as string[]).filter((item) => item !== '')
  if (first.some((item) => !all.includes(item))) findings.add(oneName, `must be one of ${listName}`)
  return [...new Set([...first, ...all])]
}

function differ(one: Json | undefined, other: Json | undefined): boolean {
  if (one === undefined || one === null || other === undefined || other === null) return false
  return canonical(one) !== canonical(other)
}

function canonical(value: Json): string {
  return JSON.stringify(value, (_name, member: Json) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  )
}

/** A thumbprint as every tool writes it becomes plain lower-case hex; anything else is the subject of a certificate. */
function thumbprintOf(certificate: string): string {
  return THUMBPRINT.test(certificate) ? certificate.replaceAll(':', '').toLowerCase() : certificate
}

function extraOf(body: JsonObject): JsonObject {
  const kept = Object.entries(body).filter(([name]) => !OWN.has(name) || KEPT_TEXTS.includes(name))
  return Object.fromEntries(kept)
}

function refuse(findings: Findings): void {
  if (findings.list.length > 0) throw fault('oauth_client_invalid', findings.text)
}
