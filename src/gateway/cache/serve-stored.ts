import type { Coding } from '../../model/apis/definition/api.ts'
import type { MonoMillis } from '../../model/time/clock.ts'
import { type Compression, compressionOf, namesWeakTag } from '../compression/compress-answer.ts'
import { ZlibEncoder } from '../compression/zlib-encoder.ts'
import type { Exchange } from '../server/exchange.ts'
import { linesWithout } from '../server/field-lines.ts'
import { passedFields } from '../server/respond.ts'
import { storedRangeOf } from './ranges.ts'
import { CACHE_FIELDS, isKnownToClient } from './request-cache-fields.ts'
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
  const known = (asks & CACHE_FIELDS.condition) !== 0 && isKnownToClient(x.request, answer, x.wall)
  const extra = (x.chain?.cache?.aliasMark ?? '') + passedFields(x)
  const made = compressionOf(x, answer.status, answer.parts.lines, answer.length)
  // A 304 or a part of the answer varies as it does (RFC 9110 sections 15.3.7 and 15.4.5).
  const varied = extra + (made?.varies ?? '')
  if (known) {
    x.repeat(answer.notModified(now, namesWeakTag(x, answer.parts.fields.etag, made?.coding)), varied)
    return
  }
  const range =
    (asks & CACHE_FIELDS.range) === 0 || x.method !== 'GET' ? 'whole' : storedRangeOf(x.request, answer, x.wall)
  if (range === undefined) x.repeat(answer.unsatisfiable(now), extra)
  else if (range !== 'whole') x.repeat(answer.part(range, now), varied)
  else if (made?.coding === undefined) x.repeat(answer.at(now), varied)
  else x.repeat(compressed(answer, made.coding, made, pool).at(now), extra)
}

function compressed(answer: StoredAnswer, coding: Coding, made: Compression, pool: ResponseCache): StoredAnswer {
  const make = () => ({
    ...answer.parts,
    lines: linesWithout(answer.parts.lines, made.dropped) + made.lines,
    body: ZlibEncoder.whole(coding, answer.body),
  })
  return answer.form(coding, make, (bytes) => pool.grow(answer, bytes))
}
