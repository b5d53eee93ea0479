import type { Config } from '../../config/schema.ts'
import type { HeaderTransform, Rules } from '../../model/apis/definition/api.ts'
import { FIELD } from '../../wire/http1/fields.ts'
import type { Exchange, ServedApi } from './exchange.ts'

type RequestIdFields = ServedApi['requestIds']

const NAME = 'x-request-id'

/** Reads who gets the id of an API's requests: as the setting says, but an API that edits the field on answers does that itself. */
export function requestIdFields(where: Config['gateway']['request_id'], versions: readonly Rules[]): RequestIdFields {
  const transforms = versions.flatMap((rules) => [rules, ...rules.operations]).map((rules) => rules.responseHeaders)
  return { onAnswers: where !== 'own' && !transforms.some(edits), toUpstream: where === 'all' }
}

function edits(rules: HeaderTransform | undefined): boolean {
  if (rules === undefined) return false
  return [...rules.remove, ...rules.add.map(([name]) => name)].some((name) => name.toLowerCase() === NAME)
}

/** Writes the id of a request down for its upstream and its answer. Comes before all edits, which so have the last word. */
export function giveRequestId(x: Exchange, { onAnswers, toUpstream }: RequestIdFields): void {
  x.showsRequestId = onAnswers
  if (!toUpstream) return
  x.request.dropKnown(FIELD.xRequestId)
  x.requestExtra = x.requestIdLine
}
