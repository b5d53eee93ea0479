import { type TSchema, Type } from 'typebox'
import { ALSO, describedAs } from '../../model/openapi/component-schemas.ts'

// Texts of a form. In bodies what they must be is checked where they are read, in words of its own; the document says it beforehand.

/** Pattern of a storage id. */
export const STORAGE_ID = '^[0-9a-f]{24}$'

/** A moment (RFC 3339), never blank. */
export const moment = (description: string) => Type.String({ format: 'date-time', description })

/** A day, such as 2026-01-31. */
export const day = (description?: string) => textOf({ format: 'date' }, description)

/** An email address. The type for it in Go takes fewer addresses than are taken here. */
export const emailAddress = (description: string, options: { readonly maxLength?: number } = {}) =>
  textOf({ format: 'email', 'x-go-type': 'string' }, description, options)

/** An address with its scheme. */
export const webAddress = (description?: string) => textOf({ format: 'uri' }, description)

/** The same in a body where a blank is none: programs write a value for every member that they know. */
export const webAddressIfAny = (description: string) =>
  textOf({ format: 'uri', [ALSO]: [{ type: 'string', enum: [''] }] }, description)

/** A storage id in an answer; `ifAny`: blank where there is none. */
export const storageId = (description: string, { ifAny = false }: { readonly ifAny?: boolean } = {}) =>
  Type.String({ pattern: ifAny ? '^(?:[0-9a-f]{24})?$' : STORAGE_ID, description })

function textOf(form: object, description: string | undefined, options: { readonly maxLength?: number } = {}): TSchema {
  const said = description === undefined ? {} : { description }
  return Type.String({ ...describedAs({ type: 'string', ...form, ...options }), ...said, ...options })
}
