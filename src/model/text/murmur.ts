const MASK = (1n << 64n) - 1n
const [C1, C2] = [0x87c37b91114253d5n, 0x4cf5ad432745937fn]

/** MurmurHash3 for 32 bits with seed 0. Not for secrets: collisions are easy to find. */
export function murmur32(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const whole = bytes.length & ~3
  let h = 0
  for (let at = 0; at < whole; at += 4) {
    h ^= mixed32(view.getUint32(at, true))
    h = (Math.imul(rotated32(h, 13), 5) + 0xe6546b64) | 0
  }
  let rest = 0
  for (let at = bytes.length - 1; at >= whole; at--) rest = (rest << 8) | bytes[at]!
  if (bytes.length > whole) h ^= mixed32(rest)
  h ^= bytes.length
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** MurmurHash3 for 128 bits on 64-bit machines with seed 0, its two halves one behind the other; the first is the one for 64 bits. */
export function murmur128(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const whole = bytes.length & ~15
  let [h1, h2] = [0n, 0n]
  for (let at = 0; at < whole; at += 16) {
    h1 ^= mixed(view.getBigUint64(at, true), C1, 31n, C2)
    h1 = ((rotated(h1, 27n) + h2) * 5n + 0x52dce729n) & MASK
    h2 ^= mixed(view.getBigUint64(at + 8, true), C2, 33n, C1)
    h2 = ((rotated(h2, 31n) + h1) * 5n + 0x38495ab5n) & MASK
  }
  if (bytes.length > whole) {
    const rest = Buffer.alloc(16)
    rest.set(bytes.subarray(whole))
    h2 ^= mixed(rest.readBigUInt64LE(8), C2, 33n, C1)
    h1 ^= mixed(rest.readBigUInt64LE(0), C1, 31n, C2)
  }
  const length = BigInt(bytes.length)
  h1 = ((h1 ^ length) + (h2 ^ length)) & MASK
  h2 = ((h2 ^ length) + h1) & MASK
  h1 = finished(h1)
  h2 = finished(h2)
  h1 = (h1 + h2) & MASK
  h2 = (h2 + h1) & MASK
  return (h1 << 64n) | h2
}

function rotated32(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by))
}

function mixed32(k: number): number {
  return Math.imul(rotated32(Math.imul(k, 0xcc9e2d51), 15), 0x1b873593)
}

function rotated(value: bigint, by: bigint): bigint {
  return ((value << by) | (value >> (64n - by))) & MASK
}

function mixed(k: bigint, first: bigint, by: bigint, second: bigint): bigint {
  return (rotated((k * first) & MASK, by) * second) & MASK
}

function finished(value: bigint): bigint {
  let h = value ^ (value >> 33n)
  h = (h * 0xff51afd7ed558ccdn) & MASK
  h = ((h ^ (h >> 33n)) * 0xc4ceb9fe1a85ec53n) & MASK
  return h ^ (h >> 33n)
}
