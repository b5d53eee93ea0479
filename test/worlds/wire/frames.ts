import { Client, within } from './raw.ts'

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  rst: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const

export const FLAG = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const

/** One frame of RFC 9113 section 4.1, right or wrong. */
export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array | readonly number[] = [],
): Buffer {
  const body = Buffer.from(payload)
  const head = Buffer.alloc(9)
  head.writeUIntBE(body.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, body])
}

/** A number of 32 bits. */
export function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** SETTINGS with one parameter. */
export function setting(id: number, value: number): Buffer {
  return frame(TYPE.settings, 0, 0, [0, id, ...number(value)])
}

/** Fields as HPACK literals without indexing (RFC 7541 section 6.2.2), no Huffman coding. */
export function literals(fields: readonly (readonly [string, string])[]): Buffer {
  const text = (value: string) => {
    const bytes = Buffer.from(value, 'latin1')
    if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes])
    const rest: number[] = []
    let left = bytes.length - 127
    for (; left >= 128; left = left >> 7) rest.push((left & 127) | 128)
    return Buffer.concat([Buffer.from([127, ...rest, left]), bytes])
  }
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]))
}

/** The fields of an ordinary GET, with some replaced, added, or (undefined) left out. */
export function getFields(changes: Readonly<Record<string, string | undefined>> = {}): (readonly [string, string])[] {
  const usual: Record<string, string | undefined> = {
    ':method': 'GET',
    ':scheme': 'http',
    ':authority': 'a.example',
    ':path': '/',
    ...changes,
  }
  return Object.entries(usual).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
}

/** HEADERS that hold a whole request without a body. */
export function request(stream: number, fields: readonly (readonly [string, string])[]): Buffer {
  return frame(TYPE.headers, FLAG.endHeaders | FLAG.endStream, stream, literals(fields))
}

/** A frame that has arrived. */
export interface Arrived {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** A client that writes exactly the frames that it is given, after the preface and its SETTINGS. */
export class FrameClient {
  readonly client: Client

  private constructor(client: Client) {
    this.client = client
  }

  /** The same of the other end, which begins with its SETTINGS. */
  static over(client: Client): FrameClient {
    return new FrameClient(client)
  }

  /** Connects, and says nothing yet. */
  static async bare(port: number): Promise<FrameClient> {
    return new FrameClient(await Client.connect(port))
  }

  static async connect(port: number, settings: readonly number[] = []): Promise<FrameClient> {
    const client = await Client.connect(port)
    client.write(Buffer.concat([PREFACE, frame(TYPE.settings, 0, 0, settings)]))
    return new FrameClient(client)
  }

  send(...frames: readonly Buffer[]): void {
    this.client.write(Buffer.concat(frames))
  }

  /** The next frame; undefined at the end of the connection. */
  async next(): Promise<Arrived | undefined> {
    const head = await this.client.inbox.take('a frame', () => 9)
    if (!head.whole) return undefined
    const size = head.bytes.readUIntBE(0, 3)
    const { bytes } = size === 0 ? { bytes: Buffer.alloc(0) } : await this.client.inbox.take('a payload', () => size)
    return {
      type: head.bytes[3]!,
      flags: head.bytes[4]!,
      stream: head.bytes.readUInt32BE(5) & 0x7fffffff,
      payload: bytes,
    }
  }

  /** The first frame that `wanted` takes; undefined when the connection ends before. */
  async find(wanted: (frame: Arrived) => boolean): Promise<Arrived | undefined> {
    for (;;) {
      const arrived = await within('a frame', this.next())
      if (arrived === undefined || wanted(arrived)) return arrived
    }
  }

  destroy(): void {
    this.client.destroy()
  }
}

/** The outcome of a stream, or of the whole connection: `goaway 1`, `reset 1`, `status 400`, `closed`. */
export async function fate(client: FrameClient): Promise<string> {
  const end = await client.find(({ type }) => type === TYPE.goaway || type === TYPE.rst || type === TYPE.headers)
  if (end === undefined) return 'closed'
  if (end.type === TYPE.goaway) return `goaway ${end.payload.readUInt32BE(4)}`
  if (end.type === TYPE.rst) return `reset ${end.payload.readUInt32BE(0)}`
  return `status ${statusIn(end.payload)}`
}

/** Statuses of the static table of HPACK (RFC 7541 appendix A). */
const INDEXED: Readonly<Record<number, string>> = { 136: '200', 137: '204', 140: '400', 141: '404', 142: '500' }

function statusIn(block: Buffer): string {
  const known = INDEXED[block[0]!]
  if (known !== undefined) return known
  // A literal with the indexed name `:status`, of three digits, Huffman coded or not.
  return block[1] === 3 ? block.toString('latin1', 2, 5) : 'coded'
}
