import { isMethodOn, type Scheme } from '../../authentication/scheme.ts'
import { SCHEMES } from '../../authentication/schemes.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { flagOf } from '../definition/members.ts'
import { getAt, type TreePath } from '../definition/tree.ts'
import type { Schema } from '../schema/schema.ts'
import { CLASSIC_AUTH } from '../schema/schema-auth.ts'
import { EXTENSION_SCHEMA } from '../schema/schema-oas.ts'

const AUTHENTICATION: TreePath = ['server', 'authentication']

/**
 * Unknown members of authentication: each could restrict access, and a gateway that ignores it would open
 * what its author closed. Members that are off or empty require nothing; names that begin with `x-` are notes.
 */
export function unknownMembersOf(definition: JsonObject, format: 'classic' | 'oas'): TreePath[] {
  if (format === 'classic') return unknownOfClassic(definition)
  const schema = getAt(
    EXTENSION_SCHEMA,
    AUTHENTICATION.flatMap((name) => ['properties', name]),
  ) as Schema
  return unknownOf(getAt(definition, AUTHENTICATION), schema, AUTHENTICATION)
}

function unknownOfClassic(classic: JsonObject): TreePath[] {
  if (flagOf(classic, 'use_keyless')) return []
  return SCHEMES.flatMap((scheme) =>
    scheme.closed === undefined || !isMethodOn(classic, scheme) ? [] : unknownOfScheme(classic, scheme.closed),
  )
}

function unknownOfScheme(classic: JsonObject, { prefix, sections }: NonNullable<Scheme['closed']>): TreePath[] {
  const own = Object.keys(classic).filter((name) => name.startsWith(prefix))
  const known = own.filter((name) => Object.hasOwn(CLASSIC_AUTH, name))
  return [
    ...own.filter((name) => !known.includes(name) && asks(classic[name]!)).map((name) => [name]),
    ...known.flatMap((name) => unknownOf(classic[name], CLASSIC_AUTH[name]!, [name])),
    ...sections.flatMap((path) => unknownOf(getAt(classic, path), schemaAt(path), path)),
  ]
}

/** The schema of a member of a classic definition, by its path. */
function schemaAt([name, ...below]: TreePath): Schema {
  return getAt(
    CLASSIC_AUTH[name!]!,
    below.flatMap((each) => ['properties', each]),
  ) as Schema
}

function unknownOf(value: Json | undefined, schema: Schema, path: TreePath): TreePath[] {
  if (Array.isArray(value))
    return isObject(schema.items ?? null)
      ? value.flatMap((item, index) => unknownOf(item, schema.items as Schema, [...path, String(index)]))
      : []
  if (value === undefined || !isObject(value) || value.enabled === false) return []
  return Object.entries(value).flatMap(([name, item]) => {
    const known = schemaOfMember(schema, name)
    if (known !== undefined) return unknownOf(item, known, [...path, name])
    return name.startsWith('x-') || !asks(item) ? [] : [[...path, name]]
  })
}

/** The schema of a member; undefined where the schema does not know it. */
function schemaOfMember({ properties, additionalProperties }: Schema, name: string): Schema | undefined {
  if (properties === undefined || !isObject(properties))
    return isObject(additionalProperties ?? null) ? (additionalProperties as Schema) : {}
  return Object.hasOwn(properties, name) ? (properties[name] as Schema) : undefined
}

/** False for what is switched off, and for what holds nothing but such. */
export function asks(value: Json): boolean {
  if (Array.isArray(value)) return value.some(asks)
  if (isObject(value)) return value.enabled !== false && Object.values(value).some(asks)
  return value !== null && value !== false && value !== 0 && value !== ''
}
