import { type Meter, type TemplateValue, templateJson, templateText, ValueFlaw } from './values.ts'

/** Most characters that a verb may fill up to. */
const MAX_WIDTH = 1000
/** Bounded, since a format may come from a body. */
const VERB = /%([-+0 #]{0,5})([1-9]\d{0,3})?(?:\.(\d{0,3}))?([a-zA-Z%])/g

/**
 * A text with verbs replaced by values in their order, as Go's `fmt.Sprintf` writes them: `%s`, `%v`, `%d`, `%q`, `%t`, `%f`, `%x` and
 * `%%`, with width and precision. @throws ValueFlaw for other verbs, and where values and verbs are not as many
 */
export function formatted(format: string, values: readonly TemplateValue[], meter: Meter): string {
  let next = 0
  const text = format.replace(
    VERB,
    (_, flags: string, width: string | undefined, precision: string | undefined, verb: string) => {
      if (verb === '%') return '%'
      if (next >= values.length) throw new ValueFlaw('has more verbs than values')
      const own = verbText(verb, values[next++]!, precision === undefined ? undefined : Number(precision), meter)
      const filled = Math.min(Number(width ?? 0), MAX_WIDTH)
      meter.spend(filled / 64)
      if (flags.includes('-')) return own.padEnd(filled)
      return own.padStart(filled, flags.includes('0') ? '0' : ' ')
    },
  )
  if (next < values.length) throw new ValueFlaw('has more values than verbs')
  return text
}

function verbText(verb: string, value: TemplateValue, precision: number | undefined, meter: Meter): string {
  const text = () => templateText(value, meter)
  if (verb === 's' || verb === 'v' || verb === 't') return precision === undefined ? text() : text().slice(0, precision)
  if (verb === 'q') return JSON.stringify(text())
  if (verb === 'd') return String(Math.trunc(numberIn(value)))
  if (verb === 'f') return numberIn(value).toFixed(Math.min(precision ?? 6, 100))
  if (verb === 'x')
    return typeof value === 'number' ? Math.trunc(value).toString(16) : Buffer.from(text()).toString('hex')
  if (verb === 'T') return typeof value
  throw new ValueFlaw(`has the verb %${verb}, which is not served (${templateJson('%s %v %d %q %t %f %x', meter)} are)`)
}

function numberIn(value: TemplateValue): number {
  const number = typeof value === 'string' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) throw new ValueFlaw('wants a number for %d, %f')
  return number
}

const MONTHS = 'January,February,March,April,May,June,July,August,September,October,November,December'.split(',')
const DAYS = 'Sunday,Monday,Tuesday,Wednesday,Thursday,Friday,Saturday'.split(',')
const two = (number: number) => String(number).padStart(2, '0')

/** The parts of Go's reference time, Mon Jan 2 15:04:05 MST 2006, in UTC; longer ones first. */
const PARTS: readonly (readonly [string, (date: Date) => string])[] = [
  ['January', (date) => MONTHS[date.getUTCMonth()]!],
  ['Monday', (date) => DAYS[date.getUTCDay()]!],
  ['Z07:00', () => 'Z'],
  ['-07:00', () => '+00:00'],
  ['-0700', () => '+0000'],
  ['2006', (date) => String(date.getUTCFullYear())],
  ['.000', (date) => `.${String(date.getUTCMilliseconds()).padStart(3, '0')}`],
  ['Jan', (date) => MONTHS[date.getUTCMonth()]!.slice(0, 3)],
  ['Mon', (date) => DAYS[date.getUTCDay()]!.slice(0, 3)],
  ['MST', () => 'UTC'],
  ['01', (date) => two(date.getUTCMonth() + 1)],
  ['02', (date) => two(date.getUTCDate())],
  ['15', (date) => two(date.getUTCHours())],
  ['03', (date) => two(date.getUTCHours() % 12 || 12)],
  ['04', (date) => two(date.getUTCMinutes())],
  ['05', (date) => two(date.getUTCSeconds())],
  ['06', (date) => two(date.getUTCFullYear() % 100)],
  ['PM', (date) => (date.getUTCHours() < 12 ? 'AM' : 'PM')],
]
const LAYOUT = new RegExp(PARTS.map(([part]) => part.replace('.', '\\.')).join('|'), 'g')
const WRITTEN: ReadonlyMap<string, (date: Date) => string> = new Map(PARTS)

/**
 * A time in a layout of Go's `time.Format`, in UTC. `time` is a date in ISO 8601, as `now` gives it, or seconds since 1970.
 * @throws ValueFlaw where it is no time
 */
export function dateText(layout: string, time: TemplateValue): string {
  const date = new Date(typeof time === 'number' ? time * 1000 : typeof time === 'string' ? time : Number.NaN)
  if (Number.isNaN(date.getTime())) throw new ValueFlaw('wants a date, or seconds since 1970')
  return layout.replace(LAYOUT, (part) => WRITTEN.get(part)!(date))
}
