import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

/** A request as an upstream received it. */
export interface Received {
  /** `up0`, `up1` or `up2`. */
  readonly upstream: string
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** `name: value`, names in lower case, in the order of arrival. */
  readonly fields: readonly string[]
  /** Bytes as latin-1. */
  readonly body: string
}

/** How an upstream answers one request. */
export interface Script {
  readonly status: number
  readonly delayMs: number
  readonly fields: readonly (readonly [string, string])[]
  /** Without one it answers with what it received. */
  readonly body: string | undefined
  /** True = it closes the connection instead. */
  readonly reset: boolean
}

/** The recording upstreams `up0` to `up2`, and the port `dead` that nothing listens on. */
export interface Upstreams {
  /** Text with `{{up0}}`, `{{dead}}` and so on as real ports. */
  fill(text: string): string
  /** Text with real ports as `{{up0}}` and so on. */
  unfill(text: string): string
  /** The requests since the last call, of all upstreams. */
  take(): Received[]
  close(): Promise<void>
}

/** Starts the upstreams; `scriptOf` reads from a request how it is to be answered. */
export async function startUpstreams(scriptOf: (message: IncomingMessage) => Script): Promise<Upstreams> {
  const received: Received[] = []
  const listen = async (upstream: string) => {
    const server = createServer((message, response) => {
      const chunks: Buffer[] = []
      message.on('data', (chunk: Buffer) => chunks.push(chunk))
      message.on('end', () => {
        const { method = '', url = '', rawHeaders } = message
        const fields = rawHeaders.flatMap((name, at) =>
          at % 2 === 0 ? [`${name.toLowerCase()}: ${rawHeaders[at + 1]}`] : [],
        )
        received.push({ upstream, method, url, fields, body: Buffer.concat(chunks).toString('latin1') })
        answer(message, response, scriptOf(message), JSON.stringify({ port: upstream, method, url }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { upstream, server, port: (server.address() as AddressInfo).port }
  }
  const started = await Promise.all(['up0', 'up1', 'up2'].map(listen))
  const dead = await listen('dead')
  await new Promise((resolve) => dead.server.close(resolve))
  const ports = new Map([...started, dead].map(({ upstream, port }) => [upstream, String(port)]))
  return {
    fill: (text) => text.replace(/\{\{(up\d|dead)\}\}/g, (_, name: string) => ports.get(name)!),
    unfill: (text) => [...ports].reduce((rest, [name, port]) => rest.replaceAll(`:${port}`, `:{{${name}}}`), text),
    take: () => received.splice(0),
    close: async () => {
      for (const { server } of started) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    },
  }
}

function answer(message: IncomingMessage, response: ServerResponse, script: Script, echoed: string): void {
  const send = () => {
    if (script.reset) {
      message.socket.destroy()
      return
    }
    for (const [name, value] of script.fields) response.appendHeader(name, value)
    if (!response.hasHeader('content-type')) response.setHeader('content-type', 'application/json')
    response.writeHead(script.status)
    response.end(script.body ?? echoed)
  }
  if (script.delayMs > 0) setTimeout(send, script.delayMs)
  else send()
}

/** The answer to one request on a connection of its own; status 0 = nothing, only the end. */
export interface RawAnswer {
  readonly status: number
  /** `name: value`, names in lower case. */
  readonly fields: readonly string[]
  /** Bytes as latin-1. */
  readonly body: string
}

/** Sends a request byte for byte (`request` is latin-1) and reads its answer. */
export function send(port: number, request: string): Promise<RawAnswer> {
  const hasBody = !request.startsWith('HEAD ')
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    const end = (answer: RawAnswer) => {
      socket.destroy()
      resolve(answer)
    }
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const answer = readAnswer(text, hasBody)
      if (answer?.complete) end(answer)
    })
    socket.on('error', reject)
    socket.setTimeout(20_000, () =>
      socket.destroy(new Error(`no answer within 20 s to ${request.split('\r\n', 1)[0]}`)),
    )
    socket.on('close', () => resolve(readAnswer(text, hasBody) ?? { status: 0, fields: [], body: text }))
    socket.write(Buffer.from(request, 'latin1'))
  })
}

/** The final answer in what has come so far, and whether it is there as a whole. */
function readAnswer(text: string, hasBody: boolean): (RawAnswer & { readonly complete: boolean }) | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [line = '', ...rest] = text.slice(0, end).split('\r\n')
  const status = Number(line.split(' ')[1])
  const sent = text.slice(end + 4)
  if (status < 200 && status !== 101) return readAnswer(sent, hasBody)
  const fields = rest.map((field) => field.replace(/^[^:]*/, (name) => name.toLowerCase()))
  if (!hasBody || status === 101 || status === 204 || status === 304)
    return { status, fields, body: '', complete: true }
  if (fields.some((field) => /^transfer-encoding:.*chunked/i.test(field))) return { status, fields, ...unchunk(sent) }
  const length = fields.find((field) => field.startsWith('content-length:'))?.slice('content-length:'.length)
  return { status, fields, body: sent, complete: length !== undefined && sent.length >= Number(length) }
}

function unchunk(text: string): { body: string; complete: boolean } {
  let body = ''
  for (let at = 0; ; ) {
    const end = text.indexOf('\r\n', at)
    const size = end < 0 ? Number.NaN : Number.parseInt(text.slice(at, end), 16)
    if (size === 0) return { body, complete: true }
    if (!(size > 0) || text.length < end + 2 + size + 2) return { body, complete: false }
    body += text.slice(end + 2, end + 2 + size)
    at = end + 2 + size + 2
  }
}
