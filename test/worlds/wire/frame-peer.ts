import { createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { type Arrived, FrameClient, frame, PREFACE, TYPE } from './frames.ts'
import { Client } from './raw.ts'

/** One connection that the gate opened, whose preface and SETTINGS were read. */
export type FrameConnection = FrameClient & { readonly number: number }

export interface FramePeer {
  readonly port: number
  /** Connections ever accepted. */
  accepted(): number
  /** Connections open now. */
  open(): number
  readonly failures: unknown[]
}

/** An upstream of HTTP/2 that writes exactly the frames of its script, after its SETTINGS. It ends the connection when the script does. */
export async function openFramePeer(
  t: TestContext,
  script: (connection: FrameConnection) => Promise<void>,
  settings: readonly number[] = [],
): Promise<FramePeer> {
  const sockets = new Set<Socket>()
  const failures: unknown[] = []
  let accepted = 0
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    const client = Object.assign(FrameClient.over(new Client(socket)), { number: accepted++ })
    client.send(frame(TYPE.settings, 0, 0, settings))
    client.client.inbox
      .take('the preface', () => PREFACE.length)
      .then(() => script(client))
      .catch((failure: unknown) => failures.push(failure))
      .finally(() => socket.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { port: address.port, accepted: () => accepted, open: () => sockets.size, failures }
}

/** The next HEADERS of a request; undefined at the end of the connection. */
export function asked(connection: FrameConnection): Promise<Arrived | undefined> {
  return connection.find(({ type }) => type === TYPE.headers)
}
