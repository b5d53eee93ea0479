import { isObject, type JsonObject } from '../../json/json.ts'
import { isSchemeOn } from '../convert/convert-auth.ts'
import { operationsOf } from '../convert/convert-operations.ts'
import { namesOfGroups } from '../convert/convert-schemes.ts'
import { extensionOf } from '../definition/extension.ts'
import type { Flaw } from '../definition/flaw.ts'
import { flagOf, objectOf } from '../definition/members.ts'
import { getAt, member } from '../definition/tree.ts'
import { unruledPath } from './path-flaws.ts'

/** Operations of OpenAPI 3.2 that the extension cannot name. */
const UNMATCHED = ['query', 'additionalOperations'] as const

/** Parts of an OpenAPI document that a gateway is expected to follow, and that have no effect. */
export function documentWarnings(document: JsonObject): Flaw[] {
  return [...unmatchedPaths(document), ...unmatchedOperations(document), ...unfollowedSecurity(document)]
}

function unmatchedPaths(document: JsonObject): Flaw[] {
  return Object.keys(objectOf(document, 'paths')).flatMap((path) => {
    const reason = path.startsWith('/') ? unruledPath(path) : undefined
    return reason === undefined ? [] : [{ at: ['paths', path], reason: `${reason}: nothing applies to its operations` }]
  })
}

function unmatchedOperations(document: JsonObject): Flaw[] {
  const paths = objectOf(document, 'paths')
  return Object.keys(paths).flatMap((path) =>
    UNMATCHED.filter((name) => isObject(member(paths[path], name))).map((name) => ({
      at: ['paths', path, name],
      reason: 'is kept without effect: no rule, check or mock applies to it',
    })),
  )
}

/** `security` of operations that asks for less than the gateway does, or for schemes that are not enabled. */
function unfollowedSecurity(document: JsonObject): Flaw[] {
  const extension = extensionOf(document) ?? {}
  const authentication = objectOf(objectOf(extension, 'server'), 'authentication')
  if (!flagOf(authentication, 'enabled')) return []
  const rules = getAt(extension, ['middleware', 'operations'])
  return operationsOf(document).flatMap(({ path, method, id, object }): Flaw[] => {
    const security = member(object, 'security')
    if (!Array.isArray(security)) return []
    const at = ['paths', path, method.toLowerCase(), 'security']
    const groups = namesOfGroups(security)
    if (groups.every((group) => group.length > 0) && groups.length > 0) {
      if (groups.some((group) => group.every((name) => isSchemeOn(extension, name)))) return []
      return [{ at, reason: 'names no scheme that is enabled: the enabled ones are asked for in its place' }]
    }
    if (flagOf(getAt(rules, [id, 'ignoreAuthentication']), 'enabled')) return []
    return [
      { at, reason: 'lets everybody in, but a credential is asked for: "ignoreAuthentication" opens an operation' },
    ]
  })
}
