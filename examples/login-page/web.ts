import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Html } from './html.ts'

const MAX_FORM_BYTES = 16 * 1024
const STYLE = readFileSync(new URL('style.css', import.meta.url))

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

/**
 * Sends a page. Nothing in it runs or is framed; `formTargets` are the places besides this server that its forms lead to in the
 * end, since browsers look at redirects after a form as well.
 */
export function sendPage(
  response: ServerResponse,
  status: number,
  content: Html,
  formTargets: readonly string[] = [],
): void {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy.join('; '),
    ...EVERYWHERE,
  })
  response.end(content.text)
}

/** Sends the browser elsewhere by GET, whatever it came with (RFC 9700 section 4.12). */
export function sendElsewhere(response: ServerResponse, location: string): void {
  response.writeHead(303, { Location: location, ...EVERYWHERE })
  response.end()
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

/** Sets a cookie that no script reads and that other sites' forms do not carry. */
export function setCookie(response: ServerResponse, name: string, value: string, options: { secure: boolean }): void {
  const secure = options.secure ? '; Secure' : ''
  response.appendHeader('Set-Cookie', `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}`)
}
