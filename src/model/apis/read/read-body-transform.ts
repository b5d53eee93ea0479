import { parseBodyTemplate } from '../../body-templates/parse.ts'
import { TemplateFlaw } from '../../body-templates/tokens.ts'
import type { JsonObject } from '../../json/json.ts'
import { refuseFlaws } from '../check/validate.ts'
import type { Flaw } from '../definition/flaw.ts'
import { flagOf, objectOf, textOf } from '../definition/members.ts'
import type { BodyRule } from '../definition/operation.ts'

/** Reads an entry of `transform` or `transform_response`. @throws Fault `definition_invalid`, which the checks of a save come before */
export function readBodyTransform(entry: JsonObject): BodyRule {
  const read = readTemplate(entry)
  if (typeof read === 'string') refuseFlaws([{ at: SOURCE, reason: read }])
  return read as BodyRule
}

/** The errors of such an entry; templates in other languages are not checked. */
export function bodyTransformFlaws(entry: JsonObject): Flaw[] {
  const data = objectOf(entry, 'template_data')
  if (textOf(data, 'template_mode') === 'file' || !isTemplateInput(textOf(data, 'input_type'))) return []
  const read = readTemplate(entry)
  return typeof read === 'string' ? [{ at: SOURCE, reason: read }] : []
}

/** True for the types of bodies that templates take: JSON, and XML. */
export function isTemplateInput(type: string): boolean {
  return ['', 'json', 'xml'].includes(type.toLowerCase())
}

const SOURCE = ['template_data', 'template_source']

/** The rule, or why there is none. */
function readTemplate(entry: JsonObject): BodyRule | string {
  const data = objectOf(entry, 'template_data')
  const source = textOf(data, 'template_source').replace(/\s/g, '')
  if (source === '') return 'is missing, and templates in files are not served'
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(source)) return 'must be a template in base64'
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(source, 'base64'))
    const input = textOf(data, 'input_type').toLowerCase() === 'xml' ? 'xml' : 'json'
    return { template: parseBodyTemplate(text), input, session: flagOf(data, 'enable_session') }
  } catch (error) {
    return error instanceof TemplateFlaw ? error.message : 'must be a template in UTF-8'
  }
}
