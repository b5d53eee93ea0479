import { toFault } from '../../../errors/fault.ts'
import type { JsonObject } from '../../json/json.ts'
import { compileExpression } from '../../patterns/pattern.ts'
import { ERROR_FLAGS, type ErrorOverride, type ErrorOverrides, UPSTREAM_FLAG } from '../definition/error-overrides.ts'
import type { Flaw } from '../definition/flaw.ts'
import { flagOf, isEmpty, numberOf, objectOf, objectsOf, textOf } from '../definition/members.ts'
import { answerHeaderFault } from './read-mock.ts'

const STATUS = /^[1-5](?:\d\d|xx)$/
const FIELD = /^[\w-]+(?:\.[\w-]+)*$/
const VARIABLE = /\{\{\s*\.(?:StatusCode|Message)\s*\}\}/g

/** The rules of a classic definition that replace error answers; undefined = none. */
export function readErrorOverrides(classic: JsonObject): ErrorOverrides | undefined {
  const held = objectOf(classic, 'error_overrides')
  if (flagOf(classic, 'error_overrides_disabled') || isEmpty(held)) return undefined
  return new Map(Object.keys(held).map((status) => [status, objectsOf(held, status).map(readOverride)]))
}

function readOverride(rule: JsonObject): ErrorOverride {
  const [match, response] = [objectOf(rule, 'match'), objectOf(rule, 'response')]
  const pattern = textOf(match, 'message_pattern')
  const [path, value] = [textOf(match, 'body_field'), textOf(match, 'body_value')]
  const [body, message] = [textOf(response, 'body'), textOf(response, 'message')]
  const headers = objectOf(response, 'headers')
  return {
    flag: textOf(match, 'flag'),
    pattern: pattern === '' ? undefined : compileExpression(pattern),
    ...(path !== '' && value !== '' && { field: { path: path.split('.'), value } }),
    status: numberOf(response, 'status_code'),
    body: body || (message === '' ? undefined : JSON.stringify({ error: message })),
    message,
    headers: Object.keys(headers).map((name) => [name, textOf(headers, name)] as const),
  }
}

/** The errors of such rules, by their places in a classic definition. */
export function errorOverrideFlaws(classic: JsonObject): Flaw[] {
  const held = objectOf(classic, 'error_overrides')
  if (flagOf(classic, 'error_overrides_disabled')) return []
  return Object.keys(held).flatMap((status): Flaw[] => {
    const at = ['error_overrides', status]
    const named = STATUS.test(status) ? [] : [{ at, reason: 'must be a status, or a class of them such as 4xx' }]
    const rules = objectsOf(held, status).flatMap((rule, index) =>
      ruleFlaws(rule).map((flaw) => ({ ...flaw, at: [...at, String(index), ...flaw.at] })),
    )
    return [...named, ...rules]
  })
}

function ruleFlaws(rule: JsonObject): Flaw[] {
  const [match, response] = [objectOf(rule, 'match'), objectOf(rule, 'response')]
  const flaws: Flaw[] = []
  const told = (section: string, name: string, reason: string | undefined) => {
    if (reason !== undefined) flaws.push({ at: [section, name], reason })
  }
  const flag = textOf(match, 'flag')
  const flags = [...Object.keys(ERROR_FLAGS), UPSTREAM_FLAG]
  if (flag !== '' && !flags.includes(flag)) told('match', 'flag', `is not served: must be one of ${flags.join(', ')}`)
  told('match', 'message_pattern', patternFault(textOf(match, 'message_pattern')))
  const [field, body] = [textOf(match, 'body_field'), textOf(response, 'body')]
  if (field !== '' && !FIELD.test(field)) told('match', 'body_field', 'must be names and positions, joined by dots')
  if (textOf(response, 'template') !== '') told('response', 'template', 'is not served: write the text into "body"')
  if (body.replaceAll(VARIABLE, '').includes('{{'))
    told('response', 'body', 'may hold no other templates than {{.StatusCode}} and {{.Message}}')
  const status = numberOf(response, 'status_code')
  if (status !== 0 && status < 200) told('response', 'status_code', 'must be a status from 200 to 599')
  const headers = objectOf(response, 'headers')
  for (const name of Object.keys(headers)) {
    const reason = answerHeaderFault(name, `${headers[name] ?? ''}`)
    if (reason !== undefined) flaws.push({ at: ['response', 'headers', name], reason })
  }
  return flaws
}

function patternFault(pattern: string): string | undefined {
  try {
    compileExpression(pattern)
    return undefined
  } catch (error) {
    return `is no expression that is safe to run: ${toFault(error).message}`
  }
}
