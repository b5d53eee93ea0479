import type { Flaw } from '../../model/apis/definition/tree.ts'
import { isObject } from '../../model/json/json.ts'
import { endsWithin, SERVED_WITHIN_MS } from '../../runtime/bounded-wait.ts'
import type { Answer } from '../routes/answer.ts'
import type { DashboardParts } from './parts.ts'

const PENDING = 'Stored, but not yet active: the gateway has not taken it in time.'

/**
 * Waits until the gateway of this process serves what was committed, so that a key is dead when its deletion is answered. A gateway
 * that is stuck or behind holds no answer up for longer than five seconds after `sinceMs`, by the monotonic clock. Answers whether it
 * serves it.
 */
export async function isServed(parts: DashboardParts, requestId: string, sinceMs: number): Promise<boolean> {
  const revision = await parts.documents.revision()
  const leftMs = (parts.settleWithinMs ?? SERVED_WITHIN_MS) - (performance.now() - sinceMs)
  if (await endsWithin(parts.settled(revision), Math.max(leftMs, 1))) return true
  parts.log.warn({ request_id: requestId, revision }, 'the gateway has not applied a change in time')
  return false
}

/** The flaws that the gateway of this process adds to those of a saved API; none where it is behind, which the answer says then. */
export async function flawsAtGateway(
  { nodeFlaws, settleWithinMs = SERVED_WITHIN_MS }: DashboardParts,
  { id, revision }: { readonly id: string; readonly revision: number },
): Promise<readonly Flaw[]> {
  if (nodeFlaws === undefined) return []
  let flaws: readonly Flaw[] = []
  const asked = nodeFlaws(revision, id).then((found) => {
    flaws = found
  })
  await endsWithin(asked, settleWithinMs)
  return flaws
}

/** The answer of a write that is stored and not yet in force: an object says so beside what it says. */
export function pendingAnswer(answer: Answer): Answer {
  const { body, type } = answer
  if (type !== undefined || !isObject(body) || Symbol.asyncIterator in body) return answer
  return { ...answer, body: { ...body, warning: PENDING } }
}
