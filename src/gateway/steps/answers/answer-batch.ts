import { type Fault, fault, prebuilt, toFault } from '../../../errors/fault.ts'
import { renderFault, statusOf } from '../../../errors/render.ts'
import { isObject } from '../../../model/json/json.ts'
import { isGatewayField } from '../../../model/network/wire-fields.ts'
import type { InnerPeer } from '../../../wire/http1/inner-socket.ts'
import { readPath } from '../../../wire/http1/path.ts'
import { methodFault } from '../../../wire/http1/request-line.ts'
import type { OwnEndpoint } from '../../routing/own-paths.ts'
import type { Exchange, Reply, Step, StepOutcome } from '../../server/exchange.ts'
import type { InnerAnswer, InnerCalls, InnerRequest } from '../../server/inner-calls.ts'
import { readTrafficJson } from '../../server/json-flaw.ts'
import { contextFieldsOf } from '../../telemetry/traced-exchange.ts'

const MAX_REQUESTS = 50
const MAX_AT_ONCE = 8
const MAX_BODY_BYTES = 1_048_576
/** Of one response; all of them are in memory together. */
const MAX_ANSWER_BYTES = 262_144

const NESTED = prebuilt('endpoint_forbidden')
const LOWER_CASE = prebuilt('request_malformed', 'methods are in upper case')

/** Methods of the wire that are no requests for a resource, or whose answers are copies of what was sent. */
const UNBATCHED = new Set(['TRACE', 'PRI'])

/** Fields that tell where a request came from: a part of a batch comes from where the batch does. */
const TELLS_ORIGIN = /^(?:x-forwarded-.*|x-real-ip|forwarded)$/

interface Part {
  readonly relativeUrl: string
  readonly request: InnerRequest | Fault
}

interface PartAnswer {
  readonly relative_url: string
  readonly code: number
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body: string
}

/**
 * Answers `POST {listen path}/svc/batch/` with the answers to all requests that it holds. Each of them is a request to the same API,
 * with its own credential, and is checked, limited and counted as if it had come by itself.
 */
export function answerBatch(calls: InnerCalls, isBatch: OwnEndpoint): Step {
  return function answerBatch(x) {
    if (!isBatch(x.rest, 0)) return undefined
    if (x.method !== 'POST') return undefined
    if (x.inner) return NESTED
    return x.dry ? { status: 200, fields: '', body: undefined } : answer(x, calls)
  }
}

async function answer(x: Exchange, calls: InnerCalls): Promise<StepOutcome> {
  // The body holds the credentials of its parts, which are recorded by themselves.
  x.bodyObserver = undefined
  const bytes = await x.readBody(Math.min(x.bodyLimitBytes || MAX_BODY_BYTES, MAX_BODY_BYTES))
  const { parts, oneByOne } = partsOf(x, bytes)
  const { serverName, askedCertificate, peerCertificate } = x
  const peer: InnerPeer = {
    address: x.peerAddress,
    secured: x.secure ? { serverName, askedCertificate, peerCertificate } : undefined,
  }
  const gone = new AbortController()
  x.onClientGone = () => gone.abort()
  if (x.aborted) gone.abort()
  const ask = (request: InnerRequest) => calls.call(request, peer, MAX_ANSWER_BYTES, gone.signal)
  const answers: PartAnswer[] = []
  let next = 0
  const work = async () => {
    while (next < parts.length && !gone.signal.aborted) {
      const index = next++
      answers[index] = await answerPart(ask, parts[index]!)
    }
  }
  await Promise.all(Array.from({ length: oneByOne ? 1 : Math.min(MAX_AT_ONCE, parts.length) }, work))
  return { status: 200, fields: 'Content-Type: application/json\r\n', body: JSON.stringify(answers) } satisfies Reply
}

