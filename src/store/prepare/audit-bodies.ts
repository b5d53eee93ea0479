import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { fault } from '../../errors/fault.ts'
import type { Bodies, ReadBodies } from './audited.ts'
import { AUDIT_BODY_CHARACTERS } from './prepare-audit.ts'

/** First byte of what is kept: JSON as it is, or compressed. */
const PLAIN = 0
const ZSTD = 1
/** Below, compressing saves less than it costs. */
const LEAST_BYTES = 512
/** Largest size of the bodies of one commit, in UTF-8, with the facts of their sessions. */
const MOST_BYTES = AUDIT_BODY_CHARACTERS * 4

/**
 * Bodies as bytes: the JSON of `[before, after, facts]`. Both are compressed as one text, in which the second costs next to
 * nothing where it is like the first. Without bodies: no bytes.
 */
export function packBodies(bodies: Bodies | undefined): Uint8Array {
  if (bodies === undefined) return new Uint8Array(0)
  const { before, after, facts } = bodies
  const json = `[${before || 'null'},${after || 'null'},${facts === undefined ? 'null' : JSON.stringify(facts)}]`
  const plain = Buffer.from(json)
  if (plain.length < LEAST_BYTES) return Buffer.concat([Buffer.of(PLAIN), plain])
  return Buffer.concat([Buffer.of(ZSTD), zstdCompressSync(plain)])
}

/** Unpacks the result of `packBodies`; undefined for no bytes. @throws Fault `store_damaged` */
export function unpackBodies(bytes: Uint8Array): ReadBodies | undefined {
  if (bytes.length === 0) return undefined
  const packed = Buffer.from(bytes.buffer, bytes.byteOffset + 1, bytes.length - 1)
  try {
    const json = bytes[0] === ZSTD ? zstdDecompressSync(packed, { maxOutputLength: MOST_BYTES }) : packed
    const [before, after, facts] = JSON.parse(json.toString('utf8'))
    return { before, after, facts }
  } catch (error) {
    throw fault('store_damaged', 'an audit entry cannot be read', error)
  }
}
