import { hash } from 'node:crypto'
import { fault, toFault } from '../../errors/fault.ts'
import { matchesStrongly, matchesWeakly } from '../../model/network/entity-tags.ts'
import type { KeyedMutex } from '../../runtime/keyed-mutex.ts'
import type { AdminAnswer } from './answer.ts'
import type { AdminRoute } from './route.ts'

/** A call with the reads of its resource: that of its own path, and for acts, or where there is none, the nearest above. */
export interface Conditional {
  readonly route: AdminRoute
  /** Path as sent: what is changed under it is changed one after the other while conditions are sent. */
  readonly path: string
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly reads: readonly (() => Promise<AdminAnswer>)[]
  /** True for a read of what other calls change. */
  readonly tagged: boolean
  readonly run: () => Promise<AdminAnswer>
}

/**
 * Runs a call under its preconditions (RFC 9110 section 13): reads get an `ETag`, and 304 where the caller has it; changes are refused for a
 * caller who has seen another version. Changes on other nodes between the check and the commit are not noticed.
 * @throws Fault `precondition_failed` (412); everything that `run` throws
 */
export async function underPreconditions(locks: KeyedMutex, call: Conditional): Promise<AdminAnswer> {
  const { ifMatch, ifNoneMatch, run } = call
  if (call.route.method === 'GET') return call.tagged ? tagAnswer(await run(), ifNoneMatch) : run()
  if (ifMatch === undefined && ifNoneMatch === undefined) return run()
  return locks.run(`precondition ${call.path}`, async () => {
    await check(call)
    return run()
  })
}

function tagAnswer(answer: AdminAnswer, ifNoneMatch: string | undefined): AdminAnswer {
  if (answer.status !== 200) return answer
  const tag = tagOf(answer)
  const fields = `${answer.fields}ETag: ${tag}\r\n`
  if (ifNoneMatch === undefined || !matchesWeakly(ifNoneMatch, tag)) return { ...answer, fields }
  return { status: 304, body: '', fields: `ETag: ${tag}\r\n` }
}

async function check({ ifMatch, ifNoneMatch, reads }: Conditional): Promise<void> {
  if (reads.length === 0) throw fault('precondition_failed', 'this call changes nothing that has an ETag')
  if (ifNoneMatch !== undefined) {
    const tag = await tagOfRead(reads[0]!).catch((error) => {
      if (toFault(error).entry.status !== 404) throw error
    })
    if (tag !== undefined && matchesWeakly(ifNoneMatch, tag)) throw fault('precondition_failed', 'it is there already')
  }
  if (ifMatch === undefined) return
  for (const read of reads) if (matchesStrongly(ifMatch, await tagOfRead(read))) return
  throw fault('precondition_failed')
}

const tagOfRead = async (read: () => Promise<AdminAnswer>) => tagOf(await read())

const tagOf = ({ version, body }: AdminAnswer) => `"${hash('sha256', version ?? body, 'base64url')}"`
