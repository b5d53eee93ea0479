import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { exampleOf } from './schema-example.ts'

/**
 * An OpenAPI 3.0 document with an example at every body and answer in JSON: of `requests`, by the id of the operation, else one that follows from
 * the schema.
 */
export function withExamples(document: JsonObject, requests: Readonly<Record<string, Json>>): JsonObject {
  const schemas = (document.components as { readonly schemas: JsonObject }).schemas
  const filled = (content: JsonObject, given?: Json) =>
    Object.fromEntries(
      Object.entries(content).map(([type, body]) => {
        if (!isObject(body) || !isObject(body.schema ?? null) || !/json|urlencoded/.test(type)) return [type, body]
        return [type, { ...body, example: given ?? exampleOf(body.schema as JsonObject, schemas) }]
      }),
    )
  const operationOf = (operation: JsonObject): JsonObject => {
    const { requestBody, responses, operationId } = operation as Record<string, JsonObject>
    return {
      ...operation,
      ...(requestBody !== undefined && {
        requestBody: {
          ...requestBody,
          content: filled(requestBody.content as JsonObject, requests[String(operationId)]),
        },
      }),
      responses: Object.fromEntries(
        Object.entries(responses ?? {}).map(([status, response]) => {
          const isDone = isObject(response) && status.startsWith('2') && isObject(response.content ?? null)
          return [status, isDone ? { ...response, content: filled(response.content as JsonObject) } : response]
        }),
      ),
    }
  }
  const paths = Object.entries(document.paths as JsonObject).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item as JsonObject).map(([method, each]) => [method, operationOf(each as JsonObject)]),
    ),
  ])
  return { ...document, paths: Object.fromEntries(paths) }
}
