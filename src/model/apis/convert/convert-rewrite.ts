import type { Json, JsonObject } from '../../json/json.ts'
import { isEmpty, objectOf, objectsOf, textOf } from '../definition/members.ts'
import { member, setMember } from '../definition/tree.ts'
import { TRIGGER_SOURCES } from '../read/read-rewrite.ts'
import type { Codec } from './convert-pairs.ts'

/** `triggers` of `url_rewrites`, grouped by where they look, and of `urlRewrite`, in a list. */
export const TRIGGERS: Codec = {
  toOas: (value) => (Array.isArray(value) ? value.map(triggerToOas) : undefined),
  toClassic: (value) => (Array.isArray(value) ? value.map(triggerToClassic) : undefined),
}

function triggerToOas(trigger: Json): Json {
  const options = objectOf(trigger, 'options')
  const rules: Json[] = []
  for (const { oas, classic } of TRIGGER_SOURCES) {
    const held = objectOf(options, classic)
    if (oas === 'requestBody') {
      if (!isEmpty(held)) rules.push({ in: oas, ...matchToOas(held) })
    } else for (const name of Object.keys(held)) rules.push({ in: oas, name, ...matchToOas(objectOf(held, name)) })
  }
  return {
    condition: textOf(trigger, 'on') || 'any',
    rules,
    rewriteTo: textOf(trigger, 'rewrite_to'),
  }
}

function matchToOas(match: JsonObject): JsonObject {
  return { pattern: textOf(match, 'match_rx'), ...(match.reverse === true && { negate: true }) }
}

function triggerToClassic(trigger: Json): Json {
  const options: JsonObject = {}
  for (const rule of objectsOf(trigger, 'rules')) {
    const source = TRIGGER_SOURCES.find(({ oas }) => oas === textOf(rule, 'in'))
    if (source === undefined) continue
    const match: JsonObject = {
      match_rx: textOf(rule, 'pattern'),
      ...(member(rule, 'negate') === true && { reverse: true }),
    }
    if (source.in === 'body') options[source.classic] = match
    else {
      const held = objectOf(options, source.classic)
      setMember(held, textOf(rule, 'name'), match)
      options[source.classic] = held
    }
  }
  return { on: textOf(trigger, 'condition') || 'any', options, rewrite_to: textOf(trigger, 'rewriteTo') }
}
