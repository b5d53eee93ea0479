import type { Fault } from '../../errors/fault.ts'
import { publicText, statusOf } from '../../errors/render.ts'
import { type ErrorOverride, findOverride, fitsAnswer, fitsFault } from '../../model/apis/definition/api.ts'
import { keepingCors } from './cors-fields.ts'
import type { Exchange, Reply } from './exchange.ts'
import { linesWithout } from './field-lines.ts'

const JSON_TYPE = 'Content-Type: application/json\r\n'
/** The beginning of a body that patterns are looked for in. */
const LOOKED_AT = 4096

/** The rule of an API that replaces its answer to a fault; undefined = none does. */
export function overrideOfFault(x: Exchange, fault: Fault, legacyStatuses: boolean): ErrorOverride | undefined {
  const overrides = x.chain?.api.errorOverrides
  if (overrides === undefined) return undefined
  const status = statusOf(fault, legacyStatuses)
  return findOverride(overrides, status, (each) => fitsFault(each, fault.code, publicText(fault)))
}

/** The rule of an API that replaces an error of its upstream; undefined = none does. */
export function overrideOfAnswer(x: Exchange, body: Buffer): ErrorOverride | undefined {
  const overrides = x.chain?.api.errorOverrides
  if (overrides === undefined || x.status < 400) return undefined
  const text = body.subarray(0, LOOKED_AT).toString('utf8')
  return findOverride(overrides, x.status, (each) => fitsAnswer(each, x.status, text, () => jsonOf(body)))
}

/** An answer as a rule makes it of the one that there would have been. */
export function overridden(
  override: ErrorOverride,
  { status, fields, body }: Reply,
  { corsFields }: Pick<Exchange, 'corsFields'>,
): Reply {
  const made = override.status || status
  const own = override.headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const names = new Set(override.headers.map(([name]) => name.toLowerCase()))
  const put = (kept: string) => keepingCors(corsFields, fields, kept + own)
  if (override.body === undefined) return { status: made, fields: put(linesWithout(fields, names)), body }
  const rest = linesWithout(fields, new Set([...names, 'content-type']))
  const type = names.has('content-type') ? '' : JSON_TYPE
  return { status: made, fields: put(rest + type), body: filled(override, made) }
}

function filled({ body = '', message }: ErrorOverride, status: number): string {
  const text = /^\s*[[{]/.test(body) ? JSON.stringify(message).slice(1, -1) : message
  return body.replaceAll(/\{\{\s*\.(StatusCode|Message)\s*\}\}/g, (_all, name) =>
    name === 'Message' ? text : String(status),
  )
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
