// The service behind the APIs of the demonstration: it makes its answers up.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

const SKIES = ['clear', 'cloudy', 'rain', 'snow', 'fog']

/** A service that is listening. */
export interface Upstream {
  readonly url: string
  close(): Promise<void>
}

/** Starts the service on loopback, on any free port. */
export async function startUpstream(): Promise<Upstream> {
  const server = createServer((request, response) => {
    request.resume()
    const { pathname } = new URL(`http://upstream.invalid${request.url ?? '/'}`)
    const status = pathname.endsWith('/missing') ? 404 : 200
    const body = status === 404 ? { error: 'there is no such thing' } : answerTo(pathname)
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(`${JSON.stringify(body)}\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => closed(server) }
}

function answerTo(path: string): object {
  const name = path.split('/').at(-1) || 'everything'
  const number = [...name].reduce((sum, letter) => sum + letter.codePointAt(0)!, 0)
  if (path.startsWith('/weather')) return { place: name, celsius: (number % 40) - 8, sky: SKIES[number % SKIES.length] }
  if (path.startsWith('/parcels')) return { parcel: name, state: number % 2 === 0 ? 'on its way' : 'delivered' }
  return { path, ok: true }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
