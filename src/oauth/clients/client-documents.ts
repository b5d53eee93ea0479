import { isDeepStrictEqual } from 'node:util'
import { Fault, fault, toFault, waitFault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import type { Log } from '../../model/logs/log.ts'
import { visitorOf } from '../../model/network/visitor.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { readClientFields } from '../../model/oauth-clients/oauth-client-fields.ts'
import type { OAuthRules } from '../../model/oauth-clients/oauth-rules.ts'
import type { Clock, MonoMillis } from '../../model/time/clock.ts'
import { withFields } from '../../publish/oauth-clients/oauth-client-draft.ts'
import { createClient, updateClient } from '../../publish/oauth-clients/oauth-clients.ts'
import type { OAuthCall, OAuthParts } from '../endpoints/parts.ts'
import { readStrictObject } from '../messages/strict-json.ts'
import { readOpenMetadata } from './client-metadata.ts'
import { findClient } from './clients.ts'

/** A document is read again with the first request after this time. */
const FRESH_MS = 600_000
/** An address that failed is not asked again before this time. */
const FAILED_MS = 10_000
const MOST_DOCUMENTS = 1_000
/** Documents that are read at a time; further ones are refused. */
const MOST_READING = 32
const LONGEST_URL = 1_024
const JSON_TYPE = /^application\/(?:[^;,\s]+\+)?json[ \t]*(?:;|$)/i
/** Nothing that only client and server know can be published. */
const SECRETS = ['client_secret', 'client_secret_expires_at', 'registration_access_token']

export interface ClientDocumentParts {
  readonly clock: Clock
  readonly log: Log
  /** Reads an address, within bounds of size and time. Rejects on failure. */
  readonly fetch: (url: string) => Promise<{ readonly bytes: Uint8Array; readonly contentType: string }>
}

interface Reading {
  readonly begunAt: MonoMillis
  readonly document: Promise<JsonObject | Fault>
  failed: boolean
}

/**
 * Clients whose id is the address of their metadata (draft-ietf-oauth-client-id-metadata-document). Where an API takes them
 * (`clientIdMetadata`), such a client is registered with the first request that names it, as one that registered itself, and follows its
 * document from then on. Its tokens outlive the document: to end them is a matter of administrators.
 */
export class ClientDocuments {
  readonly #parts: ClientDocumentParts
  readonly #readings = new Map<string, Reading>()
  /** The document that a registration was last made from, by API and address. */
  readonly #registered = new Map<string, JsonObject>()
  #reading = 0

  constructor(parts: ClientDocumentParts) {
    this.#parts = parts
  }

  /**
   * The client of this id, whose document is read unless that was done lately; every other client as it is registered.
   * @throws Fault `oauth_invalid_request` that names the flaw of the document, `oauth_too_many_tries` (429), `store_away`
   */
  async find(parts: OAuthParts, call: OAuthCall, clientId: string): Promise<OAuthClient | undefined> {
    const known = await findClient(parts, clientId, call.api)
    if (known !== undefined && !isDocumented(known)) return known
    if (!/^https:/i.test(clientId)) return undefined
    if (!call.api.oauth.clientIdMetadata) {
      if (known === undefined) return undefined
      throw fault('oauth_invalid_request', 'client_id: the API takes no client metadata documents (any more)')
    }
    const flaw = flawOfAddress(clientId)
    if (flaw !== undefined) throw fault('oauth_invalid_request', `client_id: the address ${flaw}`)
    if (known === undefined && !this.#isFresh(clientId)) {
      const waitMs = parts.openRegistrations.tryBegin(visitorOf(call.clientAddress))
      if (waitMs > 0) throw waitFault('oauth_too_many_tries', waitMs)
    }
    const document = await this.#read(clientId)
    if (document instanceof Fault) throw document
    return this.#register(parts, call, { clientId, document, known })
  }

  async #register(
    parts: OAuthParts,
    { api }: OAuthCall,
    { clientId, document, known }: { clientId: string; document: JsonObject; known: OAuthClient | undefined },
  ): Promise<OAuthClient> {
    const body = bodyOf(clientId, document, api.oauth)
    const key = `${api.apiId}\n${clientId}`
    if (known !== undefined && this.#registered.get(key) === document) return known
    if (known !== undefined && follows(known, body)) {
      bounded(this.#registered, key, document)
      return known
    }
    const actor = `registration:${clientId}`
    const common = { redirectOptional: true, actor }
    const registration = {
      ...{ api_id: api.apiId, issued_at: Math.floor(this.#parts.clock.wall() / 1000) },
      ...{ open: true, document: true },
    }
    const saved =
      known === undefined
        ? createClient(parts, {
            ...{ ...common, registration, apiId: api.apiId, orgId: api.orgId },
            body: { ...body, client_id: clientId, policies: [...api.oauth.registrationPolicies] },
          })
        : updateClient(parts, known, {
            ...common,
            body: bodyFor(known, body),
          })
    try {
      const { client } = await saved
      bounded(this.#registered, key, document)
      return client
    } catch (error) {
      const { code, message } = toFault(error)
      // Another request or node was faster.
      const other = code === 'id_taken' ? await parts.findClient(clientId, api) : undefined
      if (other !== undefined && isDocumented(other)) return other
      if (code === 'oauth_client_invalid' || code === 'query_invalid') throw refused(message)
      throw error
    }
  }

  #isFresh(url: string): boolean {
    const reading = this.#readings.get(url)
    if (reading === undefined) return false
    return this.#parts.clock.mono() - reading.begunAt < (reading.failed ? FAILED_MS : FRESH_MS)
  }

  /** One reading for all who wait. */
  #read(url: string): Promise<JsonObject | Fault> {
    if (this.#isFresh(url)) return this.#readings.get(url)!.document
    if (this.#reading >= MOST_READING) throw waitFault('oauth_too_many_tries', 1_000)
    const reading: Reading = { begunAt: this.#parts.clock.mono(), document: this.#fetch(url), failed: false }
    void reading.document.then((document) => {
      reading.failed = document instanceof Fault
    })
    bounded(this.#readings, url, reading)
    return reading.document
  }

  async #fetch(url: string): Promise<JsonObject | Fault> {
    const { log, fetch } = this.#parts
    this.#reading++
    try {
      const { bytes, contentType } = await fetch(url)
      if (!JSON_TYPE.test(contentType)) return refused('is not application/json')
      return readStrictObject(Buffer.from(bytes)) ?? refused('is not a JSON object, or names a member twice')
    } catch (cause) {
      log.warn({ host: new URL(url).host, cause }, 'cannot read the metadata document of a client')
      return refused('cannot be read: it must be at a public address, answered with 200 and no redirect, and small')
    } finally {
      this.#reading--
    }
  }
}

/** True when the registration follows a document. */
function isDocumented({ registration }: OAuthClient): boolean {
  return isObject(registration) && registration.document === true
}

/** The body of an update: what administrators gave the client stays. */
function bodyFor(known: OAuthClient, body: JsonObject): JsonObject {
  return { ...body, policies: [...known.policies], metadata: known.metadata }
}

/** True when the registration is as its document says, so that nobody's request writes it again. */
function follows(known: OAuthClient, body: JsonObject): boolean {
  try {
    return isDeepStrictEqual(withFields(known, readClientFields(bodyFor(known, body)), true), known)
  } catch {
    // The update tells the flaw.
    return false
  }
}

/** Why a text cannot be the address of a document (section 3 of the draft), in words that follow it; undefined where it can. */
function flawOfAddress(text: string): string | undefined {
  if (text.length > LONGEST_URL) return `is longer than ${LONGEST_URL} characters`
  const url = URL.parse(text)
  if (url === null || url.protocol !== 'https:') return 'is no https address'
  if (url.username !== '' || url.password !== '') return 'holds a user or a password'
  if (text.includes('#')) return 'has a fragment'
  // Dot segments, capitals of a host and the like are other spellings of one address.
  if (url.href !== text) return 'is not in normal form'
  return url.pathname === '/' ? 'has no path' : undefined
}

/** The body to register a client with, from its document. Grants that the API does not have are left out, and scopes, which bound nothing: a document is for all servers. */
function bodyOf(clientId: string, document: JsonObject, rules: OAuthRules): JsonObject {
  if (document.client_id !== clientId) throw refused('has another client_id than its address')
  const secret = SECRETS.find((name) => Object.hasOwn(document, name))
  if (secret !== undefined) throw refused(`holds ${secret}, which everybody can read there`)
  const method = document.token_endpoint_auth_method ?? 'none'
  if (method !== 'none' && method !== 'private_key_jwt')
    throw refused('has another token_endpoint_auth_method than none and private_key_jwt')
  const grants = document.grant_types ?? ['authorization_code', 'refresh_token']
  const sent: JsonObject = {
    ...document,
    token_endpoint_auth_method: method,
    scope: null,
    grant_types: Array.isArray(grants)
      ? grants.filter((grant) => (rules.grants as ReadonlySet<unknown>).has(grant))
      : grants,
    ...(method === 'none' && { jwks: null, jwks_uri: null }),
  }
  try {
    const body = readOpenMetadata(sent, rules)
    // Consent pages show it: the name is the client's own claim, the host is not.
    const name = typeof document.client_name === 'string' ? document.client_name : ''
    const { host } = new URL(clientId)
    return { ...body, description: name === '' ? host : `${name} (${host})` }
  } catch (error) {
    const { code, message } = toFault(error)
    if (code === 'oauth_invalid_metadata' || code === 'oauth_invalid_redirect') throw refused(`is wrong: ${message}`)
    throw error
  }
}

function refused(flaw: string): Fault {
  return fault('oauth_invalid_request', `client_id: the metadata document at this address ${flaw}`)
}

function bounded<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > MOST_DOCUMENTS) map.delete(map.keys().next().value!)
}
