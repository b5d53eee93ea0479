import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Html } from './html.ts'

const MAX_FORM_BYTES = 64 * 1024
const STYLE = ['base', 'frame', 'pieces', 'forms', 'texts', 'chart', 'narrow']
  .map((name) => readFileSync(new URL(`style/${name}.css`, import.meta.url), 'utf8'))
  .join('\n')

/** A refusal that is shown to the person. */
export class PageError extends Error {
  readonly status: number
  readonly title: string

  constructor(status: number, title: string, message: string) {
    super(message)
    this.status = status
    this.title = title
  }
}

/** The answer to a request: a page, or another address. `cookie`: a whole `Set-Cookie` field. */
export type Answer =
  | {
      readonly page: Html
      readonly status?: number
      readonly formTargets?: readonly string[]
      readonly cookie?: string
    }
  | { readonly goTo: string; readonly cookie?: string }

/** Sends an answer. Nothing in a page runs, is framed, or is loaded from elsewhere. */
export function send(response: ServerResponse, answer: Answer): void {
  if (answer.cookie !== undefined) response.appendHeader('Set-Cookie', answer.cookie)
  if ('goTo' in answer) {
    response.writeHead(303, { Location: answer.goTo, ...EVERYWHERE }).end()
    return
  }
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    // browsers look at redirects after a form as well
    `form-action ${["'self'", ...(answer.formTargets ?? [])].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]
  response.writeHead(answer.status ?? 200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy.join('; '),
    ...EVERYWHERE,
  })
  response.end(answer.page.text)
}

/** Sends the style sheet of all pages. */
export function sendStyle(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/css; charset=utf-8', 'X-Content-Type-Options': 'nosniff' }).end(STYLE)
}

const EVERYWHERE = {
  'Cache-Control': 'no-store',
  // forms of our own pages still say where they come from
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

/** Reads a form. @throws PageError 400, 413, 415 */
export async function readForm(request: IncomingMessage): Promise<ReadonlyMap<string, string>> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded')
    throw new PageError(415, 'Not a form', 'This page takes forms only.')
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_FORM_BYTES) throw new PageError(413, 'Too much', 'The form is too large.')
    chunks.push(chunk)
  }
  return onlyOnce(new URLSearchParams(Buffer.concat(chunks).toString('utf8')))
}

/** Parameters by name. @throws PageError 400 when one is repeated: nobody can say which of them counts */
export function onlyOnce(params: URLSearchParams): ReadonlyMap<string, string> {
  const map = new Map<string, string>()
  for (const [name, value] of params) {
    if (map.has(name)) throw new PageError(400, 'Not a valid request', 'A part of the request is repeated.')
    map.set(name, value)
  }
  return map
}

/** The value of a cookie; '' when it was not sent. */
export function cookieOf(request: IncomingMessage, name: string): string {
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [key, value = ''] = pair.trim().split('=')
    if (key === name) return value
  }
  return ''
}

/** Where the browser may be sent after a sign-in: a path of ours, whatever the link contains. */
export function ownPath(path: string | undefined): string {
  return path !== undefined && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) ? path : '/'
}
