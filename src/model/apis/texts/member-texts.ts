import { isObject, type Json, type JsonObject } from '../../json/json.ts'

/**
 * Descriptions of the members of a schema by their paths: `upstream.url`, `tests[].url` for entries of a list, `operations.*.allow` for what is
 * found under any name. A path that begins with a dot is the end of several.
 */
export type MemberTexts = Readonly<Record<string, string>>

/** Switches have one meaning, whatever they switch. */
const SWITCHES: MemberTexts = {
  enabled: 'true switches it on. Absent: off.',
  disabled: 'true switches it off.',
}

/** The schema with a description at every member that the texts name; what has one keeps it. */
export function withMemberTexts(schema: JsonObject, texts: MemberTexts): JsonObject {
  return described(schema, '', texts)
}

/** Every member of a schema with its path, in its order. */
export function membersIn(schema: JsonObject, at = ''): [path: string, member: JsonObject][] {
  const { properties, items, additionalProperties, anyOf } = schema
  const own = Object.entries(isObject(properties ?? null) ? (properties as JsonObject) : {}).flatMap(
    ([name, member]): [string, JsonObject][] => {
      if (!isObject(member)) return []
      const path = at === '' ? name : `${at}.${name}`
      return [[path, member], ...membersIn(member, path)]
    },
  )
  const options = Array.isArray(anyOf) ? anyOf : []
  return [
    ...own,
    ...(isObject(items ?? null) ? membersIn(items as JsonObject, `${at}[]`) : []),
    ...(isObject(additionalProperties ?? null) ? membersIn(additionalProperties as JsonObject, `${at}.*`) : []),
    ...options.flatMap((option) => (isObject(option) ? membersIn(option, at) : [])),
  ]
}

function described(schema: JsonObject, at: string, texts: MemberTexts): JsonObject {
  const { properties, items, additionalProperties } = schema
  const inside = (value: Json, path: string) => (isObject(value) ? described(value, path, texts) : value)
  const text = schema.description === undefined && at !== '' ? memberText(at, texts) : undefined
  return {
    ...schema,
    ...(text !== undefined && { description: text }),
    ...(isObject(properties ?? null) && {
      properties: Object.fromEntries(
        Object.entries(properties as JsonObject).map(([name, member]) => [
          name,
          inside(member, at === '' ? name : `${at}.${name}`),
        ]),
      ),
    }),
    ...(items !== undefined && { items: inside(items, `${at}[]`) }),
    ...(additionalProperties !== undefined && { additionalProperties: inside(additionalProperties, `${at}.*`) }),
  }
}

/** The text of the whole path, else of its longest end. */
export function memberText(path: string, texts: MemberTexts): string | undefined {
  if (Object.hasOwn(texts, path)) return texts[path]
  for (let at = path.indexOf('.'); at !== -1; at = path.indexOf('.', at + 1)) {
    const end = path.slice(at)
    if (Object.hasOwn(texts, end)) return texts[end]
  }
  return SWITCHES[path.slice(path.lastIndexOf('.') + 1)]
}
