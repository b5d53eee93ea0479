import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Where `npm start` builds the console. */
const CONSOLE_FOLDER = join(import.meta.dirname, '../../../console/dist')

/** Addresses below these belong to the API: what is not there is a refusal, never a page. */
const CALLS = /^\/(?:api|admin|auth|portal|oauth-clients|svc|console)(?:[/?]|$)/
const NONCE = /__NONCE__/g
const NONCE_BYTES = 16
const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Gatehouse</title>
<p>The console is not built. Start Gatehouse with \`npm start\`, which builds it.</p></html>`

/** Serves the files of the console at `/console/`. Their names hold a hash of what is in them, so browsers keep them for good. */
export function serveConsole(server: FastifyInstance, folder = CONSOLE_FOLDER): void {
  server.register(fastifyStatic, {
    root: folder,
    prefix: '/console/',
    index: false,
    dotfiles: 'ignore',
    preCompressed: true,
    cacheControl: false,
    setHeaders(response, path) {
      void response.header(
        'cache-control',
        path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      )
    },
  })
}

/** True for a browser that opens an address which is no call of the API. */
export function wantsPage(request: FastifyRequest): boolean {
  const { method, url, headers } = request
  if ((method !== 'GET' && method !== 'HEAD') || CALLS.test(url)) return false
  // The address alone, as `curl` asks for it, names no call.
  return (
    /\btext\/html\b/.test(headers.accept ?? '') || (/^\/(?:\?|$)/.test(url) && /^$|\*\/\*/.test(headers.accept ?? ''))
  )
}

/** Serves the console's page for every path: the page itself routes. */
export function sendConsole(reply: FastifyReply, folder = CONSOLE_FOLDER): FastifyReply {
  const page = readPage(folder)
  const nonce = randomBytes(NONCE_BYTES).toString('base64')
  return reply
    .status(page === undefined ? 503 : 200)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policyOf(nonce),
    })
    .send(page?.replace(NONCE, nonce) ?? NOT_BUILT)
}

/** Read each time: it names the files of one build, and the console may have been built again. */
function readPage(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, 'index.html'), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}

/** Own scripts and files only, own calls only; style elements only with the word of this page. */
function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}
