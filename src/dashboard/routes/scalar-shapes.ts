import { type TSchema, Type } from 'typebox'
import type { ScalarField, ScalarFields } from '../../model/json/scalar-fields.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'

/** The shapes of fields in an answer. */
export function answeredScalars(fields: ScalarFields): Record<string, TSchema> {
  return mapped(fields, (field) => shapeOf(field, field.answered === undefined ? {} : { description: field.answered }))
}

/** The shapes of fields in a body: what they must be is checked where they are read. */
export function sentScalars(fields: ScalarFields): Record<string, TSchema> {
  return mapped(fields, (field) => {
    const { answered, sent = answered } = field
    return Type.Optional(
      Type.Unknown({ ...(sent !== undefined && { description: sent }), ...describedAs(shapeOf(field, {})) }),
    )
  })
}

function shapeOf({ kind }: ScalarField, options: { description?: string }): TSchema {
  if (kind === 'flag') return Type.Boolean(options)
  if (kind === 'text') return Type.String(options)
  return kind === 'integer' ? Type.Integer(options) : Type.Number(options)
}

function mapped(fields: ScalarFields, to: (field: ScalarField) => TSchema): Record<string, TSchema> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, to(field)]))
}
