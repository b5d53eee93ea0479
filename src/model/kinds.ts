import type { JsonObject } from './json.ts'

/** How a kind of document can be found besides by its storage id. */
export interface KindIndexes {
  /** Index name to the value under which one document only may stand; undefined = not indexed. */
  readonly unique: Readonly<Record<string, (body: JsonObject) => string | undefined>>
  /** Index name to values for filtering and sorting; several values file it under each. */
  readonly lookup: Readonly<Record<string, (body: JsonObject) => string | readonly string[] | undefined>>
}

const text = (name: string) => (body: JsonObject) =>
  typeof body[name] === 'string' ? (body[name] as string) : undefined

const texts = (name: string) => (body: JsonObject) => {
  const list = body[name]
  return Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : undefined
}

/** Every kind of document and its indexes; the adapters keep them, whatever they store in. */
export const KINDS: Readonly<Record<string, KindIndexes>> = {
  /** Body: `StoredApi` of model/api/place.ts. */
  api: {
    unique: { api_id: text('api_id') },
    lookup: { org_id: text('org_id'), name: text('name'), place: text('place'), version_ids: texts('version_ids') },
  },
  /** Body: `Policy`. `id` is what keys refer to, within an organisation: two organisations may use one id. */
  policy: {
    unique: { org_policy: (body) => `${body.org_id ?? ''}/${body.id ?? ''}` },
    lookup: { org_id: text('org_id'), id: text('id'), name: text('name') },
  },
  /** Body: `Session` used as the limits of a whole organisation. */
  org_session: { unique: { org_id: text('org_id') }, lookup: {} },
  /** Body: `StoredCertificate` of publish/certificates.ts. */
  certificate: { unique: { cert_id: text('cert_id') }, lookup: { org_id: text('org_id') } },
  /** Body: `OAuthClient` of model/oauth-client.ts. */
  oauth_client: {
    unique: { client_id: text('client_id') },
    lookup: {
      org_id: text('org_id'),
      api_ids: texts('api_ids'),
      policies: texts('policies'),
      registered_by_policy: text('registered_by_policy'),
    },
  },
  /** Body: a signing key of the authorization servers of an organisation, its private part sealed; see oauth/keys.ts. */
  oauth_key: { unique: { kid: text('kid') }, lookup: { org_id: text('org_id') } },
  organisation: { unique: {}, lookup: { name: text('owner_name') } },
}
