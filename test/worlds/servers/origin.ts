import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request as an origin saw it. */
export interface SeenRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly body: string
}

/** A real HTTP server behind the gateway: notes every request and answers by script. */
export interface Origin {
  readonly url: string
  readonly port: number
  readonly seen: SeenRequest[]
  /** Answers from now on; without a script every request gets 200 and `{"ok":true}`. */
  script: ((request: SeenRequest, response: ServerResponse, message: IncomingMessage) => void) | undefined
  close(): Promise<void>
}

export async function startOrigin(): Promise<Origin> {
  const seen: SeenRequest[] = []
  const server = createServer((message, response) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => {
      const { method = '', url = '', headers, rawHeaders } = message
      const request = { method, target: url, headers, rawHeaders, body: Buffer.concat(chunks).toString('latin1') }
      seen.push(request)
      if (origin.script !== undefined) {
        origin.script(request, response, message)
        return
      }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{"ok":true}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const origin: Origin = {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    script: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return origin
}
