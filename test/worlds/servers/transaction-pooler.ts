import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

// A pooler of PostgreSQL connections in transaction mode, as people put one before their server: each transaction of a client goes
// to the server connection that has waited longest, so that everything that depends on the connection goes wrong.

const SSL_REQUEST = 80_877_103
const READY = 'Z'
const IDLE = 'I'

export interface Pooler {
  readonly port: number
  /** Transactions that went to another connection than the one before of the same client. */
  readonly moves: () => number
  close(): Promise<void>
}

/** One message: its type, and all its bytes. The first of a client has no type. */
interface Message {
  readonly type: string
  readonly bytes: Buffer
}

/** Starts a pooler before the server at `socketPath`, with `size` connections of a user without a password. */
export async function startPooler(socketPath: string, database: string, size: number): Promise<Pooler> {
  const free: Socket[] = []
  const waiting: ((server: Socket) => void)[] = []
  const sockets = new Set<Socket>()
  let moves = 0
  const give = (server: Socket) => {
    const next = waiting.shift()
    if (next === undefined) free.push(server)
    else next(server)
  }
  const take = (): Promise<Socket> => {
    const server = free.shift()
    return server === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(server)
  }
  for (let i = 0; i < size; i++) {
    const server = await openServer(socketPath, database)
    sockets.add(server)
    free.push(server)
  }
  const listener = createServer((client) => {
    sockets.add(client)
    client.on('error', () => {})
    serve(client, { take, give, onMove: () => moves++ })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    moves: () => moves,
    async close() {
      for (const socket of sockets) socket.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
}

function serve(client: Socket, pool: { take(): Promise<Socket>; give(server: Socket): void; onMove(): void }): void {
  let server: Socket | undefined
  let last: Socket | undefined
  /** Answers that are due: one for each Query and each Sync. */
  let due = 0
  let pending = Promise.resolve()
  const onAnswer = messages(true, ({ type, bytes }) => {
    client.write(bytes)
    if (type !== READY) return
    due--
    if (due > 0 || String.fromCharCode(bytes[5]!) !== IDLE) return
    server!.off('data', onAnswer)
    pool.give(server!)
    server = undefined
  })
  const attach = async () => {
    if (server !== undefined) return
    server = await pool.take()
    if (last !== undefined && last !== server) pool.onMove()
    last = server
    server.on('data', onAnswer)
  }
  const hear = async ({ type, bytes }: Message) => {
    if (type === 'X') return void client.end()
    await attach()
    if (type === 'Q' || type === 'S') due++
    server!.write(bytes)
  }
  const first = messages(false, ({ bytes }) => {
    if (bytes.readInt32BE(4) === SSL_REQUEST) return void client.write('N')
    client.off('data', first)
    client.on(
      'data',
      messages(true, (message) => {
        pending = pending.then(() => hear(message))
      }),
    )
    // Signed in; ready.
    client.write(Buffer.concat([frame('R', Buffer.from([0, 0, 0, 0])), frame(READY, Buffer.from(IDLE))]))
  })
  client.on('data', first)
  // A client that leaves in the middle of a transaction takes its connection with it.
  client.on('close', () => server?.destroy())
}

async function openServer(socketPath: string, database: string): Promise<Socket> {
  const server = connect(socketPath)
  server.on('error', () => {})
  const ready = new Promise<void>((resolve) => {
    const onData = messages(true, ({ type }) => {
      if (type !== READY) return
      server.off('data', onData)
      resolve()
    })
    server.on('data', onData)
  })
  const body = Buffer.from(`\0\x03\0\0user\0gatehouse\0database\0${database}\0\0`, 'latin1')
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  server.write(Buffer.concat([length, body]))
  await ready
  return server
}

/** Cuts bytes into messages. */
function messages(typed: boolean, onMessage: (message: Message) => void): (data: Buffer) => void {
  let left: Buffer = Buffer.alloc(0)
  const head = typed ? 1 : 0
  return (data) => {
    left = left.length === 0 ? data : Buffer.concat([left, data])
    while (left.length >= head + 4) {
      const end = head + left.readInt32BE(head)
      if (left.length < end) return
      const bytes = left.subarray(0, end)
      left = left.subarray(end)
      onMessage({ type: typed ? String.fromCharCode(bytes[0]!) : '', bytes })
    }
  }
}

function frame(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
