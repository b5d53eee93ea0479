import { STATUS_CODES } from 'node:http'
import { Fault, fault } from '../../errors/fault.ts'
import { renderFault, statusOf } from '../../errors/render.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { activeByDefault } from '../../model/apis/definition/fill-ids.ts'
import { toOwnWords, withMatchingOf } from '../../model/apis/definition/vendor-words.ts'
import { isObject, type JsonObject, presentMembers } from '../../model/json/json.ts'
import { tryApi } from '../../publish/apis/apis.ts'
import type { Trace } from '../apis/definition-traces.ts'
import type { InnerRequest } from '../server/inner-calls.ts'
import { type AdminAnswer, json } from './answer.ts'
import { documentThere } from './apis.ts'
import { type AdminParts, publishParts } from './parts.ts'
import { type AdminRequest, DEFINITION_BYTES } from './request.ts'
import type { AdminRoute } from './route.ts'

/** `/debug` below the path of an alias sends a request to a definition that is not stored. Under our own word it is not found. */
export function traceRoutes(parts: AdminParts): AdminRoute[] {
  return [{ method: 'POST', path: '/debug', run: (request) => traceDefinition(parts, request) }]
}

async function traceDefinition(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  if (!request.isAlias) throw fault('not_found')
  const { spec, oas, request: asked } = presentMembers(await request.object(DEFINITION_BYTES))
  const format = oas === undefined ? 'classic' : 'oas'
  const sent = oas ?? spec
  if (!isObject(sent)) throw fault('body_malformed', 'Spec field is missing')
  if (!isObject(asked)) throw fault('body_malformed', 'Request field is missing')
  const asSent = requestOf(asked)
  const document = await documentOf(parts, request, format, sent)
  const { answer, ...trace } = await parts.trace({ document, request: asSent })
  const message = answer instanceof Error ? 'error' : 'ok'
  const response = `====== Request ======\n${requestText(trace.request)}\n====== Response ======\n${answerText(answer)}`
  return json({ message, response, logs: logsOf(parts, document, { answer, ...trace }) })
}

/** The definition as a save would store it, checked alike. @throws Fault `definition_invalid`, `definition_unsupported` (400) */
async function documentOf(
  parts: AdminParts,
  request: AdminRequest,
  format: ApiDocument['format'],
  sent: JsonObject,
): Promise<ApiDocument> {
  const { path_matching: matching } = parts.config.compat
  const { definition: own } = toOwnWords(format, sent, parts.config.compat.vendor_aliases, matching)
  const definition = format === 'classic' ? withMatchingOf(activeByDefault(own), [request.word], matching) : own
  const stored = await documentThere(parts, format, definition)
  const draft = { format, definition, actor: request.actor, mayCollide: true }
  const { document } = await tryApi(publishParts(parts), { ...draft, ...(stored && { apiId: stored.api_id }) })
  return document
}

/** Reads `{method, path, headers, body}`; a header has one value or a list of them. @throws Fault `body_malformed` (400) */
function requestOf(asked: JsonObject): InnerRequest {
  const { method = 'GET', path = '/', headers = {}, body = '' } = presentMembers(asked)
  if (typeof method !== 'string') throw fault('body_malformed', 'request.method: must be a text')
  if (typeof path !== 'string') throw fault('body_malformed', 'request.path: must be a text')
  if (typeof body !== 'string') throw fault('body_malformed', 'request.body: must be a text')
  if (!isObject(headers)) throw fault('body_malformed', 'request.headers: must be an object')
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => {
      if (typeof each !== 'string') throw fault('body_malformed', `request.headers.${name}: must be texts`)
      return [name, each] as const
    }),
  )
  return { method: method === '' ? 'GET' : method, target: path, headers: fields, body }
}

const lines = (fields: readonly (readonly [string, string])[]) =>
  fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')

function requestText({ method, target, headers, body }: InnerRequest): string {
  const length = body === '' ? [] : [['Content-Length', String(Buffer.byteLength(body))] as const]
  return `${method} ${target} HTTP/1.1\r\n${lines([...headers, ...length])}\r\n${body}`
}

/** Fields of the connection, which a message in a text has none of. */
const FRAMING = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])

function answerText(answer: Trace['answer']): string {
  if (answer instanceof Fault) return answerText(refusalOf(answer))
  const { status, headers, body } = answer
  const fields = Object.entries(headers)
    .filter(([name]) => !FRAMING.has(name.toLowerCase()))
    .flatMap(([name, values]) => values.map((value) => [name, value] as const))
  const all = [...fields, ['Content-Length', String(Buffer.byteLength(body))] as const]
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines(all)}\r\n${body}`
}

/** No answer came to an end: the reason, as a caller would get it. */
function refusalOf(refused: Fault) {
  const headers = { 'Content-Type': ['application/json'] }
  return { status: statusOf(refused, false), headers, body: renderFault(refused, 'gateway') }
}

/** A line of JSON for each step, and for what went wrong. */
function logsOf(parts: AdminParts, document: ApiDocument, { answer, steps, faults }: Trace): string {
  const { api_id, name: api_name, org_id } = document
  const time = new Date(parts.clock?.wall() ?? Date.now()).toISOString()
  const line = (members: JsonObject) => `${JSON.stringify({ ...{ api_id, api_name, org_id, time }, ...members })}\n`
  const taken = steps.map(({ step, outcome, reason, detail, status }) =>
    line({
      ...{ level: outcome === 'refused' ? 'error' : 'info', type: 'request', mw: step ?? '' },
      msg: [outcome, reason ?? detail].filter((each) => each !== undefined).join(': '),
      ...(typeof status === 'number' && { code: status }),
    }),
  )
  const wrong = faults.map((each) => line({ level: 'error', type: 'response', msg: each.message }))
  const code = answer instanceof Fault ? statusOf(answer, false) : answer.status
  return [...taken, ...wrong, line({ level: 'info', type: 'response', msg: 'answered', code })].join('')
}
