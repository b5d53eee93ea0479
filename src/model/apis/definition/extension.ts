import { isObject, type JsonObject } from '../../json/json.ts'
import { member } from './tree.ts'

/** The member of an OpenAPI document that holds what the gateway needs to know. */
export const EXTENSION = 'x-svc-api-gateway'

/** The extension of a document, undefined when it has none or something else in its place. */
export function extensionOf(document: JsonObject): JsonObject | undefined {
  const extension = member(document, EXTENSION)
  return extension !== undefined && isObject(extension) ? extension : undefined
}
