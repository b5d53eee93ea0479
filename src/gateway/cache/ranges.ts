import type { Millis } from '../../model/time/clock.ts'
import type { Fields } from '../../wire/http1/fields.ts'
import { readHttpDate } from './http-date.ts'
import type { ByteRange, StoredAnswer } from './stored-answer.ts'

const SINGLE = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i

/** True when a request asks for one range of bytes. Several, other units and malformed ones are left to the upstream. */
export function asksForOneRange(request: Fields): boolean {
  const values = request.all('range')
  return values.length === 1 && SINGLE.test(values[0]!)
}

/**
 * The part of a complete stored answer that a request asks for (RFC 9110 section 14.2, RFC 9111 section 3.3); `whole` where its
 * `If-Range` names another representation or the answer is no 200, undefined where the body has no such bytes.
 */
export function storedRangeOf(request: Fields, answer: StoredAnswer, now: Millis): ByteRange | 'whole' | undefined {
  const [, first, last, suffix] = SINGLE.exec(request.get('range') ?? '') ?? []
  if (answer.status !== 200 || !isSameRepresentation(request, answer, now)) return 'whole'
  const length = answer.length
  if (suffix !== undefined)
    return Number(suffix) === 0 || length === 0 ? undefined : { from: Math.max(0, length - Number(suffix)), to: length }
  const from = Number(first)
  if (last !== '' && Number(last) < from) return 'whole'
  return from >= length ? undefined : { from, to: last === '' ? length : Math.min(length, Number(last) + 1) }
}

/** `If-Range`: strong comparison of the tag, or the date of a modification that is older than the answer (RFC 9110 sections 13.1.5, 8.8.2.2). */
function isSameRepresentation(request: Fields, answer: StoredAnswer, now: Millis): boolean {
  const wanted = request.get('if-range')
  if (wanted === undefined) return true
  const { etag, lastModified, date } = answer.parts.fields
  if (wanted.startsWith('"')) return wanted === etag
  const [modified, made] = [readHttpDate(lastModified, now), readHttpDate(date, now)]
  return (
    modified !== undefined && made !== undefined && made - modified >= 1000 && readHttpDate(wanted, now) === modified
  )
}
