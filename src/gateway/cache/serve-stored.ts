import type { Coding } from '../../model/apis/definition/api.ts'
import type { MonoMillis } from '../../model/time/clock.ts'
import { type Compression, compressionOf, matchesWeakTag } from '../compression/compress-answer.ts'
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
  let extra = (x.chain?.cache?.aliasMark ?? '') + passedFields(x)
  if (known) {
    x.repeat(answer.notModified(now, matchesWeakTag(x, answer.parts.fields.etag)), extra)
    return
  }
  const range =
    (asks & CACHE_FIELDS.range) === 0 || x.method !== 'GET' ? 'whole' : storedRangeOf(x.request, answer, x.wall)
  if (range === undefined) x.repeat(answer.unsatisfiable(now), extra)
  else if (range !== 'whole') x.repeat(answer.part(range, now), extra)
  else {
    const made = compressionOf(x, answer.status, answer.parts.lines, answer.length)
    if (made?.coding === undefined) extra += made?.lines ?? ''
    x.repeat((made?.coding === undefined ? answer : compressed(answer, made.coding, made, pool)).at(now), extra)
  }
}

function compressed(answer: StoredAnswer, coding: Coding, made: Compression, pool: ResponseCache): StoredAnswer {
  const make = () => ({
    ...answer.parts,
    lines: linesWithout(answer.parts.lines, made.dropped) + made.lines,
    body: ZlibEncoder.whole(coding, answer.body),
  })
  return answer.form(coding, make, (bytes) => pool.grow(answer, bytes))
}
