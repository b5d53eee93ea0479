import { fault } from '../../../errors/fault.ts'
import type { JsonObject } from '../../json/json.ts'
import { isWireField } from '../../network/wire-fields.ts'

/** A request that a user tries at an API, through the gateway. */
export interface TrialRequest {
  /** The API that must answer. */
  readonly apiId: string
  readonly method: string
  /** Path and query, as a caller would send them. */
  readonly target: string
  /** Host field; '' = that of the gateway. */
  readonly host: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** The result of a trial request. */
export interface Trial {
  /** The steps of the gateway, as `explain` tells them. */
  readonly explained: JsonObject
  /** Undefined when there was none in time, which `trouble` tells. */
  readonly answer: TrialAnswer | undefined
  /** '' when there is an answer. */
  readonly trouble: string
  readonly durationMs: number
}

export interface TrialAnswer {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** At most `TRIAL_ANSWER_BYTES` of it: text where it is UTF-8, else base64. */
  readonly body: string
  readonly isBase64: boolean
  /** True when there was more. */
  readonly isCut: boolean
}

export const TRIAL_BODY_BYTES = 256 * 1024
export const TRIAL_ANSWER_BYTES = 512 * 1024
/** From the first byte sent to the last one read. */
export const TRIAL_WITHIN_MS = 30_000

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const TARGET = /^\/[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]*$/
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/
const VALUE = /^[\x20-\x7e]*$/
const MOST_HEADERS = 64
const LONGEST_TARGET = 8192
const LONGEST_VALUE = 8192

/** Fields for routing and forwarding. */
const NOT_YOURS = /^(?:host|proxy-.*|forwarded|x-forwarded-.*|x-real-ip|via)$/i

/**
 * Checks what a caller sent: a method that carries no tunnel, an origin-form target of URI characters, header fields that cannot
 * break out of their lines and say nothing about framing, destination or sender. @throws Fault `body_invalid` (400)
 */
export function checkTrial(sent: Pick<TrialRequest, 'method' | 'target' | 'headers' | 'body'>): void {
  if (!METHODS.has(sent.method)) throw refusal(`method: must be one of ${[...METHODS].join(', ')}`)
  if (sent.target.length > LONGEST_TARGET || !TARGET.test(sent.target))
    throw refusal('path: must begin with / and hold only characters of a URL; percent-encode the others')
  if (sent.headers.length > MOST_HEADERS) throw refusal(`headers: at most ${MOST_HEADERS}`)
  for (const [name, value] of sent.headers) {
    if (!NAME.test(name)) throw refusal('headers: a name holds characters that no header may have')
    if (isWireField(name) || NOT_YOURS.test(name)) throw refusal(`headers: ${name} is written by the gateway`)
    if (value.length > LONGEST_VALUE || !VALUE.test(value))
      throw refusal(`headers: the value of ${name} is too long, or is not visible ASCII`)
  }
  if (Buffer.byteLength(sent.body) > TRIAL_BODY_BYTES) throw refusal(`body: more than ${TRIAL_BODY_BYTES} bytes`)
}

function refusal(why: string) {
  return fault('body_invalid', why)
}
