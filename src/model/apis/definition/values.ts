import { Fault } from '../../../errors/fault.ts'
import { isAddressOrRange } from '../../network/address.ts'
import { compileExpression } from '../../patterns/pattern.ts'
import type { Millis } from '../../time/clock.ts'
import { templateFault } from './template.ts'

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
const DURATION = /^(?:\d{1,9}(?:\.\d{1,3})?(?:ms|s|m|h)){1,4}$/
const MAX_DURATION_MS = 366 * 24 * 3_600_000

/** Milliseconds of `10s`, `1m`, `1h30m`, `500ms`; undefined when it is not such a text or more than a year. */
export function durationMs(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined
  let sum = 0
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ms|s|m|h)/gy)) sum += Number(amount) * UNIT_MS[unit!]!
  return sum <= MAX_DURATION_MS ? sum : undefined
}

/** The shortest text of a time in seconds: `60` is `1m`, `0.5` is `500ms`. */
export function durationText(seconds: number): string {
  const ms = Math.round(seconds * 1000)
  for (const unit of ['h', 'm', 's']) {
    if (ms > 0 && ms % UNIT_MS[unit]! === 0) return `${ms / UNIT_MS[unit]!}${unit}`
  }
  return `${ms}ms`
}

const MINUTE = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d)$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i

/** Instant of `YYYY-MM-DD HH:MM` (UTC) or an RFC 3339 date; undefined when it is neither, or no day of the calendar. */
export function expiryMs(text: string): Millis | undefined {
  if (!MINUTE.test(text) && !INSTANT.test(text)) return undefined
  const [day, time] = [text.slice(0, 10), text.slice(11)]
  // Date turns 30 February into March instead of refusing it.
  const date = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== day) return undefined
  const at = Date.parse(MINUTE.test(text) ? `${day}T${time}:00Z` : text.toUpperCase())
  return Number.isNaN(at) ? undefined : at
}

/** True for the ways to write that something does not expire. */
export function isNever(text: string): boolean {
  return text === '' || text === '-1' || text.toLowerCase() === 'never'
}

const HOST = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const REFERENCE = /^(?:env|secrets|consul|vault|file|kv):\/\//

/** True for a value that points to a secret elsewhere instead of holding it. */
export function isReference(text: string): boolean {
  return REFERENCE.test(text)
}

/** True for an absolute URL that the gateway can forward to in principle; which schemes it serves is decided elsewhere. */
function absoluteUrlFault(text: string): string | undefined {
  if (isReference(text)) return undefined
  const url = /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(text) ? URL.parse(text) : null
  if (url === null || /[\s\\]/.test(text)) return 'must be an absolute URL'
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password'
  if (url.hash !== '' || text.endsWith('#')) return 'must not have a fragment'
  return undefined
}

function httpUrlFault(text: string): string | undefined {
  if (isReference(text) || /^https?:/i.test(text)) return absoluteUrlFault(text)
  return 'must be an absolute URL of http or https'
}

function durationFault(text: string): string | undefined {
  return durationMs(text) === undefined ? 'must be a time such as "10s", "1m", "1h" or "500ms"' : undefined
}

/** Expressions run on what anybody sends: the reason names what would take more than linear time. */
function patternFault(text: string): string | undefined {
  try {
    compileExpression(text)
    return undefined
  } catch (error) {
    if (error instanceof Fault) return `must be a regular expression that is safe to run: ${error.message}`
    throw error
  }
}

/** Checks of single values: the reason why it is not one, to follow "must" or "has"; undefined when it is. */
export const VALUES = {
  duration: durationFault,
  optionalDuration: (text) => (text === '' ? undefined : durationFault(text)),
  expiry: (text) =>
    isNever(text) || expiryMs(text) !== undefined
      ? undefined
      : 'must be a date "YYYY-MM-DD HH:MM" (UTC) or as in RFC 3339',
  address: (text) => (isAddressOrRange(text) ? undefined : 'must be an IP address or a CIDR range'),
  domain: (text) => (text === '' || HOST.test(text) ? undefined : 'must be a host name'),
  listenPath: templateFault,
  url: (text) => (text === '' ? 'must be an absolute URL' : absoluteUrlFault(text)),
  optionalHttpUrl: (text) => (text === '' ? undefined : httpUrlFault(text)),
  optionalUrl: (text) => (text === '' ? undefined : absoluteUrlFault(text)),
  /** Targets of classic definitions may leave the scheme to the target URL. */
  target: (text) => absoluteUrlFault(text.includes('://') ? text : `http://${text}`),
  fieldName: (text) => (TOKEN.test(text) ? undefined : 'must be the name of a header'),
  optionalFieldName: (text) => (text === '' || TOKEN.test(text) ? undefined : 'must be the name of a header'),
  fieldValue: (text) => (FIELD_VALUE.test(text) ? undefined : 'must be a value that a header can have'),
  method: (text) => (text === '' || TOKEN.test(text) ? undefined : 'must be an HTTP method'),
  pattern: patternFault,
  endpoint: (text) =>
    text.startsWith('/') && !/[?#\s]/.test(text) ? undefined : 'must be a path that begins with "/"',
  /** Key of a rule for errors. */
  errorStatus: (text) =>
    /^[1-5](?:\d\d|xx)$/.test(text) ? undefined : 'must be a status, or a class of them such as 4xx',
  /** Members and positions in JSON, joined by dots. */
  jsonField: (text) =>
    text === '' || /^[\w-]+(?:\.[\w-]+)*$/.test(text) ? undefined : 'must be names and positions, joined by dots',
  origin: (text) =>
    text === '*' || /^(?:null|[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+)$/i.test(text) ? undefined : 'must be an origin or "*"',
} as const satisfies Record<string, (text: string) => string | undefined>

export type ValueKind = keyof typeof VALUES
