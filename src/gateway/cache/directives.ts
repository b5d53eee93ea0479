/** The directives of a Cache-Control field by name in lower case; '' for one without a value. The first of a name counts. */
export type Directives = ReadonlyMap<string, string>

/** Longest time that is distinguished, in seconds (RFC 9111 section 1.2.2). */
const MAX_SECONDS = 2_147_483_648

const DIRECTIVE = /([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/g

/** Reads the values of all Cache-Control fields of a message (RFC 9111 section 5.2). What is malformed is passed over. */
export function readDirectives(values: readonly string[]): Directives {
  const found = new Map<string, string>()
  for (const value of values) {
    for (const [, name, quoted, plain] of value.matchAll(DIRECTIVE)) {
      const key = name!.toLowerCase()
      if (!found.has(key)) found.set(key, quoted ?? plain ?? '')
    }
  }
  return found
}

/** Seconds that a directive names; undefined when it is not there, 0 when they are malformed: such an answer counts as stale (section 4.2.1). */
export function directiveSeconds(directives: Directives, name: string): number | undefined {
  const value = directives.get(name)
  return value === undefined ? undefined : (deltaSeconds(value) ?? 0)
}

/** A number of seconds as fields write it; undefined when it is none. */
export function deltaSeconds(text: string): number | undefined {
  return /^\d+$/.test(text) ? Math.min(Number(text), MAX_SECONDS) : undefined
}
