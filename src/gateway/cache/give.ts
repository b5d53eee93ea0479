import type { MonoMillis } from '../../model/time/clock.ts'
import type { Exchange } from '../server/exchange.ts'
import { passedFields } from '../server/respond.ts'
import { ASKS, isKnownToClient } from './request-asks.ts'
import type { ResponseCache } from './response-cache.ts'
import type { StoredAnswer } from './stored-answer.ts'

/** Answers with a stored answer: with its head alone where the client has the rest. */
export function serveStored(
  x: Exchange,
  answer: StoredAnswer,
  pool: ResponseCache,
  asks: number,
  now: MonoMillis,
): void {
  pool.hits++
  pool.used(answer)
  x.fromCache = true
  const known = (asks & ASKS.condition) !== 0 && isKnownToClient(x.request, answer, x.wall)
  x.repeat(known ? answer.notModified(now) : answer.at(now), (x.chain?.cache?.aliasMark ?? '') + passedFields(x))
}
