import { MAX_MODULE_BODY_BYTES } from '../../model/apis/definition/api.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { WIRE_FIELDS } from '../../model/network/wire-fields.ts'
import type { ModuleAnswer, ModuleExchange, ModuleReply } from './extension.ts'
import type { AnswerView, FieldEdit, FieldPairs, ModuleOutcome, RequestView } from './messages.ts'

// Runs in the thread of the modules: what is wrong is thrown at the function that did it.

const MAX_CONTEXT = 16_384
/** As many as a list of header edits in a definition may hold. */
const MOST_FIELDS = 500
/** RFC 3986 sections 3.3 and 3.4. */
const PATH = /^\/(?:[\w.~!$&'()*+,;=:@/-]|%(?!00)[0-9A-Fa-f]{2})*$/
const QUERY = /^(?:[\w.~!$&'()*+,;=:@/?-]|%(?!00)[0-9A-Fa-f]{2})*$/
/** Fields that say how a message is framed or routed: the gateway writes them. */
const NOT_THEIRS = new Set([...WIRE_FIELDS, 'date', 'host', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'])

/** A request as a module sees it, and what it did to it. */
export class ExchangeView implements ModuleExchange {
  readonly api: ModuleExchange['api']
  readonly method: string
  path: string
  query: string
  readonly headers: Headers
  readonly clientAddress: string
  readonly requestId: string
  readonly session: ModuleExchange['session']
  readonly config: ModuleExchange['config']
  readonly context: ModuleExchange['context']
  readonly #before: RequestView
  #body: Uint8Array | undefined
  #bodyShown = false
  #reply: ModuleOutcome['reply']
  #refusal: ModuleOutcome['refusal']

  constructor(request: RequestView, config: JsonObject) {
    this.#before = request
    this.api = request.api
    this.method = request.method
    this.path = request.path
    this.query = request.query
    this.headers = headersOf(request.fields)
    this.clientAddress = request.clientAddress
    this.requestId = request.requestId
    this.session = request.session as ModuleExchange['session']
    this.config = config as ModuleExchange['config']
    this.context = request.context as ModuleExchange['context']
    this.#body = request.body
  }

  get body(): Uint8Array | undefined {
    return this.#bodyShown ? this.#body : undefined
  }

  set body(body: string | Uint8Array) {
    if (!this.#bodyShown) throw new Error('the definition does not show this function the body (bodyLimitBytes)')
    const checked = checkedBody(body)
    this.#body = typeof checked === 'string' ? new TextEncoder().encode(checked) : checked
  }

  /** Settles whether the function that is called next is shown the body. */
  showBody(shown: boolean): void {
    this.#bodyShown = shown
  }

  /** True once it is answered or refused. */
  get ended(): boolean {
    return this.#reply !== undefined || this.#refusal !== undefined
  }

  answer(status: number, { headers = {}, body = '' }: ModuleReply = {}): void {
    checkStatus(status, 200)
    const fields = [...new Headers(headers)]
    checkCount(fields.length)
    for (const [name] of fields) checkName(name)
    this.#reply = { status, fields, body: checkedBody(body) }
  }

  reject(status: number, message: string): void {
    checkStatus(status, 400)
    this.#refusal = { status, message: String(message).slice(0, 1000) }
  }

  /** The edited exchange. @throws Error where a module set a value that cannot be sent */
  outcome(answer: AnswerInHand | undefined): ModuleOutcome {
    const { path, query } = this.#before
    if (typeof this.path !== 'string' || typeof this.query !== 'string') throw new Error('path and query must be texts')
    if (this.path !== path && !PATH.test(this.path)) throw new Error('path must begin with "/" and be percent-encoded')
    if (this.query !== query && !QUERY.test(this.query)) throw new Error('query must be percent-encoded')
    const edits = answer === undefined ? editsOf(headersOf(this.#before.fields), this.headers) : answer.edits()
    return {
      edits,
      path: this.path === path ? undefined : this.path,
      query: this.query === query ? undefined : this.query,
      body: this.#body === this.#before.body ? undefined : this.#body,
      context: checkedContext(this.context),
      reply: this.#reply,
      refusal: this.#refusal,
      answer: answer?.outcome(),
    }
  }
}

/** An answer of the upstream as a module sees it, and what it did to it. */
export class AnswerInHand implements ModuleAnswer {
  status: number
  readonly headers: Headers
  body: string | Uint8Array
  readonly #before: AnswerView

  constructor(answer: AnswerView) {
    this.#before = answer
    this.status = answer.status
    this.headers = headersOf(answer.fields)
    this.body = answer.body
  }

  edits(): readonly FieldEdit[] {
    return editsOf(headersOf(this.#before.fields), this.headers)
  }

  outcome(): NonNullable<ModuleOutcome['answer']> {
    checkStatus(this.status, 200)
    return { status: this.status, body: checkedBody(this.body) }
  }
}

function headersOf(fields: FieldPairs): Headers {
  const headers = new Headers()
  for (const [name, value] of fields) headers.append(name, value)
  return headers
}

/** Set-Cookie is the one field whose values must not be joined (RFC 9110 section 5.3). */
function valuesOf(headers: Headers, name: string): string[] {
  const value = headers.get(name)
  if (name === 'set-cookie') return headers.getSetCookie()
  return value === null ? [] : [value]
}

function editsOf(before: Headers, after: Headers): FieldEdit[] {
  const names = new Set([...before.keys(), ...after.keys()])
  const edits = [...names].flatMap((name) => {
    const values = valuesOf(after, name)
    if (values.join('\n') === valuesOf(before, name).join('\n')) return []
    checkName(name)
    return [{ name, values }]
  })
  checkCount(edits.reduce((sum, { values }) => sum + Math.max(1, values.length), 0))
  return edits
}

/** Each edit looks through all fields of the message, on the gateway's thread. */
function checkCount(fields: number): void {
  if (fields > MOST_FIELDS) throw new Error(`${fields} fields are changed, at most ${MOST_FIELDS} may be`)
}

function checkName(name: string): void {
  if (NOT_THEIRS.has(name)) throw new Error(`${name} is a field that the gateway writes itself`)
}

function checkStatus(status: number, least: number): void {
  if (!Number.isInteger(status) || status < least || status > 599)
    throw new Error(`a status must be a whole number from ${least} to 599`)
}

function checkedBody(body: unknown): string | Uint8Array {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new Error('a body must be a text or a Uint8Array')
  if (Buffer.byteLength(body) > MAX_MODULE_BODY_BYTES)
    throw new Error(`a body must not be longer than ${MAX_MODULE_BODY_BYTES} bytes`)
  // A part of a buffer would take all of it along.
  return typeof body === 'string' ? body : new Uint8Array(body)
}

/** Through JSON, so that nothing else gets out of the thread. */
function checkedContext(context: unknown): JsonObject {
  const text = JSON.stringify(context) ?? '{}'
  if (text.length > MAX_CONTEXT)
    throw new Error(`the context must not be longer than ${MAX_CONTEXT} characters of JSON`)
  return JSON.parse(text) as JsonObject
}
