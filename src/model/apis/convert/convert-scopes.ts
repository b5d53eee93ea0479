import { OAUTH_SCHEME } from '../../authentication/oauth-scheme.ts'
import { declares } from '../../authentication/scheme.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { flagOf, objectOf, objectsOf, textOf } from '../definition/members.ts'
import { getAt, member, pathOf, sameTree, setMember } from '../definition/tree.ts'
import { askedScopes, listedScopes } from '../read/oauth-members.ts'
import { operationAt, operationsOf, PATH_METHODS } from './convert-operations.ts'

/** List of `extended_paths` that names scopes; ours, the incumbent has none. */
const LIST = 'oauth_scopes'

/** The security scheme of an API's authorization server: the first enabled one; undefined without one. */
export function oauthSchemeOf(document: JsonObject, extension: JsonObject): string | undefined {
  const declared = objectOf(objectOf(document, 'components'), 'securitySchemes')
  const schemes = getAt(extension, pathOf('server.authentication.securitySchemes'))
  if (schemes === undefined || !isObject(schemes)) return undefined
  const names = Object.keys(schemes).filter(
    (name) => isObject(schemes[name] ?? null) && declares(OAUTH_SCHEME, objectOf(declared, name), schemes[name]!),
  )
  return names.find((name) => flagOf(schemes[name], 'enabled')) ?? names[0]
}

/** Writes the `security` of operations for the scheme as a list of a version. True when there was any. */
export function scopesToClassic(document: JsonObject, extension: JsonObject, version: JsonObject): boolean {
  const scheme = oauthSchemeOf(document, extension)
  if (scheme === undefined) return false
  const entries: Json[] = []
  for (const { path, method, object } of operationsOf(document)) {
    const scopes = askedScopes(member(object, 'security'), scheme)
    if (scopes !== undefined) entries.push({ path, method, scopes })
  }
  if (entries.length === 0) return false
  version.extended_paths = { ...objectOf(version, 'extended_paths'), [LIST]: entries }
  return true
}

/**
 * Writes the scopes of a version as `security` of operations, and adds to `paths` those that the document lacks. What cannot be an
 * operation, is switched off, or speaks of an operation a second time is left out.
 */
export function scopesToOas(version: JsonObject, document: JsonObject, extension: JsonObject): void {
  const scheme = oauthSchemeOf(document, extension)
  if (scheme === undefined) return
  const seen = new Set<string>()
  for (const entry of objectsOf(objectOf(version, 'extended_paths'), LIST)) {
    const path = textOf(entry, 'path')
    const method = PATH_METHODS.find((each) => each.toUpperCase() === textOf(entry, 'method'))
    const scopes = listedScopes(member(entry, 'scopes'))
    if (method === undefined || !path.startsWith('/') || scopes === undefined || entry.disabled === true) continue
    if (seen.has(`${method} ${path}`)) continue
    seen.add(`${method} ${path}`)
    const operation = operationAt(document, path, method)
    if (sameTree(askedScopes(member(operation, 'security'), scheme), scopes)) continue
    operation.security = (scopes.length === 0 ? [[]] : scopes).map((each) => {
      const group: JsonObject = {}
      setMember(group, scheme, each)
      return group
    })
  }
}
