/** The parts of a dashboard call. */
export interface Sent {
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>
  /** Sent as JSON; a `FormData` as it is. */
  readonly body?: unknown
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

/** A refusal of the dashboard, or none at all when it could not be reached (`status` 0). */
export class CallError extends Error {
  readonly status: number
  /** Names the request in the dashboard's log; '' when there was no answer. */
  readonly requestId: string
  /** The answer as it came, where it was JSON. */
  readonly answer: unknown
  /** Seconds to wait before another try; 0 = not said. */
  readonly retryAfterS: number
  /** Which refusal it is, of those that callers act on; '' = another one. */
  readonly code: string

  constructor(status: number, message: string, requestId: string, answer: unknown, retryAfterS = 0, code = '') {
    super(message)
    this.retryAfterS = retryAfterS
    this.code = code
    this.status = status
    this.requestId = requestId
    this.answer = answer
  }
}

/** Words of `Status`, `Message`, `Meta`: what calls that write answer. */
export interface Envelope<Meta = unknown> {
  readonly Status: 'OK' | 'Error'
  readonly Message: string
  readonly Meta: Meta
}

/** Holds the tags of what was read under it, by path. */
export type Tag = Map<string, string>

let csrfToken = ''
let current: Tag | undefined
let noted: string[] | undefined
const endings = new Set<() => void>()
const connections = new Set<(isUp: boolean) => void>()
const warnings = new Set<(warning: string) => void>()

/** Takes the token that calls which write must carry. */
export function keepCsrf(token: string): void {
  csrfToken = token
}

/** Calls `listener` when a call tells that nobody is signed in any more. Answers the function that ends it. */
export function onSessionEnd(listener: () => void): () => void {
  endings.add(listener)
  return () => endings.delete(listener)
}

/** Tells `listener` after every call whether the dashboard was reached. Answers the function that ends it. */
export function onConnection(listener: (isUp: boolean) => void): () => void {
  connections.add(listener)
  return () => connections.delete(listener)
}

/** Calls `listener` with the `warning` of each write that succeeded but needs attention. Returns the function that unsubscribes. */
export function onWarning(listener: (warning: string) => void): () => void {
  warnings.add(listener)
  return () => warnings.delete(listener)
}

/**
 * Runs `work`. What it reads leaves its tag; what it writes is refused with 412 where the thing is no longer as it was when the tag
 * was left. Only calls that `work` begins before it first waits use the tag.
 */
export function underTag<Result>(tag: Tag, work: () => Result): Result {
  const outer = current
  current = tag
  try {
    return work()
  } finally {
    current = outer
  }
}

/**
 * Runs `work`, and adds the ids of its requests that wrote something to `ids`: the audit log names entries by them. Only calls that
 * `work` begins before it first waits are noted.
 */
export function notingWrites<Result>(ids: string[], work: () => Result): Result {
  const outer = noted
  noted = ids
  try {
    return work()
  } finally {
    noted = outer
  }
}

/** True for the refusal of a write under a tag: another writer was faster. */
export function isOutdated(error: unknown): boolean {
  return error instanceof CallError && error.status === 412
}

/** Calls the dashboard and answers the JSON that it answers. @throws CallError for every status from 400 on, and without an answer */
export async function call<Answer>(method: string, path: string, sent: Sent = {}): Promise<Answer> {
  return (await callWhole<Answer>(method, path, sent)).answer
}

/** The same with the header fields of the answer, where they say something too. @throws CallError */
export async function callWhole<Answer>(
  method: string,
  path: string,
  sent: Sent = {},
): Promise<{ readonly answer: Answer; readonly headers: Headers }> {
  const tag = current
  const ids = noted
  const response = await reach(method, path, method === 'GET' ? sent : held(path, sent, tag))
  const text = await response.text()
  const answer = jsonOf(text)
  if (response.ok && method === 'GET') tag?.set(path, response.headers.get('etag') ?? '')
  if (response.ok) {
    if (method !== 'GET') ids?.push(response.headers.get('x-request-id') ?? '')
    const warning = method !== 'GET' && isRecord(answer) ? answer.warning : undefined
    if (typeof warning === 'string') for (const listener of warnings) listener(warning)
    return { answer: (answer ?? text) as Answer, headers: response.headers }
  }
  if (response.status === 401 && isSessionOver(response, answer)) for (const listener of endings) listener()
  throw refusalOf(response, answer)
}

function held(path: string, sent: Sent, tag: Tag = new Map()): Sent {
  // The write may have a path of its own, below that of the read or beside it.
  const [only, ...others] = tag.values()
  const above = [...tag.keys()].find((read) => path.startsWith(`${read}/`)) ?? path
  const seen = tag.get(path) ?? tag.get(above) ?? (others.length === 0 ? only : undefined)
  return seen ? { ...sent, headers: { ...sent.headers, 'if-match': seen } } : sent
}

/** Calls the dashboard for something that is no JSON, such as a file. @throws CallError */
export async function download(path: string, sent: Sent = {}): Promise<Blob> {
  const response = await reach('GET', path, sent)
  if (response.ok) return response.blob()
  throw refusalOf(response, jsonOf(await response.text()))
}

function refusalOf(response: Response, answer: unknown): CallError {
  const { status, headers } = response
  const waitS = Number(headers.get('retry-after') ?? 0)
  const requestId = headers.get('x-request-id') ?? ''
  const code = headers.get('x-error-code') ?? ''
  return new CallError(status, messageOf(answer, response), requestId, answer, Number.isFinite(waitS) ? waitS : 0, code)
}

/** The path with its query, for a call or a link. */
export function withQuery(path: string, query: Sent['query'] = {}): string {
  const words = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue
    for (const one of Array.isArray(value) ? value : [value]) words.append(name, String(one))
  }
  return words.size === 0 ? path : `${path}?${words}`
}

async function reach(method: string, path: string, { query, body, signal, headers }: Sent): Promise<Response> {
  const isForm = body instanceof FormData
  try {
    const response = await fetch(withQuery(path, query), {
      method,
      credentials: 'same-origin',
      ...(signal && { signal }),
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
      headers: {
        accept: 'application/json',
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
        ...(method !== 'GET' && csrfToken !== '' && { 'x-csrf-token': csrfToken }),
        ...headers,
      },
    })
    for (const listener of connections) listener(true)
    return response
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    for (const listener of connections) listener(false)
    throw new CallError(0, '', '', undefined)
  }
}

/** A 401 may also mean "not yours": only the plain one says that the session is over. */
function isSessionOver({ url }: Response, answer: unknown): boolean {
  if (new URL(url).pathname.startsWith('/api/login')) return false
  return isRecord(answer) && answer.Message === 'Not authorised'
}

function messageOf(answer: unknown, response: Response): string {
  if (isRecord(answer)) {
    for (const name of ['Message', 'message', 'error_description', 'error'])
      if (typeof answer[name] === 'string' && answer[name] !== '') return answer[name]
  }
  return response.statusText
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** True for a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
