import type { TestContext } from 'node:test'
import {
  type CallOptions,
  type Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  credentials,
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  makeGenericClientConstructor,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type ServiceError,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'

/** A test, or whatever ends. */
type Ending = TestContext | { after(fn: () => unknown): void }

const bytes = { serialize: (value: Buffer) => value, deserialize: (value: Buffer) => value }
const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
  path: `/echo.Echo/${name}`,
  requestStream,
  responseStream,
  requestSerialize: bytes.serialize,
  requestDeserialize: bytes.deserialize,
  responseSerialize: bytes.serialize,
  responseDeserialize: bytes.deserialize,
})

/** A service in which messages are bytes. */
const ECHO: ServiceDefinition = {
  Say: method('Say', false, false),
  Collect: method('Collect', true, false),
  Count: method('Count', false, true),
  Chat: method('Chat', true, true),
  Fail: method('Fail', false, false),
  Wait: method('Wait', false, false),
}

/** The last call of `Say` as the service saw it. */
export interface Seen {
  metadata: Metadata
  /** True once a call of `Wait` was cancelled. */
  cancelled: boolean
  /** The deadline that a call of `Wait` received. */
  deadline: unknown
}

function service(seen: Seen): UntypedServiceImplementation {
  const say: handleUnaryCall<Buffer, Buffer> = (call, answer) => {
    seen.metadata = call.metadata
    const trailers = new Metadata()
    trailers.set('x-trailer', 'behind')
    trailers.set('x-bytes-bin', Buffer.from([0, 1, 254, 255]))
    const head = new Metadata()
    head.set('x-head', 'before')
    call.sendMetadata(head)
    answer(null, call.request, trailers)
  }
  const collect: handleClientStreamingCall<Buffer, Buffer> = (call, answer) => {
    const parts: Buffer[] = []
    call.on('data', (part: Buffer) => parts.push(part))
    call.on('end', () => answer(null, Buffer.concat(parts)))
  }
  const count: handleServerStreamingCall<Buffer, Buffer> = (call) => {
    const total = Number(call.request.toString())
    for (let i = 0; i < total; i++) call.write(Buffer.from(String(i)))
    call.end()
  }
  const chat: handleBidiStreamingCall<Buffer, Buffer> = (call) => {
    call.on('data', (part: Buffer) => call.write(Buffer.from(part.toString().toUpperCase())))
    call.on('end', () => call.end())
  }
  const fail: handleUnaryCall<Buffer, Buffer> = (_call, answer) => {
    answer({ code: status.FAILED_PRECONDITION, details: 'nicht möglich: 50 %' })
  }
  const wait: handleUnaryCall<Buffer, Buffer> = (call) => {
    seen.deadline = call.getDeadline()
    call.on('cancelled', () => {
      seen.cancelled = true
    })
  }
  return { Say: say, Collect: collect, Count: count, Chat: chat, Fail: fail, Wait: wait }
}

/** A real gRPC server on a free port. */
export async function startEcho(t: Ending) {
  const seen: Seen = { metadata: new Metadata(), cancelled: false, deadline: undefined }
  const server = new Server()
  server.addService(ECHO, service(seen))
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    )
  })
  t.after(() => server.forceShutdown())
  return { port, seen, server }
}

type Told = (error: ServiceError | null, answer?: Buffer) => void
type Unary = (message: Buffer, metadata: Metadata, options: CallOptions, told: Told) => ClientUnaryCall

/** The calls of the service. */
interface Echo extends Client {
  readonly Say: Unary
  readonly Fail: Unary
  readonly Wait: Unary
  Collect(told: Told): ClientWritableStream<Buffer>
  Count(message: Buffer): ClientReadableStream<Buffer>
  Chat(): ClientDuplexStream<Buffer, Buffer>
}

/** A real gRPC client of one port. */
export function echoClient(t: Ending, port: number) {
  const Made = makeGenericClientConstructor(ECHO, 'Echo')
  // The generic client is typed by no service; these are the methods that ECHO gives it.
  const client = new Made(`127.0.0.1:${port}`, credentials.createInsecure()) as Client as Echo
  t.after(() => client.close())
  return {
    client,
    /** One message there, one back. */
    unary(name: 'Say' | 'Fail' | 'Wait', message: string, sent = new Metadata(), options: CallOptions = {}) {
      return new Promise<{ message: string; head: Metadata; trailers: Metadata }>((resolve, reject) => {
        let head = new Metadata()
        let text = ''
        const call = client[name](Buffer.from(message), sent, options, (error, answer) => {
          if (error !== null) reject(error)
          else text = (answer ?? Buffer.alloc(0)).toString()
        })
        call.on('metadata', (found: Metadata) => {
          head = found
        })
        call.on('status', ({ code, metadata: trailers }) => {
          if (code === 0) setImmediate(() => resolve({ message: text, head, trailers }))
        })
      })
    },
  }
}

/** Metadata of these names. */
export function metadata(values: Readonly<Record<string, string>>): Metadata {
  const found = new Metadata()
  for (const [name, value] of Object.entries(values)) found.set(name, value)
  return found
}
