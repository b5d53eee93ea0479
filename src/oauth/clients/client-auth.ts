import { randomBytes, timingSafeEqual } from 'node:crypto'
import { fault, waitFault } from '../../errors/fault.ts'
import { visitorOf } from '../../model/network/visitor.ts'
import type { ClientAuthMethod, OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { equalSecrets, hashKey, newSecret, type SealKey, seal } from '../../model/secrets/secret.ts'
import type { Endpoint, OAuthCall, OAuthParts } from '../endpoints/parts.ts'
import type { Form } from '../messages/form.ts'
import { certificateFits } from '../proofs/mtls.ts'
import { JWT_LIMIT, readCompact } from '../signing-keys/jwt.ts'
import { ASSERTION_TYPES, JWT_BEARER, verifyAssertion } from './client-assertion.ts'
import { isRegistered, secretContext, unsealSecret } from './clients.ts'

/** The possible meanings of Basic credentials: percent-decoded as in RFC 6749 section 2.3.1, then verbatim, where that differs. */
interface BasicCredentials {
  readonly ids: readonly string[]
  readonly secrets: readonly string[]
}

const BASIC = /^basic +([A-Za-z0-9+/_-]+={0,2})$/i

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The credentials of a client. A pair of spellings: percent-decoded, then verbatim, where these differ. */
interface Proof {
  readonly method: 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | 'none'
  readonly clientIds: readonly string[]
  /** Every one must fit in one of its spellings: Basic, and the body where it repeats the secret. */
  readonly secrets: readonly (readonly string[])[]
  readonly assertion: string
}

/** How many valid secrets of a client are compared: always as many, so that their number does not show. */
const COMPARED = 3

/**
 * Returns the client of the call, authenticated by its registered method: Basic (RFC 6749
 * section 2.3.1, percent-decoded, else verbatim), secret in the body, `private_key_jwt` (RFC 7523), certificate
 * (RFC 8705 section 2), or nothing for public clients. Parameters repeated in the body must equal those in Basic. An unknown client, one
 * of another API and a wrong secret get the same response after the same time.
 * @throws Fault `oauth_invalid_client`, `oauth_too_many_tries` (429) after many wrong secrets (RFC 6749 section 2.3.1), `oauth_unknown_caller`, `oauth_no_policy` (rights lost since), `oauth_invalid_request` (two methods at once, malformed
 * header), `store_away`, `seal_broken`
 */
export async function authenticateClient(parts: OAuthParts, call: OAuthCall, form: Form): Promise<OAuthClient> {
  const client = await provenClient(parts, call, form)
  if (!MAY_END_TOKENS.has(call.endpoint) && !isRegistered(parts, client, call.api)) throw fault('oauth_no_policy')
  return client
}

/** Endpoints for a client whose policy has no rights on the API any more. */
const MAY_END_TOKENS: ReadonlySet<Endpoint> = new Set(['revoke', 'revoke_all'])

async function provenClient(parts: OAuthParts, call: OAuthCall, form: Form): Promise<OAuthClient> {
  const proof = readProof(parts, call, form)
  const client = await firstKnown(parts, call, proof.clientIds)
  if (proof.method === 'private_key_jwt') return byAssertion(parts, call, client, proof.assertion)
  if (proof.method === 'none') return withoutSecret(call, client)
  const fits = secretFits(parts, client ?? decoyOf(parts), proof.secrets)
  slowGuesses(parts, call, proof, client !== undefined && fits)
  if (client === undefined) throw fault('oauth_unknown_caller')
  if (!fits || !mayUse(client.auth_method, proof.method)) throw fault('oauth_invalid_client')
  return client
}

/** Unknown clients count too, so that the refusal tells nothing of which exist. @throws Fault `oauth_too_many_tries` (429) */
function slowGuesses({ clientSecretBrake }: OAuthParts, call: OAuthCall, { clientIds }: Proof, isRight: boolean): void {
  const waitMs = clientSecretBrake.waitMs(`${visitorOf(call.clientAddress)}\n${clientIds[0] ?? ''}`, isRight)
  if (waitMs > 0) throw waitFault('oauth_too_many_tries', waitMs)
}

function readProof(parts: OAuthParts, call: OAuthCall, form: Form): Proof {
  const basic = readBasic(call.headers('authorization'))
  const named = form.get('client_id')
  const secrets = [form.get('client_secret'), form.get('secret')].filter((secret) => secret !== undefined)
  const assertion = form.get('client_assertion')
  if (assertion !== undefined || form.has('client_assertion_type')) {
    if (basic !== undefined || secrets.length > 0)
      throw fault('oauth_invalid_request', 'the client authenticates in more than one way')
    return assertionProof(form, assertion, named)
  }
  const sent = secrets.map((secret) => [secret])
  if (basic !== undefined) {
    const clientIds = named === undefined ? basic.ids : basic.ids.filter((id) => id === named)
    return { method: 'client_secret_basic', clientIds, secrets: [basic.secrets, ...sent], assertion: '' }
  }
  if (named === undefined) throw missing(parts)
  const method = sent.length > 0 ? 'client_secret_post' : 'none'
  return { method, clientIds: [named], secrets: sent, assertion: '' }
}

/** The incumbent called a call without credentials malformed. */
function missing({ config }: OAuthParts) {
  return config.compat.legacy_statuses
    ? fault('oauth_invalid_request', 'client authentication is missing')
    : fault('oauth_invalid_client')
}

function assertionProof(form: Form, assertion: string | undefined, named: string | undefined): Proof {
  if (assertion === undefined) throw fault('oauth_invalid_request', 'client_assertion is missing')
  if (form.get('client_assertion_type') !== JWT_BEARER)
    throw fault('oauth_invalid_request', 'client_assertion_type is missing or not known')
  const clientIds = [named ?? subjectOf(assertion)]
  return { method: 'private_key_jwt', clientIds, secrets: [], assertion }
}

/** Who an assertion says that it is from, before it is verified: `client_id` may be left out beside it (RFC 7523 section 3). */
function subjectOf(assertion: string): string {
  const jwt = readCompact(assertion, JWT_LIMIT, ASSERTION_TYPES)
  if (typeof jwt === 'string') throw fault('oauth_assertion_refused', jwt)
  if (typeof jwt.claims.sub !== 'string') throw fault('oauth_assertion_refused', 'the sub of the assertion is missing')
  return jwt.claims.sub
}

async function firstKnown(
  parts: OAuthParts,
  call: OAuthCall,
  ids: readonly string[],
): Promise<OAuthClient | undefined> {
  for (const id of ids) {
    const found = parts.findClient(id, call.api)
    const client = found instanceof Promise ? await found : found
    const isKnown =
      client !== undefined && (client.registered_by_policy !== '' || isRegistered(parts, client, call.api))
    if (isKnown) return client
  }
  return undefined
}

async function byAssertion(
  parts: OAuthParts,
  call: OAuthCall,
  client: OAuthClient | undefined,
  assertion: string,
): Promise<OAuthClient> {
  if (client === undefined) throw fault('oauth_unknown_caller')
  if (client.auth_method !== 'private_key_jwt')
    throw fault('oauth_assertion_refused', 'the client is not registered for private_key_jwt')
  await verifyAssertion(parts, call, client, assertion)
  return client
}

function withoutSecret(call: OAuthCall, client: OAuthClient | undefined): OAuthClient {
  if (client === undefined) throw fault('oauth_unknown_caller')
  if (client.auth_method === 'none') return client
  if (client.auth_method === 'tls_client_auth' && certificateFits(client, call)) return client
  throw fault('oauth_invalid_client')
}

function mayUse(registered: ClientAuthMethod, used: Proof['method']): boolean {
  return registered === used || registered === 'any'
}

interface Known {
  /** SHA-256 of the secret: equal lengths to compare, and nothing in clear. */
  readonly digest: Buffer
  readonly until: number
}

/** Module state: a cache of immutable values: the secrets of a client, as long as it stays in memory. Unsealing costs more than all else here. */
const known = new WeakMap<OAuthClient, readonly Known[]>()

function knownOf(parts: OAuthParts, client: OAuthClient): readonly Known[] {
  const before = known.get(client)
  if (before !== undefined) return before
  const made = client.secrets.map(({ sealed, until }) => ({
    digest: hashKey(unsealSecret(parts, client.client_id, sealed)),
    until,
  }))
  known.set(client, made)
  return made
}

/** True when each secret that was sent is, in one of its spellings, a valid one of the client. Always compares all of them. */
function secretFits(parts: OAuthParts, client: OAuthClient, sent: readonly (readonly string[])[]): boolean {
  const now = parts.clock.wall()
  const valid = knownOf(parts, client).filter(({ until }) => until === 0 || until > now)
  let fits = sent.length > 0
  for (const spellings of sent) {
    let one = false
    for (const spelling of spellings) {
      const digest = hashKey(spelling)
      for (let i = 0; i < Math.max(COMPARED, valid.length); i++) {
        const equal = timingSafeEqual(digest, valid[i]?.digest ?? NOBODYS)
        one = (equal && i < valid.length) || one
      }
    }
    fits = one && fits
  }
  return fits && sameSecret(sent)
}

/** The body must repeat what Basic says, and not another secret of the client that is valid as well. */
function sameSecret(sent: readonly (readonly string[])[]): boolean {
  const [first = [], ...others] = sent
  return others.every((other) => other.some((spelling) => first.some((own) => equalSecrets(spelling, own))))
}

const NOBODYS = hashKey(newSecret())

/** Module state: a cache of immutable values: what replaces an unknown client, with a random secret. One for each seal key. */
const decoys = new WeakMap<SealKey, OAuthClient>()

function decoyOf({ sealKey }: OAuthParts): OAuthClient {
  const before = decoys.get(sealKey)
  if (before !== undefined) return before
  const client_id = randomBytes(16).toString('hex')
  const sealed = seal(sealKey, newSecret(), secretContext(client_id)).toString('base64')
  const made: OAuthClient = {
    client_id,
    org_id: '',
    secrets: [{ sealed, until: 0 }],
    redirect_uris: [],
    api_ids: [],
    registered_by_policy: '',
    policies: [],
    metadata: {},
    description: '',
    auth_method: 'any',
    token_lifetime: 0,
    epoch: '',
    date_created: '',
  }
  decoys.set(sealKey, made)
  return made
}

/**
 * Reads the `Authorization` fields of a call; undefined when there is none. Id and secret are UTF-8, else ISO 8859-1 (RFC 7617
 * section 2.1).
 * @throws Fault `oauth_invalid_request` for several fields, `oauth_basic_malformed`, `oauth_invalid_client` for another scheme
 */
export function readBasic(fields: readonly string[]): BasicCredentials | undefined {
  if (fields.length === 0) return undefined
  if (fields.length > 1) throw fault('oauth_invalid_request', 'Authorization is given more than once')
  const field = fields[0]!.trim()
  if (!/^basic( |$)/i.test(field)) throw fault('oauth_invalid_client')
  const encoded = BASIC.exec(field)?.[1]
  if (encoded === undefined) throw malformed()
  const text = decode(Buffer.from(encoded, 'base64'))
  const colon = text.indexOf(':')
  if (colon < 0) throw malformed()
  return { ids: spellings(text.slice(0, colon)), secrets: spellings(text.slice(colon + 1)) }
}

function malformed() {
  return fault('oauth_basic_malformed')
}

function decode(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    return bytes.toString('latin1')
  }
}

function spellings(text: string): readonly string[] {
  const decoded = percentDecoded(text)
  return decoded === undefined || decoded === text ? [text] : [decoded, text]
}

function percentDecoded(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
