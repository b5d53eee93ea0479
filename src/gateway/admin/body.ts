import { fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { decodeBody, readJson, readJsonText } from '../../model/json/json-body.ts'
import { yamlToJson } from '../../publish/apis/yaml.ts'

/** Reads a JSON object. @throws Fault `body_malformed` (400) as `readJson`, and when it is anything else */
export function parseObject(bytes: Uint8Array): JsonObject {
  return objectIn(readJson(bytes), 'JSON')
}

/** Reads a YAML document that holds an object. @throws Fault `body_malformed` (400), `body_too_large` (413) */
export async function parseYamlObject(bytes: Uint8Array): Promise<JsonObject> {
  return objectIn(readJsonText(await yamlToJson(decodeBody(bytes))), 'YAML')
}

function objectIn(value: Json, language: string): JsonObject {
  if (!isObject(value)) throw fault('body_malformed', `the body is not a ${language} object`)
  return value
}