async function answerPart(
  ask: (request: InnerRequest) => Promise<InnerAnswer>,
  { relativeUrl, request }: Part,
): Promise<PartAnswer> {
  try {
    if (request instanceof Error) throw request
    const { status, headers, body } = await ask(request)
    return { relative_url: relativeUrl, code: status, headers, body }
  } catch (error) {
    const refused = toFault(error)
    return {
      relative_url: relativeUrl,
      code: statusOf(refused, false),
      headers: {},
      body: renderFault(refused, 'gateway'),
    }
  }
}

/** @throws Fault `request_malformed` when the body is no batch */
function partsOf(x: Exchange, bytes: Buffer): { readonly parts: Part[]; readonly oneByOne: boolean } {
  const batch = parsed(bytes)
  const requests = isObject(batch) ? batch.requests : undefined
  if (!isObject(batch) || !Array.isArray(requests)) throw fault('request_malformed', 'the body is no batch of requests')
  if (requests.length > MAX_REQUESTS) throw fault('request_malformed', `more than ${MAX_REQUESTS} requests in a batch`)
  const base = x.path.slice(0, x.path.length - x.rest.length)
  const origin = originFields(x)
  const parts = requests.map((request): Part => partOf(request, base, origin))
  return { parts, oneByOne: batch.suppress_parallel_execution === true }
}

function parsed(bytes: Buffer): unknown {
  const read = readTrafficJson(bytes.toString('utf8'))
  return 'value' in read ? read.value : undefined
}

function partOf(request: unknown, base: string, origin: InnerRequest['headers']): Part {
  const held = isObject(request) ? request : {}
  const { method, body, headers, relative_url: url } = held
  const relativeUrl = typeof url === 'string' ? url : ''
  const target = targetOf(base, relativeUrl)
  const malformed =
    typeof url !== 'string' ||
    typeof method !== 'string' ||
    (body !== undefined && body !== null && typeof body !== 'string') ||
    (headers !== undefined && headers !== null && !isObject(headers)) ||
    target === undefined
  if (malformed) return { relativeUrl, request: fault('request_malformed', 'a part of the batch is no request') }
  const refused = refusalOf(method)
  if (refused !== undefined) return { relativeUrl, request: refused }
  const own = Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)] as const)
  const taken = (name: string) =>
    isGatewayField(name) || TELLS_ORIGIN.test(name) || origin.some(([ours]) => ours === name)
  const kept = own.filter(([name]) => !taken(name.toLowerCase()))
  return { relativeUrl, request: { method, target, headers: [...origin, ...kept], body: body ?? '' } }
}

/** A part has a method that the wire takes, is an ordinary request, and says its method as rules are compared with it. */
function refusalOf(method: string): Fault | undefined {
  if (UNBATCHED.has(method)) return fault('method_not_implemented', `${method} in a batch`)
  // The client of inner calls writes every method in upper case.
  return methodFault(method) ?? (method === method.toUpperCase() ? undefined : LOWER_CASE)
}

/** Controls, blanks and fragments: the wire takes none. */
const UNSENT = /[\0-\x20\x7f#]/

/** JSON has characters, not bytes: those beyond ASCII become escapes. */
function inAscii(text: string): string {
  return text.replace(/[^\0-\x7f]+/g, encodeURIComponent)
}

/** Below the listen path and nowhere else; undefined when it would climb out, or is no path. */
function targetOf(base: string, relativeUrl: string): string | undefined {
  const mark = relativeUrl.indexOf('?')
  const path = mark === -1 ? relativeUrl : relativeUrl.slice(0, mark)
  if (UNSENT.test(relativeUrl) || !relativeUrl.isWellFormed()) return undefined
  const forms = readPath(`${base}/${inAscii(path)}`)
  if (forms instanceof Error || !`${forms.path}/`.startsWith(`${base}/`)) return undefined
  return forms.sent + (mark === -1 ? '' : inAscii(relativeUrl.slice(mark)))
}

/** The forwarding headers of the batch itself, by its own connection. */
function originFields(x: Exchange): InnerRequest['headers'] {
  const originFields = x.request.entries().filter(([name]) => TELLS_ORIGIN.test(name.toLowerCase()))
  return [['host', x.authority], ['x-request-id', x.requestId], ...originFields, ...contextFieldsOf(x)]
}
