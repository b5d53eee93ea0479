import type { JsonObject } from '../../json/json.ts'
import { objectOf, objectsOf, textOf } from '../definition/members.ts'
import type { RewriteRule, Trigger, TriggerRule, TriggerSource } from '../definition/operation.ts'

/** Where a trigger looks, in the words of both formats. The classic form has one expression for each name, and one for the body. */
export const TRIGGER_SOURCES: readonly {
  readonly in: TriggerSource
  readonly oas: string
  readonly classic: string
}[] = [
  { in: 'header', oas: 'header', classic: 'header_matches' },
  { in: 'query', oas: 'query', classic: 'query_val_matches' },
  { in: 'path', oas: 'path', classic: 'path_part_matches' },
  { in: 'session', oas: 'sessionMetadata', classic: 'session_meta_matches' },
  { in: 'context', oas: 'requestContext', classic: 'request_context_matches' },
  { in: 'body', oas: 'requestBody', classic: 'payload_matches' },
]

/** The single expression for bodies has no name. */
const BODY = 'payload'

/** Reads an entry of `url_rewrites`. */
export function readRewrite(entry: JsonObject): RewriteRule {
  return {
    pattern: textOf(entry, 'match_pattern'),
    rewriteTo: textOf(entry, 'rewrite_to'),
    triggers: objectsOf(entry, 'triggers').map(readTrigger),
  }
}

function readTrigger(trigger: JsonObject): Trigger {
  const options = objectOf(trigger, 'options')
  return {
    all: textOf(trigger, 'on') === 'all',
    rules: TRIGGER_SOURCES.flatMap((source) => rulesOf(options, source)),
    rewriteTo: textOf(trigger, 'rewrite_to'),
  }
}

function rulesOf(options: JsonObject, source: (typeof TRIGGER_SOURCES)[number]): TriggerRule[] {
  const held = objectOf(options, source.classic)
  // Programs in Go write the one for bodies always, with an empty pattern where there is none.
  if (source.in === 'body') return textOf(held, 'match_rx') === '' ? [] : [ruleOf(source.in, BODY, held)]
  return Object.keys(held).map((name) => ruleOf(source.in, name, objectOf(held, name)))
}

function ruleOf(place: TriggerSource, name: string, match: JsonObject): TriggerRule {
  return { in: place, name, pattern: textOf(match, 'match_rx'), negate: match.reverse === true }
}
