import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { member } from './tree.ts'

// Members of definitions that the schemas have checked: what is absent or null reads as the empty value of its kind.

/** The text, '' when absent. */
export function textOf(object: Json | undefined, name: string): string {
  const value = member(object, name)
  return typeof value === 'string' ? value : ''
}

/** The flag, false when absent. */
export function flagOf(object: Json | undefined, name: string): boolean {
  return member(object, name) === true
}

/** The number, 0 when absent. */
export function numberOf(object: Json | undefined, name: string): number {
  const value = member(object, name)
  return typeof value === 'number' ? value : 0
}

/** The object, an empty one when absent. */
export function objectOf(object: Json | undefined, name: string): JsonObject {
  const value = member(object, name)
  return value !== undefined && isObject(value) ? value : {}
}

/** The texts of a list, none when absent. */
export function textsOf(object: Json | undefined, name: string): string[] {
  const value = member(object, name)
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** The objects of a list, none when absent. */
export function objectsOf(object: Json | undefined, name: string): JsonObject[] {
  const value = member(object, name)
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** True for empty values: null, false, 0, '', and empty lists and objects. */
export function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) && Object.keys(value).length === 0
}

/** The member of an OpenAPI document that holds what the gateway needs to know. */
export const EXTENSION = 'x-svc-api-gateway'

/** The extension of a document, undefined when it has none or something else in its place. */
export function extensionOf(document: JsonObject): JsonObject | undefined {
  const extension = member(document, EXTENSION)
  return extension !== undefined && isObject(extension) ? extension : undefined
}
