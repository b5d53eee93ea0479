import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { said } from '../../openapi/component-schemas.ts'
import { EXTENSION } from '../definition/members.ts'
import { CLASSIC_SCHEMA } from './schema-classic.ts'
import { EXTENSION_SCHEMA } from './schema-oas.ts'

/** A classic definition, for the API document: members that are not described are kept. */
export const CLASSIC_SHAPE: JsonObject = {
  ...open(CLASSIC_SCHEMA),
  title: 'ClassicDefinition',
  description: 'An API in classic format.',
}

/** An OpenAPI document with the extension, for the API document. */
export const OAS_SHAPE: JsonObject = {
  title: 'OpenapiDefinition',
  description: 'An API in OpenAPI format: a document with the extension.',
  type: 'object',
  required: ['openapi', 'info'],
  properties: {
    openapi: { type: 'string', description: '3.0, 3.1 or 3.2.' },
    info: {
      ...{
        title: 'DefinitionInfo',
        type: 'object',
        required: ['title', 'version'],
        additionalProperties: true,
        description: 'Facts about the API.',
      },
      properties: {
        title: said({ type: 'string' }, 'Name of the API.'),
        version: said({ type: 'string' }, 'Version of the document.'),
      },
    },
    paths: said({ type: 'object', additionalProperties: true }, 'Paths of the document.'),
    components: said({ type: 'object', additionalProperties: true }, 'Components of the document.'),
    [EXTENSION]: {
      ...open(EXTENSION_SCHEMA),
      title: 'GatewayExtension',
      description: 'What the gateway does with the API.',
    },
  },
  additionalProperties: true,
}

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
