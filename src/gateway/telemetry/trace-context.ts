import { trimTrailing } from '../../model/text/trim-trailing.ts'

/** Where a request comes from, as its caller says (W3C Trace Context). */
export interface RemoteContext {
  readonly traceId: string
  readonly spanId: string
  /** The flags that we know: 1 = the caller records it. */
  readonly traceFlags: number
  /** List of `tracestate`, valid; '' = none. */
  readonly traceState: string
}

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const ZEROES = /^0+$/
const SAMPLED = 1
/** Longest list that must be passed on (section 3.3.1.5); a longer one is left out. */
const MOST_CHARACTERS = 512
const MOST_MEMBERS = 32
const KEY = /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})$/
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

/**
 * Reads the context of a request from the values of its `traceparent` and `tracestate` fields (W3C Trace Context sections 3.2 and 3.3).
 * undefined when there is none or it is malformed in any way: a new trace is begun then. A malformed list alone is left out.
 */
export function readTraceContext(parents: readonly string[], states: readonly string[]): RemoteContext | undefined {
  const match = parents.length === 1 ? PARENT.exec(parents[0]!) : null
  if (match === null) return undefined
  const [, version = '', traceId = '', spanId = '', flags = '', more] = match
  // Later versions may add parts behind; this one has none.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (ZEROES.test(traceId) || ZEROES.test(spanId)) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & SAMPLED, traceState: validState(states) }
}

function validState(states: readonly string[]): string {
  const members = states
    .join(',')
    .split(',')
    .map((member) => trimTrailing(member.replace(/^[ \t]+/, ''), ' \t'))
    .filter((member) => member !== '')
  const keys = new Set<string>()
  for (const member of members) {
    const equals = member.indexOf('=')
    const key = member.slice(0, Math.max(0, equals))
    if (!KEY.test(key) || !VALUE.test(member.slice(equals + 1)) || keys.has(key)) return ''
    keys.add(key)
  }
  const joined = members.join(',')
  return members.length > MOST_MEMBERS || joined.length > MOST_CHARACTERS ? '' : joined
}

const OWN_FIELDS = /\r\n(?:traceparent|tracestate):[^\r\n]*/gi

/** The header fields of this context. */
export function traceFields(context: RemoteContext): readonly (readonly [name: string, value: string])[] {
  const { traceId, spanId, traceFlags, traceState } = context
  const flags = (traceFlags & SAMPLED) === SAMPLED ? '01' : '00'
  const parent = ['traceparent', `00-${traceId}-${spanId}-${flags}`] as const
  return traceState === '' ? [parent] : [parent, ['tracestate', traceState]]
}

/** A request head (each line ended by CRLF) with this context instead of its previous one. */
export function withTraceContext(head: string, context: RemoteContext): string {
  const lines = traceFields(context).map(([name, value]) => `${name}: ${value}\r\n`)
  return head.replace(OWN_FIELDS, '') + lines.join('')
}
