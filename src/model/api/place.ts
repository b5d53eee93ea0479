import type { Api, ApiDocument } from '../api.ts'
import { isObject, type JsonObject } from '../json.ts'
import { textOf } from './members.ts'
import { type Place, templateKey } from './template.ts'

/** An API document with what the store finds it by besides its ids; both are derived whenever it is published. */
export type StoredApi = ApiDocument & {
  /** Equal for APIs that may collide (`collides` decides); absent for one that no request can enter. */
  readonly place?: string
  /** Ids of the APIs that are versions of this one. */
  readonly version_ids?: readonly string[]
}

/** The text that APIs at one place have in common: host, and path without regard to case and names of placeholders. */
export function placeOf(api: Place): string | undefined {
  if (!api.active || api.internal) return undefined
  return `${api.domain} ${templateKey(api.listenPath, true)}`
}

/** The body that is stored of a definition that was read as `api`. */
export function storedBody(document: ApiDocument, api: Api): JsonObject {
  const place = placeOf(api)
  const versionIds = [...new Set(Object.values(api.versioning?.apis ?? {}))]
  const { api_id, org_id, name, format, definition } = document
  return {
    api_id,
    org_id,
    name,
    format,
    definition,
    ...(place !== undefined && { place }),
    ...(versionIds.length > 0 && { version_ids: versionIds }),
  }
}

/** The document that a stored body holds. */
export function documentOf(body: JsonObject): ApiDocument {
  return {
    api_id: textOf(body, 'api_id'),
    org_id: textOf(body, 'org_id'),
    name: textOf(body, 'name'),
    format: body.format === 'oas' ? 'oas' : 'classic',
    definition: isObject(body.definition) ? body.definition : {},
  }
}
