import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { getServers } from 'node:dns'
import { connect, isIPv6 } from 'node:net'
import { fault } from '../../errors/fault.ts'
import type { DiscoveryRules } from '../../model/apis/definition/upstream-resilience.ts'
import { readSrvAnswer, type SrvAnswer, type SrvRecord, srvQuestion } from './dns-message.ts'

const TIMEOUT_MS = 2000

const TRIES = 2

const DNS_PORT = 53

interface Server {
  readonly host: string
  readonly port: number
}

/** One transport of a query: hands each message to `take`, and ends when the returned function is called. */
type Way = (
  server: Server,
  question: Buffer,
  take: (message: Buffer) => void,
  fail: (error: Error) => void,
) => () => void

/** After a failure DNS is asked again so soon; no time to live is shorter. */
const LEAST_WAIT_MS = 1000

/** DNS may answer any bytes as a name. A single root means that the service does not exist (RFC 2782). */
const HOST = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/i

export interface DiscoveryParts {
  readonly rules: DiscoveryRules
  /** Addresses of DNS servers; none = those of the system. */
  readonly servers: readonly string[]
  /** Takes over the records of one answer, those of the first priority first. */
  readonly found: (records: readonly SrvRecord[]) => void
  readonly failed: (error: unknown) => void
}

/**
 * Asks DNS for the SRV records of a name whenever their time to live is over, and at least as often as the definition says.
 * The last result stays while DNS does not answer.
 */
export class SrvDiscovery {
  readonly #parts: DiscoveryParts
  readonly #closing = new AbortController()
  #timer: NodeJS.Timeout | undefined
  /** Resolves after the first DNS query, successful or not. */
  readonly opening: Promise<void>

  constructor(parts: DiscoveryParts) {
    this.#parts = parts
    this.opening = this.#ask()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#closing.abort()
  }

  async #ask(): Promise<void> {
    const { rules, servers, found, failed } = this.#parts
    const { signal } = this.#closing
    let ttlMs = 0
    try {
      const answer = await querySrv(rules.srvName, servers, signal)
      if (signal.aborted) return
      ttlMs = answer.ttlS * 1000
      found(inOrder(answer))
    } catch (error) {
      if (signal.aborted) return
      failed(error)
    }
    const waitMs = Math.min(rules.refreshMs, Math.max(ttlMs, LEAST_WAIT_MS))
    this.#timer = setTimeout(() => void this.#ask(), waitMs).unref()
  }
}

/** The records that name a target, those with the lowest number first, in a canonical order. */
function inOrder({ records }: SrvAnswer): SrvRecord[] {
  const there = records.filter(({ name, port }) => HOST.test(name) && port > 0)
  if (there.length === 0) throw fault('upstream_unresolved', 'DNS names no target')
  return there.sort(
    (a, b) => a.priority - b.priority || (a.name === b.name ? a.port - b.port : a.name < b.name ? -1 : 1),
  )
}

/**
 * Asks DNS for the SRV records of a name: each server in order, over UDP, and over TCP if truncated. Our own client,
 * because Node's does not return the TTL of SRV records. `servers` default to those of the system.
 * @throws Fault `upstream_unresolved` with the error of the last server
 */
async function querySrv(name: string, servers: readonly string[], signal: AbortSignal): Promise<SrvAnswer> {
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

/** `10.0.0.53`, `10.0.0.53:5353`, `fd00::53` or `[fd00::53]:5353`. */
function addressOf(text: string): Server {
  const [, bracketed, bare, port] = /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(text) ?? []
  return { host: bracketed ?? bare ?? text, port: port === undefined ? DNS_PORT : Number(port) }
}

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
