import { fault, toFault } from '../../errors/fault.ts'
import { matchesStrongly, matchesWeakly } from '../../model/network/entity-tags.ts'
import type { KeyedMutex } from '../../runtime/keyed-mutex.ts'
import type { Answer } from './answer.ts'
import type { Call } from './call.ts'
import { type EntityVersion, type ExpectedRevision, entityTag } from './entity-version.ts'
import { versionOfAnswer } from './entity-versions.ts'
import type { Route, VersionReader } from './route.ts'

type Run = (expected?: ExpectedRevision) => Promise<Answer>

/**
 * Runs a call under its preconditions (RFC 9110 section 13). A read returns the `ETag` of its entity, and 304 to who has it. A change is
 * checked against `If-Match` and `If-None-Match`: between the check and the commit no other change is possible.
 * @throws Fault `precondition_failed` (412); everything that `run` throws
 */
export function conditionally(locks: KeyedMutex, route: Route, call: Call, run: Run): Promise<Answer> {
  const { entityVersions = [] } = route
  if (route.method === 'GET') return entityVersions.length === 0 ? run() : read(route, call, run)
  const ifMatch = call.header('if-match')
  const ifNoneMatch = call.header('if-none-match')
  if (ifMatch === undefined && ifNoneMatch === undefined) return run()
  // Two that saw the same go one after the other: what has no revision has nothing else to tell them apart by.
  return locks.run(`precondition ${ifMatch ?? call.url}`, () =>
    change(entityVersions, { ifMatch, ifNoneMatch }, call, run),
  )
}

async function read({ entityVersion }: Route, call: Call, run: Run): Promise<Answer> {
  // Looked at first: a tag may be older than what comes with it, never newer. What is not there is for `run` to say.
  const looked =
    entityVersion &&
    (await Promise.resolve(call)
      .then(entityVersion)
      .catch(() => undefined))
  const answer = await run()
  const current = entityVersion === undefined ? await versionOfAnswer(answer) : looked
  if (current === undefined || answer.status !== 200) return answer
  const headers = { ...answer.headers, etag: entityTag(current) }
  const known = call.header('if-none-match')
  if (known === undefined || !matchesWeakly(known, headers.etag)) return { ...answer, headers }
  return { status: 304, body: '', headers }
}

interface Conditions {
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
}

async function change(
  versions: readonly VersionReader[],
  conditions: Conditions,
  call: Call,
  run: Run,
): Promise<Answer> {
  const { ifMatch, ifNoneMatch } = conditions
  if (versions.length === 0) throw fault('precondition_failed', 'this call changes nothing that has an ETag')
  if (ifNoneMatch !== undefined && (await isThere(versions[0]!, ifNoneMatch, call)))
    throw fault('precondition_failed', 'it is there already')
  if (ifMatch === undefined) return run()
  const seen = await seenOf(versions, ifMatch, call)
  if ('digest' in seen) return run()
  return run(seen).catch((error) => {
    throw toFault(error).code === 'revision_conflict' ? fault('precondition_failed', undefined, error) : error
  })
}

async function isThere(version: VersionReader, ifNoneMatch: string, call: Call): Promise<boolean> {
  try {
    const current = await version(call)
    return current !== undefined && matchesWeakly(ifNoneMatch, entityTag(current))
  } catch (error) {
    if (toFault(error).entry.status === 404) return false
    throw error
  }
}

/** The entity that the caller has seen as it is now. @throws Fault `precondition_failed`, and what the first reader throws */
async function seenOf(versions: readonly VersionReader[], ifMatch: string, call: Call): Promise<EntityVersion> {
  for (const version of versions) {
    const current = await version(call)
    if (current !== undefined && matchesStrongly(ifMatch, entityTag(current))) return current
  }
  throw fault('precondition_failed')
}
