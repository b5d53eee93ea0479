import { isIPv4 } from 'node:net'

/** The entry of the database for one network. */
export type MmdbEntry = readonly [network: string, data: unknown]

interface Node {
  readonly children: [Node | number | undefined, Node | number | undefined]
}

/** Writes a MaxMind DB (format 2.0, records of 24 bits, IPv6 with IPv4 below ::/96) by hand. */
export function writeMmdb(entries: readonly MmdbEntry[]): Buffer {
  const root: Node = { children: [undefined, undefined] }
  const data: Buffer[] = []
  let dataBytes = 0
  for (const [network, value] of entries) {
    insert(root, bitsOf(network), dataBytes)
    const bytes = encode(value)
    data.push(bytes)
    dataBytes += bytes.length
  }
  const nodes = numbered(root)
  const numbers = new Map(nodes.map((node, number) => [node, number]))
  const tree = Buffer.alloc(nodes.length * 6)
  for (const [number, { children }] of nodes.entries()) {
    for (const [side, child] of children.entries()) {
      const value =
        child === undefined ? nodes.length : typeof child === 'number' ? nodes.length + 16 + child : numbers.get(child)!
      tree.writeUIntBE(value, number * 6 + side * 3, 3)
    }
  }
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    database_type: 'Test-City',
    description: { en: 'written by a test' },
    ip_version: 6,
    languages: ['en'],
    node_count: nodes.length,
    record_size: 24,
  })
  return Buffer.concat([tree, Buffer.alloc(16), ...data, Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'), metadata])
}

function insert(root: Node, bits: readonly number[], data: number): void {
  let node = root
  for (const [at, bit] of bits.entries()) {
    if (at === bits.length - 1) {
      node.children[bit as 0 | 1] = data
      return
    }
    const next = node.children[bit as 0 | 1]
    if (typeof next === 'object') node = next
    else {
      const made: Node = { children: [undefined, undefined] }
      node.children[bit as 0 | 1] = made
      node = made
    }
  }
}

function numbered(root: Node): Node[] {
  const nodes: Node[] = [root]
  for (const node of nodes) for (const child of node.children) if (typeof child === 'object') nodes.push(child)
  return nodes
}

/** `10.1.0.0/16` or `2001:db8:0:0:0:0:0:0/32`, all eight groups written out. */
function bitsOf(network: string): number[] {
  const [address = '', length = ''] = network.split('/')
  const v4 = isIPv4(address)
  const bytes = v4
    ? [...new Array<number>(12).fill(0), ...address.split('.').map(Number)]
    : address.split(':').flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
  const bits = bytes.flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((shift) => (byte >> shift) & 1))
  return bits.slice(0, Number(length) + (v4 ? 96 : 0))
}

function encode(value: unknown): Buffer {
  if (typeof value === 'string') return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)])
  if (typeof value === 'boolean') return control(14, value ? 1 : 0)
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return Buffer.concat([control(6, 4), bytes])
  }
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleBE(value)
    return Buffer.concat([control(3, 8), bytes])
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)])
  const members = Object.entries(value as object)
  return Buffer.concat([control(7, members.length), ...members.flatMap(([name, one]) => [encode(name), encode(one)])])
}

function control(type: number, size: number): Buffer {
  const [first, more] = size < 29 ? [size, []] : [29, [size - 29]]
  return Buffer.from(type > 7 ? [first, type - 7, ...more] : [(type << 5) | first, ...more])
}
