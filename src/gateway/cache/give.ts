import type { MonoMillis } from '../../model/time/clock.ts'
import type { RepeatedAnswer } from '../../wire/http1/repeated-answer.ts'
import type { Exchange } from '../server/exchange.ts'
import { passedFields } from '../server/respond.ts'
import { storedRangeOf } from './ranges.ts'
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
  const given = known ? answer.notModified(now) : (asks & ASKS.range) === 0 ? answer.at(now) : inRange(x, answer, now)
  x.repeat(given, (x.chain?.cache?.aliasMark ?? '') + passedFields(x))
}

/** The part of an answer that a request asks for. Range is defined for GET alone (RFC 9110 section 14.2). */
function inRange(x: Exchange, answer: StoredAnswer, now: MonoMillis): RepeatedAnswer {
  const range = x.method === 'GET' ? storedRangeOf(x.request, answer, x.wall) : 'whole'
  if (range === 'whole') return answer.at(now)
  return range === undefined ? answer.unsatisfiable(now) : answer.part(range, now)
}
