import { servedClassic } from '../../model/apis/convert/convert.ts'
import type { Api } from '../../model/apis/definition/api.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { methodsOf } from '../../model/apis/read/read-auth.ts'
import { asJson, type JsonObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { clientKey, keyAtApi, keyByPolicy, type ServerApi } from '../../model/oauth-clients/oauth-registration.ts'
import { DEVELOPER_ID } from '../../model/portal/developers/developer.ts'
import { type SealKey, seal, unseal } from '../../model/secrets/secret.ts'
import type { Policy } from '../../model/sessions/session.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { KeyedMutex } from '../../runtime/keyed-mutex.ts'
import type { Documents, StoredDocument, Tokens } from '../../store/ports/ports.ts'

interface Parts {
  readonly config: { readonly dashboard: { readonly oauth_redirect_uri_separator: string } }
}

export const CLIENT_KIND = 'oauth_client'

/** The dependencies of publishing clients: those of publishing keys, and those of authorization servers. */
export interface ClientParts {
  readonly documents: Documents
  readonly tokens: Tokens
  /** 32 bytes that secrets are sealed with. */
  readonly sealKey: SealKey
  readonly locks: KeyedMutex
  /** Absent = what clients name may be in a private network. */
  readonly config?: { readonly webhooks?: { readonly allow_private: boolean } }
  /** The system's unless given. */
  readonly clock?: Clock
  /** An API as this node has loaded it; those that are stored are found without. */
  readonly findApi?: (apiId: string) => Pick<Api, 'apiId' | 'orgId' | 'oauth'> | undefined
}

/** The fields of an API that decide who may be its client. */
export interface ClientApi {
  readonly apiId: string
  readonly orgId: string
  /** Its method is OAuth. */
  readonly oauth: boolean
}

/** An API that is loaded here or stored; undefined when there is none. @throws Fault `store_away` */
export async function clientApiOf(parts: ClientParts, apiId: string): Promise<ClientApi | undefined> {
  const loaded = parts.findApi?.(apiId)
  if (loaded !== undefined) return { apiId, orgId: loaded.orgId, oauth: loaded.oauth !== undefined }
  const stored = await parts.documents.find('api', 'api_id', apiId)
  if (stored === undefined) return undefined
  const { org_id: orgId, format, definition } = documentOf(stored.body)
  const classic = format === 'oas' ? servedClassic(definition) : definition
  return { apiId, orgId, oauth: methodsOf(classic).includes('use_oauth2') }
}

/** One registration of a client id. A whole client fits. */
export type ClientRef = Pick<OAuthClient, 'client_id' | 'registration_id'>

/** The stored document of a registration; undefined when there is none. @throws Fault `store_away` */
export async function storedClient(
  parts: Pick<ClientParts, 'documents'>,
  ref: ClientRef,
): Promise<StoredDocument<'oauth_client'> | undefined> {
  return parts.documents.find(CLIENT_KIND, 'client_id', clientKey(ref))
}

const MOST_REGISTRATIONS = 1000

/** All registrations of a client id, of every organisation. @throws Fault `store_away` */
export async function registrationsOf(
  { documents }: Pick<ClientParts, 'documents'>,
  clientId: string,
): Promise<StoredDocument<'oauth_client'>[]> {
  const found: StoredDocument<'oauth_client'>[] = []
  for (;;) {
    const where = { client: clientId }
    const { rows } = await documents.list(CLIENT_KIND, { where, offset: found.length, limit: MOST_REGISTRATIONS })
    found.push(...rows)
    if (rows.length < MOST_REGISTRATIONS) return found
  }
}

/**
 * The registration of a client id at an API: one by one, else by a policy, whatever rights that policy has by now; undefined when
 * there is none. @throws Fault `store_away`
 */
export async function registrationAt(
  { documents }: Pick<ClientParts, 'documents'>,
  clientId: string,
  { apiId, orgId }: ServerApi,
): Promise<StoredDocument<'oauth_client'> | undefined> {
  const direct = await documents.find(CLIENT_KIND, 'registered', keyAtApi(clientId, apiId))
  return direct ?? documents.find(CLIENT_KIND, 'registered', keyByPolicy(clientId, orgId))
}

/**
 * The registration of a client id that is the app of this developer. Others under the same id, which is public, may be anybody's.
 * @throws Fault `store_away`
 */
export async function storedApp(
  parts: Pick<ClientParts, 'documents'>,
  clientId: string,
  developerId: string,
): Promise<StoredDocument<'oauth_client'> | undefined> {
  return (await registrationsOf(parts, clientId)).find(({ body }) => body[DEVELOPER_ID] === developerId)
}

/** The client that a stored body holds. */
export function clientOf(body: JsonObject): OAuthClient {
  return body as unknown as OAuthClient
}

/** The body that is stored of a client. */
export function bodyOf(client: OAuthClient): JsonObject {
  return asJson(client)
}

/** A policy of an organisation by its id; undefined when there is none. @throws Fault `store_away` */
export async function policyIn(parts: ClientParts, orgId: string, id: string): Promise<Policy | undefined> {
  const stored = await parts.documents.find('policy', 'org_policy', `${orgId}/${id}`)
  return stored?.body
}

/** Seals a secret so that it opens for this client only. Base64. */
export function sealSecret(parts: ClientParts, clientId: string, secret: string): string {
  return seal(parts.sealKey, secret, `oauth_client:${clientId}`).toString('base64')
}

/** The current secret of a client in clear, '' when it has none. @throws Fault `seal_broken` */
export function currentSecret(parts: ClientParts, client: OAuthClient): string {
  const sealed = client.secrets[0]?.sealed
  if (sealed === undefined) return ''
  return unseal(parts.sealKey, Buffer.from(sealed, 'base64'), `oauth_client:${client.client_id}`).toString('utf8')
}

/** A body whose `redirect_uri` may hold several addresses in one text, where `oauth_redirect_uri_separator` is set. */
export function withRedirects({ config }: Parts, body: JsonObject): JsonObject {
  const separator = config.dashboard.oauth_redirect_uri_separator
  const { redirect_uri: joined, ...more } = body
  if (separator === '' || typeof joined !== 'string' || !joined.includes(separator)) return body
  const uris = joined.split(separator).map((uri) => uri.trim())
  return { ...more, redirect_uri: uris.filter((uri) => uri !== '') }
}

/** The addresses of a client as `redirect_uri` shows them: the first one, or all in one text. */
export function redirectTextOf({ config }: Parts, { redirect_uris: uris }: OAuthClient): string {
  const separator = config.dashboard.oauth_redirect_uri_separator
  return separator === '' ? (uris[0] ?? '') : uris.join(separator)
}
