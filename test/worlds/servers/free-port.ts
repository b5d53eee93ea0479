import { randomInt } from 'node:crypto'
import { createServer, type Server } from 'node:net'

/** Below those that systems give to connections and to servers that ask for any port: nobody is given one of these meanwhile. */
const [FIRST, LAST] = [20_000, 30_000]

/** So many ports in a row that nobody has; the first of them. */
export function freePort(inARow = 1): Promise<number> {
  return portBetween(FIRST, LAST, inARow)
}

/** A URL at which nothing listens: no test and no system chooses ports of this range. */
export async function deadUrl(): Promise<string> {
  return `http://127.0.0.1:${await portBetween(10_000, FIRST, 1)}`
}

async function portBetween(first: number, behind: number, inARow: number): Promise<number> {
  for (;;) {
    const port = randomInt(first, behind)
    const servers = await Promise.all(
      Array.from({ length: inARow }, (_, i) => listenAt(port + i).catch(() => undefined)),
    )
    await Promise.all(servers.map((server) => new Promise((closed) => server?.close(closed) ?? closed(undefined))))
    if (servers.every((server) => server !== undefined)) return port
  }
}

/** A server that takes connections and says nothing. @throws Error EADDRINUSE */
export function listenAt(port: number, reusePort = false): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, host: '0.0.0.0', reusePort }, () => resolve(server))
  })
}
