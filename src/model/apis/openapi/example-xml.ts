import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { flagOf, objectOf, textOf } from '../definition/members.ts'
import { type EffectiveSchema, effectiveSchema } from './effective-schema.ts'

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
/** Name of a root element that has none. */
const ROOT = 'root'
const NAME = /^[A-Za-z_][\w.-]*$/

/** A value as XML, by the `xml` members of its schema (OpenAPI 3.1 section 4.8.26). `resolve` follows references. */
export function exampleXml(value: Json, schema: Json | undefined, resolve: (schema: Json) => JsonObject): string {
  const named = isObject(schema) ? textOf(schema, '$ref').split('/').at(-1)! : ''
  return HEAD + elements(value, schema === undefined ? [] : [schema], named || ROOT, resolve, true)
}

function elements(
  value: Json,
  schemas: readonly Json[],
  name: string,
  resolve: (schema: Json) => JsonObject,
  isRoot = false,
): string {
  const schema = effectiveSchema(schemas, resolve)
  const xml = objectOf(schema.keywords, 'xml')
  const own = nameOf(xml, name)
  if (Array.isArray(value)) {
    const isWrapped = isRoot || flagOf(xml, 'wrapped')
    const inner = value.map((item) => elements(item, schema.items, own, resolve)).join('')
    return isWrapped ? `<${own}${namespaceOf(xml)}>${inner}</${own}>` : inner
  }
  if (!isObject(value)) return `<${own}${namespaceOf(xml)}>${escaped(value)}</${own}>`
  let attributes = namespaceOf(xml)
  let content = ''
  for (const [key, inner] of Object.entries(value)) {
    const member = memberOf(schema, key, resolve)
    if (flagOf(member, 'attribute')) attributes += ` ${nameOf(member, key)}="${escaped(inner ?? '')}"`
    else content += elements(inner!, schema.properties.get(key) ?? [], key, resolve)
  }
  return `<${own}${attributes}>${content}</${own}>`
}

function memberOf(schema: EffectiveSchema, key: string, resolve: (schema: Json) => JsonObject): JsonObject {
  return objectOf(effectiveSchema(schema.properties.get(key) ?? [], resolve).keywords, 'xml')
}

function nameOf(xml: JsonObject, fallback: string): string {
  const name = textOf(xml, 'name') || fallback
  const prefix = textOf(xml, 'prefix')
  const plain = NAME.test(name) ? name : `_${name.replace(/[^\w.-]/g, '_')}`
  return NAME.test(prefix) ? `${prefix}:${plain}` : plain
}

function namespaceOf(xml: JsonObject): string {
  const [namespace, prefix] = [textOf(xml, 'namespace'), textOf(xml, 'prefix')]
  if (namespace === '') return ''
  return ` xmlns${NAME.test(prefix) ? `:${prefix}` : ''}="${escaped(namespace)}"`
}

function escaped(value: Json): string {
  const text = value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.replace(/[<>&"]/g, (char) => `&#${char.charCodeAt(0)};`)
}
