import { fault, toFault } from '../../errors/fault.ts'
import type { Api } from '../../model/apis/definition/api.ts'
import { fixedIssuer, resourcesOf } from '../../model/apis/definition/issuer.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { readApi } from '../../model/apis/read/read.ts'
import { isObject, type Json, type JsonObject, startsObject } from '../../model/json/json.ts'
import { searchParams } from '../../model/network/media-type.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import type { OAuthRules } from '../../model/oauth-clients/oauth-rules.ts'
import type { Policy, Session } from '../../model/sessions/session.ts'
import { isPublic } from '../../oauth/clients/clients.ts'
import type { OAuthApi, OAuthCall, OAuthParts } from '../../oauth/endpoints/parts.ts'
import { AuthorizationServer } from '../../oauth/endpoints/server.ts'
import { newServerState } from '../../oauth/endpoints/server-state.ts'
import { addressesFor } from '../../publish/nodes/addresses.ts'
import { policyIn, registrationAt } from '../../publish/oauth-clients/oauth-client-parts.ts'
import { checkPoliciesKnown } from '../../publish/sessions/sessions.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { checkSoleDocumentOwner } from '../access/co-owned.ts'
import { withinVisibility } from '../keys/key-view.ts'
import type { Answer } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

const FORM = 'application/x-www-form-urlencoded'
/** Policies that are kept for the look-ups of a call; more than calls are under way at once. */
const MOST_KEPT = 10_000

/** A wrong issuer would make clients refuse the response; the metadata of such an API announces none (RFC 9207 section 3). */
const ISSUER_LEFT_OUT =
  'iss is left out of redirect_to, as the request decides the issuer: set gateway.public_url, here or at its gateways, and use a listen path without placeholders'

/**
 * Concludes authorizations for identity servers that know the dashboard rather than the gateway: the same function as the
 * gateway's own endpoint, which asks no one for anything but what the store holds.
 */
export class AuthorizeClients {
  readonly #parts: DashboardParts
  readonly #server: AuthorizationServer
  /** Look-ups of the authorization server for policies answer at once: what a call may ask for is read before it. */
  readonly #policies = new Map<string, Policy | undefined>()
  /** APIs that the log names already. */
  readonly #warned = new Set<string>()

  constructor(parts: DashboardParts) {
    this.#parts = parts
    const { documents, tokens, store, clock, log, config, sealKey, locks } = parts
    const oauth: OAuthParts = {
      ...{ documents, tokens, outbox: store.outbox, clock, log, config, sealKey, locks },
      ...newServerState(clock),
      findApi: () => undefined,
      findPolicy: (orgId, id) => this.#policies.get(JSON.stringify([orgId, id])),
      findClient: async (clientId, api) => {
        const stored = await registrationAt(parts, clientId, api)
        return stored?.body
      },
    }
    this.#server = new AuthorizationServer(oauth)
  }

