import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { GRANTS, IMPLICIT } from '../../oauth-clients/grants.ts'
import { member, setMember } from '../definition/tree.ts'

/** Access types of the classic form in the order in which we write them, and the flow of OpenAPI of each. */
export const FLOWS: readonly { readonly access: string; readonly flow: string; readonly urls: JsonObject }[] = [
  ...GRANTS.flatMap(({ type, flow }) =>
    flow === undefined ? [] : [{ access: type, flow: flow.name, urls: flow.urls }],
  ),
  IMPLICIT,
]

/** Grants that are no flow of OpenAPI: words of `allowed_access_types`, and switches of the extension. */
export const FLOWLESS: readonly { readonly access: string; readonly oas: string }[] = GRANTS.flatMap(
  ({ type, classic, oas }) => (classic !== undefined || oas === undefined ? [] : [{ access: type, oas }]),
)

/** Access types that a classic definition may list. */
export const ACCESS_TYPES: ReadonlySet<string> = new Set([...FLOWS, ...FLOWLESS].map(({ access }) => access))

/** Response types that a definition may list; only `code` is served. */
export const RESPONSE_TYPES: ReadonlySet<string> = new Set(['code', 'token'])

const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** True for a text that can be one scope (RFC 6749 section 3.3). */
export function isScopeToken(text: string): boolean {
  return SCOPE_TOKEN.test(text)
}

/** The scopes that the flows of a declared scheme name, each with its description: of several the first. */
export function scopesOfFlows(declared: JsonObject): JsonObject {
  const scopes: JsonObject = {}
  const flows = member(declared, 'flows')
  for (const { flow } of FLOWS) {
    const table = member(member(flows, flow), 'scopes')
    if (table === undefined || !isObject(table)) continue
    for (const name of Object.keys(table)) {
      const description = member(table, name)
      if (member(scopes, name) === undefined)
        setMember(scopes, name, typeof description === 'string' ? description : '')
    }
  }
  return scopes
}

/**
 * The alternatives of scopes that a `security` list asks of a scheme: [] when it can be met without any,
 * undefined when it says nothing of the scheme.
 */
export function askedScopes(security: Json | undefined, scheme: string): string[][] | undefined {
  if (!Array.isArray(security)) return undefined
  if (security.length === 0) return []
  const alternatives: string[][] = []
  for (const group of security) {
    if (!isObject(group)) continue
    const scopes = member(group, scheme)
    if (Array.isArray(scopes)) alternatives.push(scopes.filter((scope) => typeof scope === 'string'))
    else if (Object.keys(group).length === 0) alternatives.push([])
  }
  if (alternatives.length === 0) return undefined
  return plainAlternatives(alternatives)
}

/** Alternatives as they are kept: none when one of them asks for nothing. */
function plainAlternatives(alternatives: readonly (readonly string[])[]): string[][] {
  return alternatives.some((each) => each.length === 0) ? [] : alternatives.map((each) => [...each])
}

/** The alternatives of a classic definition: a list of lists of scopes; undefined when it is none. */
export function listedScopes(value: Json | undefined): string[][] | undefined {
  if (!Array.isArray(value)) return undefined
  const lists = value.filter((each) => Array.isArray(each))
  return plainAlternatives(lists.map((each) => each.filter((scope) => typeof scope === 'string')))
}
