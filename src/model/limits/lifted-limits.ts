import { toWords } from '../apis/definition/tree.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'

/** Members that limit requests where they are above zero, with the name of each limit. */
const LIMITS = { rate: 'rate limit', quota_max: 'quota', max_query_depth: 'query depth limit' } as const

/**
 * Warnings of a key or policy that was replaced by one that leaves out limits: clients that do not know all members write so. -1 says that
 * there is no limit, and is not warned of.
 */
export function liftedLimits(before: JsonObject, after: JsonObject): { path: string; message: string }[] {
  const rights = (body: JsonObject) => (isObject(body.access_rights) ? body.access_rights : {})
  const [old, next] = [rights(before), rights(after)]
  return [
    ...liftedAt([], before, after),
    ...Object.keys(old).flatMap((apiId) =>
      Object.hasOwn(next, apiId)
        ? liftedAt(['access_rights', apiId, 'limit'], limitOf(old[apiId]), limitOf(next[apiId]))
        : [],
    ),
  ]
}

function liftedAt(place: readonly string[], before: JsonObject, after: JsonObject) {
  return Object.entries(LIMITS).flatMap(([member, name]) =>
    isAbove(before[member]) && (after[member] ?? 0) === 0
      ? [
          {
            path: toWords([...place, member]),
            message: `the ${name} of ${before[member]} is gone, as the body leaves it out; -1 says so without a warning`,
          },
        ]
      : [],
  )
}

const isAbove = (value: Json | undefined) => typeof value === 'number' && value > 0

function limitOf(right: Json | undefined): JsonObject {
  return isObject(right) && isObject(right.limit) ? right.limit : {}
}
