import type { Config } from '../../../config/schema.ts'
import type { HeaderTransform, Rules } from '../../../model/apis/definition/api.ts'
import { FIELD } from '../../../wire/http1/fields.ts'
import type { Step } from '../../server/exchange.ts'

const NAME = 'x-request-id'

/**
 * Gives the id of a request to its upstream and to all answers, as the setting says. First of all edits: header edits and modules of the
 * API have the last word on both.
 */
export function giveRequestId(where: Config['gateway']['request_id'], rules: Rules): Step | undefined {
  if (where === 'own') return undefined
  const shows = ![rules, ...rules.operations].some(({ responseHeaders }) => edits(responseHeaders))
  const sends = where === 'all'
  return function giveRequestId(x) {
    x.showsRequestId = shows
    if (!sends) return undefined
    x.request.dropKnown(FIELD.xRequestId)
    x.requestExtra += `X-Request-Id: ${x.requestId}\r\n`
    return undefined
  }
}

/** True for an API that writes or removes the field on answers itself. */
function edits(rules: HeaderTransform | undefined): boolean {
  if (rules === undefined) return false
  return [...rules.remove, ...rules.add.map(([name]) => name)].some((name) => name.toLowerCase() === NAME)
}
