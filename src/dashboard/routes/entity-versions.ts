import type { Json } from '../../model/json/json.ts'
import { type Answer, isPieces } from './answer.ts'
import type { Call } from './call.ts'
import { digestOf, type EntityVersion } from './entity-version.ts'
import type { Route, VersionReader } from './route.ts'

/**
 * Completes routes by what their preconditions compare: a read has the version that it declares, or a digest of its answer; a change that of
 * the read of the same path, and of the nearest read above it, as `rotate` below a client. Reads that nothing changes have none.
 */
export function withEntityVersions(routes: readonly Route[]): Route[] {
  const reads = new Map(routes.filter(isRead).map((route) => [route.path, versionOf(route)]))
  const compared = new Set<string>()
  const changes = new Map<Route, readonly VersionReader[]>()
  for (const route of routes) {
    if (route.method === 'GET') continue
    const paths = comparedPaths(route.path, reads)
    for (const path of paths) compared.add(path)
    const own = route.entityVersion === undefined ? [] : [route.entityVersion]
    changes.set(route, [...own, ...paths.map((path) => reads.get(path)!)])
  }
  return routes.map((route) => {
    if (route.method !== 'GET') return { ...route, entityVersions: changes.get(route)! }
    return compared.has(route.path) ? { ...route, entityVersions: [reads.get(route.path)!] } : route
  })
}

const isRead = (route: Route) => route.method === 'GET' && route.once !== true && route.answerType === undefined

const versionOf = (route: Route): VersionReader =>
  route.entityVersion ?? (async (call: Call) => versionOfAnswer(await route.run(call)))

/** The version of an entity that has no revision, by what a read of it answers; undefined for refusals, what is not JSON, and what is read as it is sent. */
export async function versionOfAnswer({ status, body, type }: Answer): Promise<EntityVersion | undefined> {
  if (status !== 200 || type !== undefined || isPieces(body)) return undefined
  return digestOf(body as Json)
}

/** The read of the path itself; for an act, and where there is none, the nearest above. */
function comparedPaths(path: string, reads: ReadonlyMap<string, unknown>): string[] {
  const segments = path.split('/')
  const paths = segments.map((_, n) => segments.slice(0, segments.length - n).join('/')).filter((one) => reads.has(one))
  return path.endsWith('}') || paths[0] !== path ? paths.slice(0, 1) : paths.slice(0, 2)
}
