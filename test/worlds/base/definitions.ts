import type { JsonObject } from '../../../src/model/json/json.ts'

/** An OpenAPI definition in short: what is left out is not in the document. */
export interface Draft {
  readonly id: string
  /** `/{id}/` unless given. */
  readonly path?: string
  readonly url: string
  /** Asks for a key in this header. */
  readonly keyIn?: string
  readonly info?: JsonObject
  readonly upstream?: JsonObject
  readonly server?: JsonObject
  readonly authentication?: JsonObject
  readonly global?: JsonObject
  /** OpenAPI paths and, by operationId, what the gateway does there. */
  readonly paths?: JsonObject
  readonly operations?: JsonObject
}

/** The whole document of a draft; traffic is recorded unless `global` says otherwise. */
export function defined(draft: Draft): JsonObject {
  const { id, path = `/${id}/`, url, keyIn } = draft
  const authentication = { enabled: true, securitySchemes: { key: { enabled: true } }, ...draft.authentication }
  return {
    openapi: '3.0.3',
    info: { title: id, version: '1' },
    paths: draft.paths ?? {},
    ...(keyIn !== undefined && {
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: keyIn } } },
      security: [{ key: [] }],
    }),
    'x-svc-api-gateway': {
      info: { id, name: id, state: { active: true }, ...draft.info },
      upstream: { url, ...draft.upstream },
      server: {
        listenPath: { value: path, strip: true },
        ...(keyIn !== undefined && { authentication }),
        ...draft.server,
      },
      middleware: {
        global: { trafficLogs: { enabled: true }, ...draft.global },
        ...(draft.operations !== undefined && { operations: draft.operations }),
      },
    },
  }
}

/** Edits of the answer's fields, as `transformResponseHeaders`. */
export function answering(name: string, value: string): JsonObject {
  return { transformResponseHeaders: { enabled: true, add: [{ name, value }] } }
}

/** A keyless classic definition. */
export function classic(id: string, listenPath: string, url: string, more: JsonObject = {}): JsonObject {
  return {
    api_id: id,
    name: id,
    active: true,
    use_keyless: true,
    proxy: { listen_path: listenPath, target_url: url, strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    ...more,
  }
}

/** Rights on whole APIs. */
export function rights(...apiIds: string[]): JsonObject {
  return Object.fromEntries(apiIds.map((id) => [id, { api_id: id, api_name: id, versions: ['Default'] }]))
}
