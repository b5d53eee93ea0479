import type { JsonObject } from '../../json/json.ts'
import { BoundedExpression } from '../../patterns/bounded-expression.ts'
import { normalisedExpression } from '../../patterns/pattern.ts'
import type { ErrorOverride, ErrorOverrides } from '../definition/api.ts'
import { flagOf, isEmpty, numberOf, objectOf, objectsOf, textOf } from '../definition/members.ts'
import type { Flaw } from '../definition/tree.ts'
import { answerHeaderFault } from './read-mock.ts'

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
    pattern: pattern === '' ? undefined : new BoundedExpression(normalisedExpression(pattern)),
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
  return Object.keys(held).flatMap((status) =>
    objectsOf(held, status).flatMap((rule, index) =>
      ruleFlaws(rule).map((flaw) => ({ ...flaw, at: ['error_overrides', status, String(index), ...flaw.at] })),
    ),
  )
}

function ruleFlaws(rule: JsonObject): Flaw[] {
  const response = objectOf(rule, 'response')
  const flaws: Flaw[] = []
  const report = (name: string, reason: string) => flaws.push({ at: ['response', name], reason })
  const body = textOf(response, 'body')
  if (textOf(response, 'template') !== '') report('template', 'is not served: write the text into "body"')
  if (body.replaceAll(VARIABLE, '').includes('{{'))
    report('body', 'may hold no other templates than {{.StatusCode}} and {{.Message}}')
  const status = numberOf(response, 'status_code')
  if (status !== 0 && status < 200) report('status_code', 'must be a status from 200 to 599')
  const headers = objectOf(response, 'headers')
  for (const name of Object.keys(headers)) {
    const reason = answerHeaderFault(name, `${headers[name] ?? ''}`)
    if (reason !== undefined) flaws.push({ at: ['response', 'headers', name], reason })
  }
  return flaws
}
