import type { JsonObject } from '../../../src/model/json/json.ts'

/** An OpenAPI document with the extension: keyless unless `guarded`. */
export function oasApi(
  name: string,
  listenPath: string,
  {
    upstream = 'http://127.0.0.1:9/',
    guarded = false,
    id,
    tags,
    active = true,
    domain,
    internal = false,
  }: Readonly<{
    upstream?: string
    guarded?: boolean
    id?: string
    tags?: string[]
    active?: boolean
    domain?: string
    internal?: boolean
  }> = {},
): JsonObject {
  return {
    openapi: '3.0.3',
    info: { title: name, version: '1' },
    paths: {},
    ...(guarded && {
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
      security: [{ key: [] }],
    }),
    'x-svc-api-gateway': {
      info: { name, state: { active, internal }, ...(id !== undefined && { id }) },
      upstream: { url: upstream },
      server: {
        listenPath: { value: listenPath, strip: true },
        ...(tags && { gatewayTags: { enabled: true, tags } }),
        ...(domain !== undefined && { customDomain: { enabled: true, name: domain } }),
        ...(guarded && { authentication: { enabled: true, securitySchemes: { key: { enabled: true } } } }),
      },
    },
  }
}

/** A classic definition, keyless. */
export function classicApi(name: string, listenPath: string, more: JsonObject = {}): JsonObject {
  return {
    name,
    active: true,
    use_keyless: true,
    proxy: { listen_path: listenPath, target_url: 'http://127.0.0.1:9/', strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    ...more,
  }
}

/** Rights on one API, as sessions and policies state them. */
export function rightsOn(...apiIds: string[]): JsonObject {
  return Object.fromEntries(apiIds.map((apiId) => [apiId, { api_id: apiId, api_name: apiId, versions: ['Default'] }]))
}
