import { fault, toFault } from '../../errors/fault.ts'
import type { KeyedMutex } from '../../runtime/keyed-mutex.ts'
import type { Answer } from './answer.ts'
import type { Call } from './call.ts'
import { type ExpectedRevision, entityTag } from './entity-version.ts'
import type { Route } from './route.ts'

type Run = (expected?: ExpectedRevision) => Promise<Answer>
type Look = NonNullable<Route['entityVersion']>

/**
 * Runs a call. A read returns the `ETag` of its entity; a change is checked against the `If-Match` that was sent (RFC 9110 section
 * 13.1.1): between the check and the commit no other change is possible.
 * @throws Fault `precondition_failed` (412); everything that `run` throws
 */
export function conditionally(locks: KeyedMutex, route: Route, call: Call, run: Run): Promise<Answer> {
  if (route.entityVersion === undefined) return run()
  if (route.method === 'GET') return tagged(route.entityVersion, call, run)
  const wanted = call.header('if-match')
  // Two that saw the same go one after the other: what has no revision has nothing else to tell them apart by.
  return wanted === undefined
    ? run()
    : locks.run(`if-match ${wanted}`, () => held(route.entityVersion!, wanted, call, run))
}

async function tagged(look: Look, call: Call, run: Run): Promise<Answer> {
  // Looked at first: a tag may be older than what comes with it, never newer. What is not there is for `run` to say.
  const standing = await Promise.resolve(call)
    .then(look)
    .catch(() => undefined)
  const answer = await run()
  if (standing === undefined || answer.status !== 200) return answer
  return { ...answer, headers: { ...answer.headers, etag: entityTag(standing) } }
}

async function held(look: Look, wanted: string, call: Call, run: Run): Promise<Answer> {
  const standing = await look(call)
  if (standing === undefined || !names(wanted, entityTag(standing))) throw fault('precondition_failed')
  if ('digest' in standing) return run()
  return run(standing).catch((error) => {
    throw toFault(error).code === 'revision_conflict' ? fault('precondition_failed', undefined, error) : error
  })
}

function names(wanted: string, tag: string): boolean {
  return wanted.trim() === '*' || wanted.split(',').some((one) => one.trim() === tag)
}
