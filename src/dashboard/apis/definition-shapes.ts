import { Type } from 'typebox'
import { EXTENSION } from '../../model/apis/definition/extension.ts'
import { CLASSIC_SCHEMA } from '../../model/apis/schema/schema-classic.ts'
import { EXTENSION_SCHEMA } from '../../model/apis/schema/schema-oas.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { describedAs } from '../openapi/component-schemas.ts'

/** A classic definition, for the API document: members that are not described are kept. */
export const CLASSIC_SHAPE: JsonObject = { ...open(CLASSIC_SCHEMA), title: 'ClassicDefinition' }

/** An OpenAPI document with the extension, for the API document. */
export const OAS_SHAPE: JsonObject = {
  title: 'OpenapiDefinition',
  type: 'object',
  required: ['openapi', 'info'],
  properties: {
    openapi: { type: 'string', description: '3.0, 3.1 or 3.2.' },
    info: {
      ...{ title: 'DefinitionInfo', type: 'object', required: ['title', 'version'], additionalProperties: true },
      properties: { title: { type: 'string' }, version: { type: 'string' } },
    },
    paths: { type: 'object', additionalProperties: true },
    components: { type: 'object', additionalProperties: true },
    [EXTENSION]: { ...open(EXTENSION_SCHEMA), title: 'GatewayExtension' },
  },
  additionalProperties: true,
}

/** The form of an API in lists and single reads of the classic calls; no member is ever null. */
export const Wrapper = Type.Object(
  {
    api_model: Type.Object({}),
    api_definition: Type.Object(
      {
        id: Type.String({ pattern: '^[0-9a-f]{24}$' }),
        api_id: Type.String(),
        org_id: Type.String(),
        name: Type.String(),
        slug: Type.String(),
        is_oas: Type.Boolean(),
        active: Type.Boolean(),
        tags: Type.Array(Type.String()),
        proxy: Type.Optional(Type.Object({})),
      },
      describedAs(CLASSIC_SHAPE),
    ),
    hook_references: Type.Array(Type.Object({})),
    is_site: Type.Literal(false),
    sort_by: Type.Literal(0),
    user_owners: Type.Array(Type.String()),
    user_group_owners: Type.Array(Type.String()),
    created_at: Type.String(),
    updated_at: Type.String(),
    categories: Type.Optional(Type.Array(Type.String())),
    oas: Type.Optional(Type.Object({ openapi: Type.String() }, describedAs(OAS_SHAPE))),
  },
  { title: 'Api' },
)

/** The same with ids, name and paths alone. */
export const ShortWrapper = Type.Object(
  {
    api_definition: Type.Object(
      {
        id: Type.String(),
        api_id: Type.String(),
        name: Type.String(),
        slug: Type.String(),
        is_oas: Type.Boolean(),
        active: Type.Boolean(),
        domain: Type.String(),
        proxy: Type.Object({ listen_path: Type.String() }),
      },
      { title: 'DefinitionSummary' },
    ),
  },
  { title: 'ApiSummary' },
)

/** The schema with a word that its objects, and those in them, keep further members. It stays as it is otherwise. */
function open(schema: JsonObject): JsonObject {
  const opened = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(opened)
    if (!isObject(value)) return value
    const inside = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, opened(each)]))
    return isObject(value.properties) && value.additionalProperties === undefined
      ? { ...inside, additionalProperties: true }
      : inside
  }
  const { type: _nullable, ...rest } = opened(schema) as JsonObject
  return { type: 'object', ...rest }
}
