import { fault } from '../../../errors/fault.ts'
import { readDecoded } from '../../compression/decode.ts'
import type { Exchange, Step, StepOutcome } from '../../server/exchange.ts'
import { openFieldsOf } from '../../server/variables.ts'

/** Largest form that variables look at; a larger one is refused (413). */
const MAX_FORM_BYTES = 1_048_576
/** Fields of a form: 100,000 in a megabyte, which anybody may send, stop the gateway's thread for 0.3 s. */
const MOST_FIELDS = 10_000
const METHODS = ['POST', 'PUT', 'PATCH']

/**
 * Keeps values of the request that later edits and the wire take away: its fields, without credentials, and where variables ask for
 * `request_data` the form in its body.
 */
export function keepVariables({
  fields,
  form,
}: {
  readonly fields: boolean
  readonly form: boolean
}): Step | undefined {
  if (!fields) return undefined
  return function keepVariables(x) {
    x.sent = { fields: openFieldsOf(x), form: '' }
    // An explained request has no body.
    return form && !x.dry && hasForm(x) ? keepForm(x) : undefined
  }
}

function hasForm(x: Exchange): boolean {
  if (!METHODS.includes(x.method) || (x.body === undefined && x.bodyLength === 0)) return false
  const [type = ''] = (x.request.all('content-type')[0] ?? '').split(';')
  return type.trim().toLowerCase() === 'application/x-www-form-urlencoded'
}

async function keepForm(x: Exchange): Promise<StepOutcome> {
  const body = await readDecoded(x, Math.min(x.bodyLimitBytes || MAX_FORM_BYTES, MAX_FORM_BYTES))
  if ('reason' in body) return fault('request_malformed', `the form in the body ${body.reason}`)
  let fields = 1
  for (let at = body.bytes.indexOf('&'); at !== -1; at = body.bytes.indexOf('&', at + 1)) fields++
  if (fields > MOST_FIELDS)
    return fault('request_malformed', `the form in the body holds more than ${MOST_FIELDS} fields`)
  x.sent = { fields: x.sent!.fields, form: body.bytes.toString('utf8') }
  return undefined
}
