import { createHash } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import type { StoreHead, TransferPart } from '../ports/transfer.ts'

// An archive of a store, format 1: `MAGIC`, then parts. A part is its type (one letter), the length of its content (32 bits, big
// endian), the content, and the SHA-256 of the checksum of the part before (of `MAGIC` for the first) and these three: the last
// checksum is one of the whole archive. Parts: one `H` (a header, JSON), any number of `D` (rows, zstd: the name of their table and
// each row, in JSON, a line each; bytes in base64), one `E` (the end, JSON).

export const MAGIC: Buffer = Buffer.from('GATEHOUSE-BACKUP\n')
export const ARCHIVE_FORMAT = 1
export const CHECKSUM_BYTES = 32
export const PREFIX_BYTES = 5
/** Of one part. A row of a recorded request may be large. */
export const MOST_BYTES: number = 512 * 1024 * 1024

export type PartType = 'H' | 'D' | 'E'

export interface ArchiveHeader {
  readonly format: number
  /** Version of the product. */
  readonly version: string
  /** RFC 3339. */
  readonly created_at: string
  readonly without: readonly TransferPart[]
  /** Names of the columns of each table. */
  readonly tables: Readonly<Record<string, readonly string[]>>
  /** The secrets of the installation, sealed for a recipient; absent = left out. */
  readonly secrets?: string
}

export interface ArchiveEnd {
  /** Rows of each table. */
  readonly counts: Readonly<Record<string, number>>
  /** Documents of each kind. */
  readonly kinds: Readonly<Record<string, number>>
  readonly head: StoreHead
  /** The hash of the seal key, see `Installation`; '' = there is no installation yet. */
  readonly seal_hash: string
}

/** The bytes of a part, and its checksum, with which the next is made. */
export function encodePart(type: PartType, content: Uint8Array, before: Uint8Array): [part: Buffer, checksum: Buffer] {
  const prefix = prefixOf(type, content.length)
  const checksum = checksumOf(before, prefix, content)
  return [Buffer.concat([prefix, content, checksum]), checksum]
}

/** The checksum that the first part is made with. */
export function firstChecksum(): Buffer {
  return createHash('sha256').update(MAGIC).digest()
}

/** The checksum of a part. */
export function checksumOf(before: Uint8Array, prefix: Uint8Array, content: Uint8Array): Buffer {
  return createHash('sha256').update(before).update(prefix).update(content).digest()
}

function prefixOf(type: PartType, length: number): Buffer {
  if (length > MOST_BYTES) throw fault('archive_invalid', `a row is larger than ${MOST_BYTES} bytes`)
  const prefix = Buffer.alloc(PREFIX_BYTES, type, 'latin1')
  prefix.writeUInt32BE(length, 1)
  return prefix
}
