import type { Millis } from '../../model/time/clock.ts'

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const FIXED = /^[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/i
const RFC_850 = /^[A-Z][a-z]{5,8}, (\d\d)-([A-Z][a-z]{2})-(\d\d) (\d\d):(\d\d):(\d\d) GMT$/i
const ASCTIME = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})$/i

/** Reads a date in any of the three forms of RFC 9110 section 5.6.7, in any letter case; undefined when it is none of them. `now` tells the century of two digits. */
export function readHttpDate(text: string, now: Millis): Millis | undefined {
  const fixed = FIXED.exec(text)
  if (fixed !== null) return instant(fixed[3]!, fixed[2]!, fixed[1]!, fixed.slice(4))
  const old = RFC_850.exec(text)
  if (old !== null) return instant(yearOf(old[3]!, now), old[2]!, old[1]!, old.slice(4))
  const c = ASCTIME.exec(text)
  return c === null ? undefined : instant(c[6]!, c[1]!, c[2]!.trim(), c.slice(3, 6))
}

/** A year that seems to lie more than 50 years ahead is one of the past (RFC 9110 section 5.6.7). */
function yearOf(digits: string, now: Millis): string {
  const thisYear = new Date(now).getUTCFullYear()
  const year = Math.floor(thisYear / 100) * 100 + Number(digits)
  return String(year > thisYear + 50 ? year - 100 : year)
}

function instant(year: string, month: string, day: string, time: readonly string[]): Millis | undefined {
  const index = MONTHS.indexOf(month.toLowerCase())
  const [hour, minute, second] = time.map(Number) as [number, number, number]
  if (index === -1 || hour > 23 || minute > 59 || second > 60) return undefined
  const at = Date.UTC(Number(year), index, Number(day), hour, minute, second)
  // Date makes 2 March of 30 February.
  return new Date(at).getUTCDate() === Number(day) || second === 60 ? at : undefined
}
