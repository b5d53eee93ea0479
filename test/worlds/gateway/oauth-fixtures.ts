import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../base/client.ts'
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../base/harness.ts'
import { type Origin, startOrigin } from '../servers/origin.ts'

export interface OAuthDraft {
  readonly id: string
  /** `/{id}/` unless given. */
  readonly path?: string
  /** Settings of the scheme in the extension. */
  readonly settings?: JsonObject
  readonly scopes?: readonly string[]
  readonly security?: JsonObject[string]
  readonly paths?: JsonObject
  readonly server?: JsonObject
  readonly global?: JsonObject
  readonly info?: JsonObject
  readonly rateLimit?: JsonObject
}

/** An OpenAPI definition with an authorization server that gives codes and tokens of client credentials. */
export function oauthApi(url: string, draft: OAuthDraft): JsonObject {
  const { id, path = `/${id}/`, settings = {}, scopes = [], security = [{ oa: [] }], paths = {} } = draft
  const named = () => Object.fromEntries(scopes.map((scope) => [scope, '']))
  return {
    openapi: '3.0.3',
    info: { title: id, version: '1' },
    paths,
    components: {
      securitySchemes: {
        oa: {
          type: 'oauth2',
          flows: {
            authorizationCode: { authorizationUrl: '/oauth/authorize', tokenUrl: '/oauth/token', scopes: named() },
            clientCredentials: { tokenUrl: '/oauth/token', scopes: named() },
          },
        },
      },
    },
    security,
    'x-svc-api-gateway': {
      info: { id, name: id, state: { active: true }, ...draft.info },
      upstream: { url, ...(draft.rateLimit && { rateLimit: draft.rateLimit }) },
      server: {
        listenPath: { value: path, strip: true },
        authentication: {
          enabled: true,
          securitySchemes: {
            oa: {
              enabled: true,
              allowedAuthorizeTypes: ['code'],
              refreshToken: true,
              authLoginRedirect: 'https://login.example.org/start',
              ...settings,
            },
          },
        },
        ...draft.server,
      },
      middleware: { global: { trafficLogs: { enabled: true }, ...draft.global } },
    },
  }
}

/** A gateway with an upstream behind it, and what tests of tokens do all the time. */
export interface OAuthWorld {
  readonly gateway: TestGateway
  readonly origin: Origin
  publish(definition: JsonObject): Promise<void>
  policy(id: string, apiIds: readonly string[], more?: JsonObject): Promise<void>
  /** Registers a client; its secret is `secret-of-<id>`. */
  client(id: string, fields: JsonObject): Promise<void>
  /** A call of the token endpoint by Basic authentication. */
  ask(
    apiPath: string,
    clientId: string,
    form?: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<Answer>
  /** An access token of client credentials. */
  token(apiPath: string, clientId: string, form?: Record<string, string>): Promise<string>
  /** A request with a bearer token. */
  get(path: string, token: string): Promise<Answer>
}

export async function startWorld(t: TestContext, options: TestGatewayOptions = {}): Promise<OAuthWorld> {
  const origin = await startOrigin()
  const gateway = await startTestGateway(options)
  t.after(async () => {
    await gateway.close()
    await origin.close()
  })
  const made = async (answer: Promise<Answer>) => {
    const { status, text } = await answer
    assert.equal(status, 200, text)
  }
  const world: OAuthWorld = {
    gateway,
    origin,
    publish: (definition) => made(gateway.svc('POST', '/svc/apis/oas', definition)),
    policy: (id, apiIds, more = {}) => made(gateway.svc('POST', '/svc/policies', policyOf(id, apiIds, more))),
    client: (id, fields) => made(gateway.svc('POST', '/svc/oauth/clients/create', { ...clientOf(id), ...fields })),
    ask: (apiPath, clientId, form = {}, headers = {}) =>
      gateway.call(`${apiPath}oauth/token`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`${clientId}:secret-of-${clientId}`).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
          ...headers,
        },
        body: new URLSearchParams({ grant_type: 'client_credentials', ...form }).toString(),
      }),
    async token(apiPath, clientId, form = {}) {
      const answer = await world.ask(apiPath, clientId, form)
      assert.equal(answer.status, 200, answer.text)
      return (answer.json as { access_token: string }).access_token
    },
    get: (path, token) => gateway.call(path, { headers: { authorization: `Bearer ${token}` } }),
  }
  return world
}

/** An API `a` with a policy, and a client `app` of it. */
export async function startPlain(
  t: TestContext,
  draft: Partial<OAuthDraft> = {},
  options: TestGatewayOptions = {},
): Promise<OAuthWorld> {
  const world = await startWorld(t, options)
  await world.publish(oauthApi(world.origin.url, { id: 'a', ...draft }))
  await world.policy('p', ['a'])
  await world.client('app', { api_id: 'a', policies: ['p'] })
  return world
}

/** The challenges of an answer without the address of the metadata, which names the port. */
export function challengesOf({ headers }: Answer): string {
  return [headers['www-authenticate'] ?? '']
    .flat()
    .join(', ')
    .replace(/, resource_metadata="[^"]*"/g, '')
}

export function policyOf(id: string, apiIds: readonly string[], more: JsonObject = {}): JsonObject {
  return {
    id,
    name: id,
    active: true,
    rate: 0,
    per: 0,
    quota_max: -1,
    access_rights: Object.fromEntries(
      apiIds.map((api) => [api, { api_id: api, api_name: api, versions: ['Default'], allowed_urls: [] }]),
    ),
    ...more,
  }
}

function clientOf(id: string): JsonObject {
  return { client_id: id, secret: `secret-of-${id}`, redirect_uri: 'https://app.example.org/cb' }
}

/** SHA-256 in hex, under which a token is stored. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
