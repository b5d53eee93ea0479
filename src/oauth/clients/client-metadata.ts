import { type Fault, fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { type GrantType, grantOf, isForClient } from '../../model/oauth-clients/grants.ts'
import {
  CLIENT_REQUIREMENTS,
  type ClientRequirement,
  type OAuthClient,
} from '../../model/oauth-clients/oauth-client.ts'
import { flawOfJwks, flawOfKeyAddress } from '../../model/oauth-clients/oauth-client-fields.ts'
import type { OAuthRules } from '../../model/oauth-clients/oauth-rules.ts'
import { redirectFlaw } from '../../model/oauth-clients/redirect-uri.ts'
import { readScope } from '../tokens/scopes.ts'

const MOST_URIS = 20
const LONGEST_TEXT = 512
const LONGEST_URI = 2048
const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none']
/** Metadata that people read, kept as they came. */
const TEXTS = ['client_name', 'software_id', 'software_version']
const LINKS = ['client_uri', 'logo_uri', 'tos_uri', 'policy_uri']
const KEPT = [...TEXTS, ...LINKS, 'contacts']

/**
 * Checks client metadata (RFC 7591 section 2) against what the API offers and answers the body that `publish` registers a client
 * with: only members named here get in, so that nobody registers policies or metadata of tokens. Defaults are those of the RFC;
 * a member that is `null` or left out is none, also where it was there before. The password grant and implicit
 * responses are refused; `software_statement` and unknown members are not read.
 * @throws Fault `oauth_invalid_redirect`, `oauth_invalid_metadata`
 */
export function readMetadata(sent: JsonObject, rules: OAuthRules): JsonObject {
  // A client without a method gets the standard's default and may post the secret too: client libraries do so unasked.
  const method = sent.token_endpoint_auth_method ?? 'any'
  if (sent.token_endpoint_auth_method != null && !AUTH_METHODS.includes(method as string))
    throw bad('token_endpoint_auth_method', 'is not one')
  const grants = readGrants(sent, rules)
  const confidential = grants.find(isForClient)
  if (method === 'none' && confidential !== undefined)
    throw bad('grant_types', `${confidential} needs a client that authenticates`)
  return {
    ...readPresented(sent),
    ...readRequirements(sent, rules),
    redirect_uris: readRedirects(sent.redirect_uris ?? [], grants),
    auth_method: method,
    grant_types: grants,
    scope: readOwnScope(sent.scope ?? null, rules),
    ...readKeys(sent, method as string),
    description: (sent.client_name ?? '') as string,
  }
}

/**
 * The same for a client that nobody vouches for: it gets only grants that a person allows, and for those `scope` is no bound
 * (RFC 7591 section 3.2.1): MCP apps register with the scopes of the first place that they see, and later ask for others.
 */
export function readOpenMetadata(sent: JsonObject, rules: OAuthRules): JsonObject {
  const grants = new Set([...rules.grants].filter((grant) => !isForClient(grant)))
  return { ...readMetadata(sent, { ...rules, grants }), scope: null }
}

/** The metadata of a client as a registration answers them (RFC 7591 section 3.2.1). */
export function metadataOfClient(client: OAuthClient, rules: OAuthRules): JsonObject {
  const grants = client.grant_types ?? [...rules.grants]
  const kept = [...KEPT, ...CLIENT_REQUIREMENTS]
    .map((name): [string, unknown] => [name, client[name]])
    .filter(([, value]) => value != null)
  return {
    redirect_uris: [...client.redirect_uris],
    token_endpoint_auth_method: client.auth_method === 'any' ? 'client_secret_basic' : client.auth_method,
    grant_types: [...grants],
    response_types: grants.includes('authorization_code') ? ['code'] : [],
    ...(client.scope !== undefined && { scope: client.scope }),
    ...(client.jwks !== undefined && { jwks: client.jwks }),
    ...(client.jwks_uri !== undefined && { jwks_uri: client.jwks_uri }),
    ...(Object.fromEntries(kept) as JsonObject),
  }
}

/** A code without a grant to use it, or the other way round, is a mistake (RFC 7591 section 2.1). */
function readGrants(sent: JsonObject, rules: OAuthRules): string[] {
  const grants = [...new Set(texts('grant_types', sent.grant_types ?? ['authorization_code']))]
  const strange = grants.find((grant) => grantOf(grant)?.isUnregistrable || !rules.grants.has(grant as GrantType))
  if (strange !== undefined || grants.length === 0) throw bad('grant_types', 'the API does not have all of them')
  const gives = grants.includes('authorization_code')
  const responses = texts('response_types', sent.response_types ?? (gives ? ['code'] : []))
  if (responses.some((type) => type !== 'code' || !rules.responseTypes.has(type)))
    throw bad('response_types', 'the API gives codes only')
  if (responses.includes('code') !== gives) throw bad('response_types', 'do not fit grant_types')
  return grants
}

/** Without a redirect URI, nothing but client credentials can be had. */
function readRedirects(sent: Json, grants: readonly string[]): string[] {
  const uris = [
    ...new Set(
      texts('redirect_uris', sent, () => fault('oauth_invalid_redirect', 'redirect_uris must be a list'), Infinity),
    ),
  ]
  if (uris.length > MOST_URIS) throw fault('oauth_invalid_redirect', `more than ${MOST_URIS} redirect_uris`)
  for (const [index, uri] of uris.entries()) {
    const flaw = redirectFlaw(uri, true)
    if (flaw !== undefined) throw fault('oauth_invalid_redirect', `redirect_uris[${index}] ${flaw}`)
  }
  if (uris.length === 0 && !grants.every(isForClient)) throw fault('oauth_invalid_redirect', 'redirect_uris is missing')
  return uris
}

function readOwnScope(sent: Json, rules: OAuthRules): string | null {
  if (sent === null || sent === '') return null
  if (typeof sent !== 'string') throw bad('scope', 'must be a string')
  try {
    return readScope(sent, {}, rules)
  } catch {
    throw bad('scope', 'is malformed, or the API does not have all of it')
  }
}

function readKeys({ jwks = null, jwks_uri = null }: JsonObject, method: string): JsonObject {
  if (jwks !== null && jwks_uri !== null) throw bad('jwks_uri', 'cannot be there together with jwks')
  if (jwks === null && jwks_uri === null && method === 'private_key_jwt')
    throw bad('jwks', 'is missing, and private_key_jwt needs it or jwks_uri')
  if (jwks !== null) {
    const flaw = isObject(jwks) ? flawOfJwks(jwks) : 'must be an object'
    if (flaw !== undefined) throw bad('jwks', flaw)
  }
  if (jwks_uri !== null) {
    const flaw = typeof jwks_uri === 'string' ? flawOfKeyAddress(jwks_uri) : 'must be an https address'
    if (flaw !== undefined) throw bad('jwks_uri', flaw)
  }
  return { jwks, jwks_uri }
}

/** Requirements of the client beyond the rules of the API, each of which the API must serve. */
function readRequirements(sent: JsonObject, rules: OAuthRules): JsonObject {
  const served: Readonly<Record<ClientRequirement, boolean>> = {
    dpop_bound_access_tokens: rules.dpop !== 'off',
    tls_client_certificate_bound_access_tokens: rules.mutualTls !== 'off',
    require_pushed_authorization_requests: rules.responseTypes.has('code'),
  }
  return Object.fromEntries(
    CLIENT_REQUIREMENTS.map((name) => {
      const value = sent[name] ?? null
      if (value !== null && typeof value !== 'boolean') throw bad(name, 'must be true or false')
      if (value === true && !served[name]) throw bad(name, 'is not served by the API')
      return [name, value]
    }),
  )
}

/** The fields that consent pages show: text of a reasonable length, and links that no page can be made to run. */
function readPresented(sent: JsonObject): JsonObject {
  const presented: JsonObject = {}
  for (const name of KEPT) {
    const value = sent[name] ?? null
    if (value !== null) checkPresented(name, value)
    presented[name] = value
  }
  return presented
}

function checkPresented(name: string, value: Json): void {
  if (name === 'contacts') {
    if (texts(name, value).length > MOST_URIS) throw bad(name, `holds more than ${MOST_URIS}`)
    return
  }
  if (typeof value !== 'string') throw bad(name, 'must be a string')
  if (TEXTS.includes(name) && value.length > LONGEST_TEXT) throw bad(name, `is longer than ${LONGEST_TEXT}`)
  if (LINKS.includes(name) && !isLink(value)) throw bad(name, 'must be an http or https address')
}

function isLink(text: string): boolean {
  return text.length <= LONGEST_URI && /^https?:\/\/[\x21-\x7e]+$/.test(text) && URL.canParse(text)
}

function texts(
  name: string,
  value: Json,
  wrong = () => bad(name, 'must be a list of strings'),
  longest = LONGEST_URI,
): string[] {
  if (!Array.isArray(value)) throw wrong()
  return value.map((entry) => {
    if (typeof entry !== 'string' || entry.length > longest) throw wrong()
    return entry
  })
}

function bad(name: string, flaw: string): Fault {
  return fault('oauth_invalid_metadata', `${name}: ${flaw}`)
}