  /** Answers as the gateway would; a refusal carries the envelope besides. @throws Fault `query_invalid` (400) for an API without authorization server */
  async answer(call: Call, stored: StoredDocument): Promise<Answer> {
    const api = readable(stored)
    if (!api.active) throw fault('query_invalid', 'The API is inactive: no code can be exchanged there.')
    if (!hasRules(api)) throw fault('query_invalid', 'API is not OAuth2')
    // A client without policies has the rights that these rules name.
    for (const rules of keyRulesIn(call)) {
      const given = await withinVisibility(this.#parts, call, rules, undefined)
      await checkPoliciesKnown(this.#parts, { ...given, org_id: api.orgId } as Session)
    }
    await this.#readPolicies(call, api)
    const addresses = await addressesFor(this.#parts, api)
    const issuer = fixedIssuer(api, addresses)
    const own = issuer === undefined ? [] : resourcesOf(api, addresses, '')
    const { status, body } = await this.#server.answer(this.#callOf(call, api, issuer, own))
    const said: unknown = JSON.parse(body)
    const answered: JsonObject = isObject(said) ? said : {}
    const isLeftOut = issuer === undefined && answered.redirect_to !== undefined
    if (isLeftOut) this.#warn(api)
    const members = isLeftOut ? { ...answered, warnings: [ISSUER_LEFT_OUT] } : answered
    if (status < 400) return { status, body: members }
    const message = String(members.error_description ?? members.message ?? members.error ?? '')
    return { status, body: { Status: 'Error', Message: message, Meta: null, ...members } }
  }

  #callOf(call: Call, api: OAuthApi, issuer: string | undefined, ownResources: readonly string[]): OAuthCall {
    const bytes = call.bytes()
    const type = startsObject(bytes) ? 'application/json' : FORM
    const headerOf = (name: string) => (name === 'content-type' ? type : call.header(name))
    return {
      api,
      endpoint: 'authorize_client',
      rest: '',
      method: call.method,
      issuer: issuer ?? '',
      issuerIsFixed: issuer !== undefined,
      ownResources,
      query: queryOf(call.url),
      header: headerOf,
      headers: (name) => {
        const value = headerOf(name)
        return value === undefined ? [] : [value]
      },
      body: async (limitBytes) => {
        if (bytes.length > limitBytes) throw fault('body_too_large')
        return bytes
      },
      clientAddress: call.clientAddress,
      peerCertificate: '',
      // The route asks for the permission to write OAuth clients, which replaces the gateway's secret here.
      administrative: true,
      checkClient: (client) => this.#checkPublicClient(call, client),
    }
  }

  #warn({ apiId, name }: Api): void {
    if (this.#warned.has(apiId)) return
    this.#warned.add(apiId)
    this.#parts.log.warn({ api_id: apiId }, `the authorization server of API "${name}": ${ISSUER_LEFT_OUT}`)
  }

  /**
   * A code or device code of a public client gives its holder a key with the client's policies: it needs the permission to create that key.
   * @throws Fault `shared_with_others` (403)
   */
  async #checkPublicClient(call: Call, client: OAuthClient): Promise<void> {
    if (!isPublic(client)) return
    const { org_id, policies, registered_by_policy } = client
    const given = { org_id, policies: [...policies], registered_by_policy }
    await checkSoleDocumentOwner(this.#parts, call, [{ kind: 'oauth_client', body: given }])
  }

  /** Reads the policy that the client is registered by, if any. */
  async #readPolicies(call: Call, { apiId, orgId }: Api): Promise<void> {
    const stored = await registrationAt(this.#parts, clientIdIn(call), { apiId, orgId })
    const id = stored?.body.registered_by_policy
    if (id === undefined || id === '') return
    const key = JSON.stringify([orgId, id])
    this.#policies.delete(key)
    this.#policies.set(key, await policyIn(this.#parts, orgId, id))
    const [oldest] = this.#policies.keys()
    if (this.#policies.size > MOST_KEPT) this.#policies.delete(oldest!)
  }
}

function queryOf(url: string): string {
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start + 1)
}

/** Every session that a body may mean by `key_rules`. What is none the authorization server refuses. */
function keyRulesIn(call: Call): JsonObject[] {
  const bytes = call.bytes()
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  try {
    const { key_rules: keyRules }: JsonObject = startsObject(bytes) ? JSON.parse(text) : {}
    const texts = keyRules === undefined ? new URLSearchParams(text).getAll('key_rules') : [keyRules]
    return texts.map((each): Json => (typeof each === 'string' ? JSON.parse(each) : each)).filter(isObject)
  } catch {
    // Nothing of it is taken then.
    return []
  }
}

function clientIdIn(call: Call): string {
  const bytes = call.bytes()
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  if (!startsObject(bytes)) return searchParams(text).get('client_id') ?? ''
  try {
    const { client_id: id } = JSON.parse(text)
    return typeof id === 'string' ? id : ''
  } catch {
    // The authorization server says what is wrong with it.
    return ''
  }
}

function readable(stored: StoredDocument): Api {
  try {
    return readApi(documentOf(stored.body))
  } catch (error) {
    throw fault('query_invalid', 'The definition of the API cannot be read', toFault(error))
  }
}

function hasRules(api: Api): api is Api & { readonly oauth: OAuthRules } {
  return api.oauth !== undefined
}
