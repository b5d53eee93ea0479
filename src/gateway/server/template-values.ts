import type { FaultCode } from '../../errors/catalog.ts'
import { type Fault, fault } from '../../errors/fault.ts'
import type { BodyRule } from '../../model/apis/definition/operation.ts'
import { RenderFlaw, renderTemplate } from '../../model/body-templates/render.ts'
import { parseXml } from '../../model/body-templates/xml.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import type { Exchange } from './exchange.ts'
import { readTrafficJson } from './json-flaw.ts'
import { contextObject } from './variables.ts'

/** The faults of one way that bodies go. */
export interface TransformFaults {
  /** The body is not what it should be, or does not fit the template. */
  readonly malformed: FaultCode
  /** The result would be too large. */
  readonly tooLarge: FaultCode
  /** The template gives no JSON. */
  readonly failed: FaultCode
}

const NO_JSON = 'must be JSON in UTF-8'
const DECODER = new TextDecoder('utf-8', { fatal: true })

/**
 * The value of a body that a template may be given, or why it is none: `isJson` where a reader that is less strict would take it for JSON.
 * Nothing is taken for `{}`.
 */
export function templateInput(
  bytes: Uint8Array,
  { input }: Pick<BodyRule, 'input'>,
): { readonly value: Json } | { readonly reason: string; readonly isJson: boolean } {
  if (input === 'xml') return xmlInput(bytes)
  try {
    const body = readTrafficJson(bytes.length === 0 ? '{}' : DECODER.decode(bytes))
    if ('value' in body) return { value: body.value as Json }
    return { reason: body.reason ?? NO_JSON, isJson: isLooseJson(bytes) }
  } catch {
    return { reason: NO_JSON, isJson: isLooseJson(bytes) }
  }
}

function xmlInput(bytes: Uint8Array): { readonly value: Json } | { readonly reason: string; readonly isJson: false } {
  try {
    const text = DECODER.decode(bytes)
    return text === '' ? { value: {} } : { isJson: false, ...parseXml(text) }
  } catch {
    return { reason: 'must be XML in UTF-8', isJson: false }
  }
}

function isLooseJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(Buffer.from(bytes).toString('utf8'))
    return true
  } catch {
    return false
  }
}

/** Rewrites a body by the template of its operation. */
export function transformed(x: Exchange, rule: BodyRule, body: Json, faults: TransformFaults): Buffer | Fault {
  try {
    return Buffer.from(renderTemplate(rule.template, rootOf(x, rule, body)))
  } catch (error) {
    if (!(error instanceof RenderFlaw)) throw error
    if (error.why === 'value') return fault(faults.malformed, error.message)
    return fault(error.why === 'bounds' ? faults.tooLarge : faults.failed, error.message)
  }
}

/** The values of a template: the members of the body, those of a list under `array`, anything else under `value`. */
function rootOf(x: Exchange, { session, template }: BodyRule, body: Json): JsonObject {
  const members = Array.isArray(body) ? { array: body } : isObject(body) ? body : { value: body }
  const { contextVariables } = x.chain!.api
  const added: [string, Json][] = []
  for (const name of template.reserved) {
    if (name.endsWith('_context') && contextVariables) added.push([name, contextObject(x, template.contextNames)])
    if (name.endsWith('_meta') && session) added.push([name, x.session?.metaData ?? {}])
  }
  return { ...members, ...Object.fromEntries(added) }
}
