import { Fault } from '../../errors/fault.ts'
import { publicText, refusalFields, renderFault, statusOf } from '../../errors/render.ts'
import { FIELD, type Fields } from '../../wire/http1/fields.ts'
import { CORS_FIELDS, ORIGIN_FIELDS, withoutCorsLines } from './cors-fields.ts'
import { overridden, overrideOfFault } from './error-override.ts'
import { type CompiledTransform, type Exchange, type Reply, SENT } from './exchange.ts'
import { linesWithout } from './field-lines.ts'
import { grpcWebCall, isGrpcType, trailerFrame } from './grpc-web.ts'

/** Statuses of gRPC (its `statuscodes.md`) for statuses of HTTP. */
const CODES: Readonly<Record<number, number>> = {
  400: 13,
  401: 16,
  403: 7,
  404: 12,
  408: 4,
  413: 8,
  429: 8,
  431: 8,
  499: 1,
  502: 14,
  503: 14,
  504: 4,
}

const UNKNOWN = 2

/** How this installation words its own answers. */
export interface AnswerStyle {
  readonly legacyStatuses: boolean
}

const JSON_TYPE = 'Content-Type: application/json\r\n'

/**
 * Answers with what ended the walk: a reply, a fault, or nothing when the request was handed on. Where the client has left meanwhile
 * that is what ends the exchange, and has it counted.
 */
export function conclude(x: Exchange, end: Reply | Fault, style: AnswerStyle): void {
  if (end === SENT) return
  if (end instanceof Fault) {
    answerRefusal(x, end, style)
    return
  }
  const fields = x.corsFields === CORS_FIELDS.upstream ? end.fields : withoutCorsLines(end.fields)
  x.reply(end.status, fields + addedFields(x), end.body)
}

/** Answers a refusal in the gateway's words, with the limits and CORS fields collected so far. */
export function answerRefusal(x: Exchange, fault: Fault, style: AnswerStyle): void {
  x.fault = fault
  if (x.http2 && isGrpc(x)) {
    const extra = refusalFields(fault) + addedFields(x)
    x.reply(statusOf(fault, style.legacyStatuses), grpcRefusal(fault) + extra, undefined)
    return
  }
  const web = grpcWebCall(x)
  if (web !== undefined) {
    const fields = `Content-Type: ${web.webType}\r\n${refusalFields(fault)}${addedFields(x)}`
    x.reply(statusOf(fault, style.legacyStatuses), fields, trailerFrame(grpcStatus(fault), web))
    return
  }
  const fields = JSON_TYPE + refusalFields(fault) + addedFields(x)
  const override = overrideOfFault(x, fault, style.legacyStatuses)
  if (override !== undefined) {
    const status = statusOf(fault, style.legacyStatuses)
    const made = overridden(override, { status, fields, body: renderFault(fault, 'gateway') }, x)
    x.reply(made.status, made.fields, made.body)
    return
  }
  // No API: the incumbent answered in plain text.
  if (style.legacyStatuses && fault.code === 'api_not_found') {
    x.reply(404, fields.replace(JSON_TYPE, 'Content-Type: text/plain; charset=utf-8\r\n'), 'Not Found')
    return
  }
  x.reply(statusOf(fault, style.legacyStatuses), fields, renderFault(fault, 'gateway'))
}

/** The field lines that the gateway adds to every answer of an upstream, fresh or from the cache. */
export function passedFields(x: Exchange): string {
  const added = x.limitFields + x.answerExtra
  return x.showsRequestId ? added + x.requestIdLine : added
}

/** The field lines that the gateway adds to its own answers to requests of an API. */
export function addedFields(x: Exchange): string {
  return x.limitFields + x.answerExtra + x.requestIdLine
}

/** Edits the head of an upstream's answer; answers the lines to append. What we say of limits replaces what it said. */
export function editAnswer(x: Exchange): string {
  // Before it is stored: the id is that of one request.
  if (x.showsRequestId) x.response.dropKnown(FIELD.xRequestId)
  x.bodyConsumer?.answered(x)
  let extra = passedFields(x)
  if (x.limitFields !== '') x.response.dropRange(FIELD.ratelimit, FIELD.xRatelimitReset)
  if (x.corsFields !== CORS_FIELDS.upstream) dropCors(x.response, x.corsFields)
  extra += editFields(x, x.operation?.responseHeaders, x.chain?.responseHeaders)
  x.bodyObserver?.answered(x.status, x.response.kept() + extra)
  return extra
}

/** With CORS on the gateway alone says which origins may read an answer. */
export function dropCors(fields: Fields, corsFields: number): void {
  if (corsFields === CORS_FIELDS.gateway) fields.dropPrefixed('access-control-')
  else for (const name of ORIGIN_FIELDS) fields.drop(name)
}

/** An answer passes the operation first: the API has the last word on it. */
function editFields(x: Exchange, operation: CompiledTransform | undefined, api: CompiledTransform | undefined): string {
  const set = operation === undefined ? '' : edit(x, operation)
  if (api === undefined) return set
  return linesWithout(set, api.remove) + edit(x, api)
}

function edit(x: Exchange, transform: CompiledTransform): string {
  for (const name of transform.remove) x.response.drop(name)
  const isPlain = x.corsFields === CORS_FIELDS.upstream
  if (transform.linesFor === undefined) return isPlain ? transform.lines : transform.linesWithoutCors
  // Too long ones are left out: the answer is there already.
  const lines = transform.linesFor(x) ?? ''
  return isPlain ? lines : withoutCorsLines(lines)
}

/** True when the caller speaks gRPC, and so reads statuses in trailers only. */
function isGrpc(x: Exchange): boolean {
  return isGrpcType(x.request.known(FIELD.contentType))
}

/** The fields of a refusal to a caller of gRPC: an answer that is trailers alone. */
function grpcRefusal(fault: Fault): string {
  return `Content-Type: application/grpc\r\n${grpcStatus(fault)}`
}

/** The lines that say to a caller of gRPC why it was refused. */
function grpcStatus(fault: Fault): string {
  const code = CODES[fault.entry.status] ?? UNKNOWN
  return `grpc-status: ${code}\r\ngrpc-message: ${percentEncoded(publicText(fault))}\r\n`
}

/** As gRPC over HTTP/2 spells messages: printable ASCII without `%` as it is, every other byte of UTF-8 escaped. */
function percentEncoded(text: string): string {
  let encoded = ''
  for (const byte of Buffer.from(text)) {
    const plain = byte >= 32 && byte <= 126 && byte !== 37
    encoded += plain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return encoded
}
