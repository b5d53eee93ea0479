import type { Containing } from '../../model/apis/definition/api.ts'
import { documentOf, listenPathIn } from '../../model/apis/definition/stored-api.ts'
import { toWords } from '../../model/apis/definition/tree.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { explicitPaths } from '../../model/sessions/explicit-paths.ts'
import { WorkSlice } from '../../runtime/turns.ts'
import type { Documents } from '../../store/ports/ports.ts'

/** How the paths in rights of a vendor's program match. */
export interface RightsRules {
  /** `compat.path_matching`. */
  readonly matching: Containing
  /** The key or policy that is replaced; paths that it has already are not those of the vendor's program. */
  readonly before?: JsonObject | undefined
  /** The organisation of the key or policy: APIs of others are as if they were not there. Absent = the writer may see all. */
  readonly orgId?: string | undefined
  /** The listen path of an API of `orgId` that is not stored; absent = there are none. */
  readonly listenPathOf?: (apiId: string) => string | undefined
}

/** A key or policy to be stored, with what to warn of once it is: members are looked at when the checks have bounded them. */
export interface WarnedRights {
  readonly body: JsonObject
  readonly warnings: () => ExplicitRights['warnings']
}

/** A key or policy, with the warnings of what was written into it. */
export interface ExplicitRights {
  readonly body: JsonObject
  readonly warnings: readonly { readonly path: string; readonly message: string }[]
}

const SAID: Readonly<Record<Containing, string>> = {
  contains: 'anywhere in a path',
  begins: 'at the beginning of a path',
  ends: 'at the end of a path',
  whole: 'with whole paths',
}

/**
 * A key or policy of a vendor's program, with the paths of its rights (`allowed_urls`, limits of endpoints) written out as they matched there.
 * @throws Fault `store_away`
 */
export async function explicitRights(
  documents: Documents,
  body: JsonObject,
  { matching, before = {}, orgId, listenPathOf = () => undefined }: RightsRules,
): Promise<ExplicitRights> {
  const rights = body.access_rights ?? null
  if (!isObject(rights)) return { body, warnings: [] }
  const found = new Map<string, string>()
  const slice = new WorkSlice()
  for (const [apiId, right] of Object.entries(rights)) {
    if (slice.isOver) await slice.next()
    if (matching === 'contains' || !isObject(right) || !Array.isArray(right.allowed_urls)) continue
    const listenPath = listenPathOf(apiId) ?? (await storedListenPath(documents, apiId, orgId))
    if (listenPath !== undefined) found.set(apiId, listenPath)
  }
  const known = isObject(before.access_rights ?? null) ? (before.access_rights as JsonObject) : {}
  const rules = { matching, listenPathOf: (apiId: string) => found.get(apiId) }
  const { rights: written, changed } = explicitPaths(rights, rules, known)
  const warnings = changed.flatMap(({ apiId, lists }) =>
    lists.map((list) => ({
      path: toWords(['access_rights', apiId, list]),
      message:
        matching !== 'contains' && list === 'allowed_urls' && !found.has(apiId)
          ? `are written out to match ${SAID[matching]} (compat.path_matching), without the listen path of the API, which is not there: send this again once it is`
          : `are written out to match ${SAID[matching]}, as where they come from (compat.path_matching)`,
    })),
  )
  return { body: { ...body, access_rights: written }, warnings }
}

async function storedListenPath(
  documents: Documents,
  apiId: string,
  orgId: string | undefined,
): Promise<string | undefined> {
  const stored = await documents.find('api', 'api_id', apiId)
  if (stored === undefined || (orgId !== undefined && (stored.body.org_id ?? '') !== orgId)) return undefined
  return listenPathIn(documentOf(stored.body).definition)
}
