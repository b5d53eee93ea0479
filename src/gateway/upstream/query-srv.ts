import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { getServers } from 'node:dns'
import { connect, isIPv6 } from 'node:net'
import { fault } from '../../errors/fault.ts'
import { readSrvAnswer, type SrvAnswer, srvQuestion } from './dns-message.ts'

const TIMEOUT_MS = 2000
const TRIES = 2
const DNS_PORT = 53

/**
 * Asks DNS for the SRV records of a name: each server in order, over UDP, and over TCP if truncated. Our own client,
 * because Node's does not return the TTL of SRV records. `servers` default to those of the system.
 * @throws Fault `upstream_unresolved` with the error of the last server
 */
export async function querySrv(name: string, servers: readonly string[], signal: AbortSignal): Promise<SrvAnswer> {
  const asked = (servers.length > 0 ? servers : getServers()).map(addressOf)
  let last: unknown = fault('upstream_unresolved', 'there is no DNS server to ask')
  for (const server of Array<readonly Server[]>(TRIES).fill(asked).flat()) {
    if (signal.aborted) break
    try {
      const answer = await ask(server, name, signal, askOverUdp)
      return answer.truncated ? await ask(server, name, signal, askOverTcp) : answer
    } catch (error) {
      last = error
    }
  }
  throw last
}

interface Server {
  readonly host: string
  readonly port: number
}

/** `10.0.0.53`, `10.0.0.53:5353`, `fd00::53` or `[fd00::53]:5353`. */
function addressOf(text: string): Server {
  const [, bracketed, bare, port] = /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(text) ?? []
  return { host: bracketed ?? bare ?? text, port: port === undefined ? DNS_PORT : Number(port) }
}

/** One transport of a query: hands each message to `take`, and ends when the returned function is called. */
type Way = (
  server: Server,
  question: Buffer,
  take: (message: Buffer) => void,
  fail: (error: Error) => void,
) => () => void

function ask({ host, port }: Server, name: string, signal: AbortSignal, way: Way): Promise<SrvAnswer> {
  const question = srvQuestion(name, randomInt(0x10000))
  return new Promise((resolve, reject) => {
    const stop = (settle: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
      close()
      settle()
    }
    const fail = (error: Error) => stop(() => reject(error))
    const leave = () => fail(fault('upstream_unresolved', 'the question was given up'))
    const timer = setTimeout(
      () => fail(fault('upstream_unresolved', `DNS server ${host}: no answer`)),
      TIMEOUT_MS,
    ).unref()
    signal.addEventListener('abort', leave)
    const take = (message: Buffer) => {
      try {
        const answer = readSrvAnswer(message, question)
        // Other datagrams there are not responses to us.
        if (answer !== undefined) stop(() => resolve(answer))
      } catch (error) {
        fail(error as Error)
      }
    }
    const close = way({ host, port }, question, take, (error) =>
      fail(
        fault('upstream_unresolved', `DNS server ${host}: ${(error as NodeJS.ErrnoException).code ?? error.message}`),
      ),
    )
  })
}

const askOverUdp: Way = ({ host, port }, question, take, fail) => {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4').unref()
  socket.on('message', take)
  socket.on('error', fail)
  // Connected: only the server's own messages arrive, and a port that is closed says so.
  socket.connect(port, host, () => socket.send(question))
  let open = true
  return () => {
    if (open) socket.close()
    open = false
  }
}

/** Each message has its length in front (RFC 1035 section 4.2.2). */
const askOverTcp: Way = ({ host, port }, question, take, fail) => {
  const socket = connect({ host, port }).unref()
  let bytes = Buffer.alloc(0)
  socket.on('error', fail)
  socket.on('end', () => fail(new Error('ended without an answer')))
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    if (bytes.length < 2) return
    const end = 2 + bytes.readUInt16BE(0)
    if (bytes.length < end) return
    take(bytes.subarray(2, end))
    fail(new Error('answered another question'))
  })
  const length = Buffer.alloc(2)
  length.writeUInt16BE(question.length, 0)
  socket.write(Buffer.concat([length, question]))
  return () => socket.destroy()
}
