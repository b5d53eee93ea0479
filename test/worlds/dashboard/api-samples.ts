import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../base/client.ts'

/** A classic definition that is served: keyless, active. */
export function classicApi(apiId: string, listenPath: string, more: JsonObject = {}): JsonObject {
  return {
    name: `API ${apiId}`,
    api_id: apiId,
    active: true,
    use_keyless: true,
    proxy: { listen_path: listenPath, target_url: 'http://upstream.test/', strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    ...more,
  }
}

/** A plain OpenAPI document. */
export function plainOas(title: string, more: JsonObject = {}): JsonObject {
  return {
    openapi: '3.0.3',
    info: { title, version: '1.0.0' },
    servers: [{ url: 'http://upstream.test/' }],
    paths: { '/pets': { get: { operationId: 'listPets', responses: { 200: { description: 'Pets' } } } } },
    ...more,
  }
}

/** The same with the extension. */
export function oasApi(apiId: string, listenPath: string, info: JsonObject = {}, server: JsonObject = {}): JsonObject {
  return {
    ...plainOas(`API ${apiId}`),
    'x-svc-api-gateway': {
      info: { id: apiId, name: `API ${apiId}`, state: { active: true }, ...info },
      upstream: { url: 'http://upstream.test/' },
      server: { listenPath: { value: listenPath, strip: true }, ...server },
    },
  }
}

interface Listed {
  readonly apis: readonly { readonly api_definition: JsonObject; readonly oas?: JsonObject }[]
  readonly pages: number
}

/** Ids of the APIs in the answer of a list, in their order. */
export function listedIds({ json }: Answer): unknown[] {
  return (json as unknown as Listed).apis.map(({ api_definition: { api_id } }) => api_id)
}

/** The answer's body as an object. */
export function bodyOf({ json }: Answer): JsonObject {
  return json as JsonObject
}
