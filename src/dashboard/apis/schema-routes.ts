import { Type } from 'typebox'
import { EXTENSION } from '../../model/apis/definition/members.ts'
import { CLASSIC_SCHEMA } from '../../model/apis/schema/schema-classic.ts'
import { EXTENSION_SCHEMA, OPENAPI_SCHEMA } from '../../model/apis/schema/schema-oas.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { bare, refused } from '../routes/answer.ts'
import type { Route } from '../routes/route.ts'

const DRAFT = { $schema: 'http://json-schema.org/draft-07/schema#' }
const WITH_EXTENSION: JsonObject = {
  ...DRAFT,
  allOf: [OPENAPI_SCHEMA, { type: 'object', required: [EXTENSION], properties: { [EXTENSION]: EXTENSION_SCHEMA } }],
}
const CLASSIC: JsonObject = { ...DRAFT, ...CLASSIC_SCHEMA }

const Schema = Type.Object(
  { $schema: Type.String({ description: 'Dialect of JSON Schema.' }) },
  { title: 'JsonSchema', additionalProperties: true },
)

/** The JSON schemas that definitions are checked by. */
export function schemaRoutes(): Route[] {
  const shared = { method: 'GET', access: { permission: 'apis', intent: 'read' }, answers: { 200: Schema } } as const
  const schema = (path: string, summary: string, document: JsonObject): Route => ({
    ...shared,
    path,
    summary,
    run: () => bare(document),
  })
  return [
    schema('/api/schemas/apidefs', 'The schema of classic definitions', CLASSIC),
    schema('/api/schemas/apidefs/oas', 'The schema of OpenAPI documents with the extension', WITH_EXTENSION),
    {
      ...shared,
      path: '/api/schema',
      summary: 'Get a schema by name',
      refusals: [404],
      query: { schema_path: Type.String({ maxLength: 256, description: 'apidefs, apidefs/oas.' }) },
      run(call) {
        const name = call.query('schema_path').replace(/^\/|\/$/g, '')
        if (name === 'apidefs/oas') return bare(WITH_EXTENSION)
        return name === 'apidefs' ? bare(CLASSIC) : refused(404, 'Schema not found')
      },
    },
  ]
}
