import { type GeoLocation, NO_LOCATION } from '../../model/analytics/geography.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { MASK } from '../../model/secrets/redact.ts'
import {
  redactBody,
  redactHead,
  redactUrl,
  type SecretNames,
  secretFields,
  secretValues,
} from '../../model/secrets/redact-traffic.ts'
import type { RecordInput } from '../../store/ports/records.ts'
import type { Detail, RecordedMessage } from './detail.ts'
import { PATH_CHARACTERS, type PendingRecord } from './pending-record.ts'
import type { StepTime } from './step-time.ts'

/** A shorter secret is not looked for in texts: it would be found everywhere. */
const SHORTEST_SECRET = 6
const MOST_SECRETS = 32
/** A refusal of the gateway is shorter; one that an API words itself may not be. */
const ERROR_BODY_CHARACTERS = 1024

/** The record of a request, without secrets. `placeOf` tells where an address is. */
export function formatRecord(
  pending: PendingRecord,
  placeOf: (address: string) => GeoLocation | undefined,
): RecordInput {
  const { dimensions, plan } = pending
  const { secretNames } = plan
  const hide = hiding(secretsOf(pending))
  const { orgId, apiId, keyHash, clientId, tags } = dimensions
  return {
    ...{ at: pending.at, orgId, apiId, status: pending.status, keyHash, clientId, tags },
    method: pending.method,
    requestId: pending.requestId,
    path: cut(hide(redactUrl(pending.path, secretNames))),
    fields: fieldsOf(pending, hide, secretNames, placeOf(pending.address) ?? NO_LOCATION),
    ...(pending.detail !== undefined && { detail: detailOf(pending.detail, hide, secretNames) }),
  }
}

function fieldsOf(pending: PendingRecord, hide: Hide, names: SecretNames, place: GeoLocation): JsonObject {
  const { dimensions, plan, totalMs, upstreamMs } = pending
  const total = Math.round(totalMs)
  const upstream = upstreamMs < 0 ? 0 : Math.round(upstreamMs)
  return {
    host: hide(pending.host),
    raw_path: cut(hide(redactUrl(pending.target, names))),
    content_length: pending.contentLength,
    user_agent: hide(pending.userAgent),
    api_version: dimensions.version,
    api_name: plan.apiName,
    alias: dimensions.alias,
    request_time: total,
    latency: { total, upstream, gateway: Math.max(0, total - upstream) },
    ip_address: pending.address,
    bytes_in: pending.bytesIn,
    bytes_out: pending.bytesOut,
    error_code: pending.errorCode,
    ...(pending.errorBody !== '' && { error_body: cutBody(hide(pending.errorBody)) }),
    ...(pending.steps.length > 0 && { steps: pending.steps.map(stepFields) }),
    track_path: pending.tracked,
    endpoint: dimensions.endpoint,
    geo: { ...place },
  }
}

/** Microseconds, as whole numbers. */
function stepFields({ name, atMs, ms }: StepTime): [string, number, number] {
  return [name, Math.round(atMs * 1000), Math.round(ms * 1000)]
}

function detailOf({ request, answer }: Detail, hide: Hide, names: SecretNames): NonNullable<RecordInput['detail']> {
  return { request: messageOf(request, hide, names), response: messageOf(answer, hide, names) }
}

function messageOf(message: RecordedMessage, hide: Hide, names: SecretNames): Uint8Array {
  const { totalBytes } = message
  const facts = { type: message.field('content-type'), encoding: message.field('content-encoding'), totalBytes }
  const body = redactBody(message.body(), facts, names)
  return Buffer.from(message.head === '' ? '' : `${hide(redactHead(message.head, names))}\r\n\r\n${hide(body)}`)
}

type Hide = (text: string) => string

/** Values of the request that are secrets by the names under which they were sent: an upstream may say them again under others. */
function secretsOf({ credential, target, detail, plan }: PendingRecord): readonly string[] {
  const found = new Set([credential])
  const mark = target.indexOf('?')
  if (mark !== -1) for (const value of secretValues(target.slice(mark + 1), plan.secretNames)) found.add(value)
  if (detail !== undefined) for (const value of secretFields(detail.request.head, plan.secretNames)) found.add(value)
  return [...found].filter((value) => value.length >= SHORTEST_SECRET).slice(0, MOST_SECRETS)
}

/** Takes secrets out of a text, wherever they were written. */
function hiding(secrets: readonly string[]): Hide {
  if (secrets.length === 0) return (text) => text
  const forms = [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret.toWellFormed())]))]
  return (text) => forms.reduce((open, form) => (open.includes(form) ? open.replaceAll(form, MASK) : open), text)
}

function cut(text: string): string {
  return text.length > PATH_CHARACTERS ? text.slice(0, PATH_CHARACTERS) : text
}

function cutBody(text: string): string {
  return text.length > ERROR_BODY_CHARACTERS ? text.slice(0, ERROR_BODY_CHARACTERS) : text
}
