import { isObject, type Json, type JsonObject } from '../../json/json.ts'

/** Keywords whose schemas look at the value that their holder looks at. */
export const IN_PLACE: ReadonlySet<string> = new Set([
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'],
])

/** Keywords that hold schemas by name. */
const BY_NAME: ReadonlySet<string> = new Set(['dependentSchemas', 'dependencies'])

/** Finds the schemas for whose value a `contains` counts, in them or in one that looks at the same value: each is read once. */
export class ContainsSearch {
  readonly #found = new Map<JsonObject, boolean>()
  #steps = 0

  /** Schemas read so far, each with the ways that lead to it. */
  get steps(): number {
    return this.#steps
  }

  /** The answer for a schema; `schemaOf` tells what a reference leads to. */
  leadsToContains(schema: JsonObject, schemaOf: (name: string) => Json | undefined): boolean {
    if (!this.#found.has(schema)) this.#read(schema, schemaOf)
    return this.#found.get(schema) === true
  }

  #read(first: JsonObject, schemaOf: (name: string) => Json | undefined): void {
    const holders = new Map<JsonObject, JsonObject[]>([[first, []]])
    const marked: JsonObject[] = []
    for (const schema of holders.keys()) {
      this.#steps++
      if ('contains' in schema) marked.push(schema)
      for (const inner of innerSchemas(schema, schemaOf)) {
        this.#steps++
        const known = this.#found.get(inner)
        if (known === true) marked.push(schema)
        if (known !== undefined) continue
        const list = holders.get(inner)
        if (list === undefined) holders.set(inner, [schema])
        else list.push(schema)
      }
    }
    // Back from those that have the keyword: recursion would end the stack at long chains.
    for (let next = marked.pop(); next !== undefined; next = marked.pop()) {
      if (this.#found.has(next)) continue
      this.#found.set(next, true)
      for (const holder of holders.get(next)!) marked.push(holder)
    }
    for (const schema of holders.keys()) if (!this.#found.has(schema)) this.#found.set(schema, false)
  }
}

/** The schemas that look at the value of one, but those whose finds do not count for it. */
function* innerSchemas(schema: JsonObject, schemaOf: (name: string) => Json | undefined): Generator<JsonObject> {
  const to = typeof schema.$ref === 'string' ? schemaOf(schema.$ref) : undefined
  if (isObject(to ?? null)) yield to as JsonObject
  for (const keyword of Object.keys(schema)) {
    if (keyword === 'not' || !IN_PLACE.has(keyword)) continue
    const inner = schema[keyword]!
    const parts = Array.isArray(inner) || (BY_NAME.has(keyword) && isObject(inner)) ? Object.values(inner) : [inner]
    for (const part of parts) if (isObject(part)) yield part
  }
}
