import { fault } from '../../errors/fault.ts'

/** One SRV record (RFC 2782). */
export interface SrvRecord {
  /** Host name, without its last dot. */
  readonly name: string
  readonly port: number
  /** Lower numbers are asked first. */
  readonly priority: number
  readonly weight: number
}

export interface SrvAnswer {
  readonly records: readonly SrvRecord[]
  /** Shortest time that one of the records may be kept. */
  readonly ttlS: number
  /** True = the answer did not fit, and is to be asked for over TCP. */
  readonly truncated: boolean
}

const HEAD_BYTES = 12
const TYPE_SRV = 33
const CLASS_IN = 1
const RESPONSE = 0x8000
const TRUNCATED = 0x0200
const RECURSION_DESIRED = 0x0100
const LONGEST_NAME = 255
const RCODES = ['', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED']

/** The question for the SRV records of a name (RFC 1035 section 4.1). */
export function srvQuestion(name: string, id: number): Buffer {
  const labels = name.replace(/\.$/, '').split('.')
  const parts = labels.flatMap((label) => [Buffer.of(label.length), Buffer.from(label, 'latin1')])
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt16BE(id, 0)
  head.writeUInt16BE(RECURSION_DESIRED, 2)
  head.writeUInt16BE(1, 4)
  return Buffer.concat([head, ...parts, Buffer.of(0, 0, TYPE_SRV, 0, CLASS_IN)])
}

/**
 * Reads the answer to a question; undefined when the message is no answer to it.
 * @throws Fault `upstream_unresolved` when the server refuses or fails, or the message is malformed
 */
export function readSrvAnswer(message: Buffer, question: Buffer): SrvAnswer | undefined {
  if (message.length < HEAD_BYTES || message.readUInt16BE(0) !== question.readUInt16BE(0)) return undefined
  const flags = message.readUInt16BE(2)
  const rcode = flags & 0x0f
  if ((flags & RESPONSE) === 0) return undefined
  if (rcode !== 0) throw fault('upstream_unresolved', `DNS answered ${RCODES[rcode] ?? `code ${rcode}`}`)
  if ((flags & TRUNCATED) !== 0) return { records: [], ttlS: 0, truncated: true }
  const asked = question.subarray(HEAD_BYTES)
  if (!sameQuestion(message.subarray(HEAD_BYTES, HEAD_BYTES + asked.length), asked)) return undefined
  return readRecords(message, HEAD_BYTES + asked.length, message.readUInt16BE(6))
}

/** Servers may answer a name in other letter case. */
function sameQuestion(one: Buffer, other: Buffer): boolean {
  return one.toString('latin1').toLowerCase() === other.toString('latin1').toLowerCase()
}

/** Records of other types, such as the aliases on the way, are passed over. */
function readRecords(message: Buffer, from: number, count: number): SrvAnswer {
  const records: SrvRecord[] = []
  let ttlS = Number.POSITIVE_INFINITY
  let at = from
  for (let index = 0; index < count; index++) {
    at = readName(message, at).end
    if (at + 10 > message.length) throw malformed()
    const type = message.readUInt16BE(at)
    const end = at + 10 + message.readUInt16BE(at + 8)
    if (end > message.length) throw malformed()
    ttlS = Math.min(ttlS, message.readUInt32BE(at + 4))
    if (type === TYPE_SRV) records.push(readSrv(message, at + 10, end))
    at = end
  }
  return { records, ttlS: Number.isFinite(ttlS) ? ttlS : 0, truncated: false }
}

function readSrv(message: Buffer, at: number, end: number): SrvRecord {
  if (end - at < 7) throw malformed()
  return {
    priority: message.readUInt16BE(at),
    weight: message.readUInt16BE(at + 2),
    port: message.readUInt16BE(at + 4),
    name: readName(message, at + 6).name,
  }
}

/** A name and where it ends. Pointers lead backwards only (RFC 1035 section 4.1.4), so none leads in a circle. */
function readName(message: Buffer, from: number): { name: string; end: number } {
  const labels: string[] = []
  let [at, before, end, length] = [from, from, -1, 0]
  for (;;) {
    const first = message[at]
    if (first === undefined) throw malformed()
    if (first === 0) return { name: labels.join('.'), end: end === -1 ? at + 1 : end }
    if (first >= 0xc0) {
      const to = ((first & 0x3f) << 8) | (message[at + 1] ?? 0)
      if (to >= before) throw malformed()
      if (end === -1) end = at + 2
      at = to
      before = to
      continue
    }
    length += first + 1
    if (first > 63 || length > LONGEST_NAME || at + first >= message.length) throw malformed()
    labels.push(message.toString('latin1', at + 1, at + 1 + first))
    at += first + 1
  }
}

const malformed = () => fault('upstream_unresolved', 'DNS answered a malformed message')
