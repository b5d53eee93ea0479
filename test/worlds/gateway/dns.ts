import { createSocket } from 'node:dgram'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** One SRV record. */
export interface Srv {
  readonly priority?: number
  readonly weight?: number
  readonly port: number
  /** Host name. */
  readonly name: string
}

/** A DNS server over UDP and TCP that answers every question with the same SRV records (RFC 1035, RFC 2782). */
export interface DnsServer {
  readonly address: string
  /** undefined = the server fails (SERVFAIL). */
  records: readonly Srv[] | undefined
  /** Time to live of the records, seconds. */
  ttlS: number
  /** True = over UDP nothing fits. */
  truncates: boolean
  asked: number
}

export async function startDns(t: TestContext, records: readonly Srv[] | undefined): Promise<DnsServer> {
  const streams = new Set<Socket>()
  const tcp = createServer((stream) => {
    streams.add(stream)
    stream.on('error', () => {})
    stream.once('data', (bytes: Buffer) => {
      server.asked++
      const answer = answerTo(bytes.subarray(2), server)
      const length = Buffer.alloc(2)
      length.writeUInt16BE(answer.length, 0)
      stream.end(Buffer.concat([length, answer]))
    })
  })
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve))
  const { port } = tcp.address() as AddressInfo
  const udp = createSocket('udp4')
  await new Promise<void>((resolve) => udp.bind(port, '127.0.0.1', resolve))
  t.after(() => {
    udp.close()
    tcp.close()
    for (const stream of streams) stream.destroy()
  })
  const server: DnsServer = { address: `127.0.0.1:${port}`, records, ttlS: 1, truncates: false, asked: 0 }
  udp.on('message', (question, from) => {
    server.asked++
    const answer = answerTo(question, server)
    if (server.truncates) answer.writeUInt16BE(0x8380, 2)
    udp.send(answer, from.port, from.address)
  })
  return server
}

function answerTo(question: Buffer, { records, ttlS }: DnsServer): Buffer {
  const end = question.indexOf(0, 12) + 5
  const head = Buffer.alloc(12)
  question.copy(head, 0, 0, 2)
  head.writeUInt16BE(records === undefined ? 0x8182 : 0x8180, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records?.length ?? 0, 6)
  return Buffer.concat([head, question.subarray(12, end), ...(records ?? []).map((record) => recordOf(record, ttlS))])
}

function recordOf({ priority = 0, weight = 1, port, name }: Srv, ttlS: number): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]))
  const host = Buffer.concat([...labels, Buffer.of(0)])
  const fixed = Buffer.alloc(18)
  fixed.writeUInt16BE(0xc00c, 0) // the name of the question
  fixed.writeUInt16BE(33, 2)
  fixed.writeUInt16BE(1, 4)
  fixed.writeUInt32BE(ttlS, 6)
  fixed.writeUInt16BE(6 + host.length, 10)
  fixed.writeUInt16BE(priority, 12)
  fixed.writeUInt16BE(weight, 14)
  fixed.writeUInt16BE(port, 16)
  return Buffer.concat([fixed, host])
}
