import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import { type Fault, fault, toFault } from '../../errors/fault.ts'
import { isObject } from '../../model/json/json.ts'
import {
  type Cell,
  type CellType,
  columnsOf,
  TRANSFER_TABLE_NAMES,
  type TransferRow,
  type TransferSource,
  type TransferTableName,
} from '../ports/transfer.ts'
import {
  ARCHIVE_FORMAT,
  type ArchiveEnd,
  type ArchiveHeader,
  CHECKSUM_BYTES,
  checksumOf,
  firstChecksum,
  MAGIC,
  MOST_BYTES,
  PREFIX_BYTES,
} from './format.ts'

const MOST_TEXT_BYTES = 2 * MOST_BYTES
const ROWS_AT_ONCE = 500
const decompress = promisify(zstdDecompress)

/** An archive whose checksums and counts are right. */
export interface CheckedArchive {
  readonly header: ArchiveHeader
  readonly end: ArchiveEnd
  /** SHA-256 over all parts, hex. */
  readonly checksum: string
}

/**
 * Reads a whole archive and writes nothing. `onBytes`: of each part. @throws Fault `archive_invalid` for one that is truncated, altered
 * or no archive, `archive_newer`, the reason of `stop`
 */
export async function checkArchive(
  path: string,
  { onBytes, stop }: { readonly onBytes?: (bytes: number) => void; readonly stop?: AbortSignal } = {},
): Promise<CheckedArchive> {
  const parts = new PartReader(await openArchive(path))
  try {
    const counts: Record<string, number> = {}
    const header = await parts.begin()
    for (;;) {
      stop?.throwIfAborted()
      const part = await parts.next()
      onBytes?.(part.bytes)
      if (part.type === 'E') {
        await parts.refuseMore()
        const end = readEnd(part.content)
        refuseOtherCounts(end, counts)
        return { header, end, checksum: part.checksum.toString('hex') }
      }
      const { table, rows } = await readRows(part.content, header)
      counts[table] = (counts[table] ?? 0) + rows.length
    }
  } finally {
    await parts.close()
  }
}

/** A checked archive as a store to read from. */
export function openArchiveSource(path: string, { end }: CheckedArchive): TransferSource {
  return {
    async snapshot(read) {
      const parts = new PartReader(await openArchive(path))
      try {
        const header = await parts.begin()
        const waiting = rowParts(parts, header)
        let next = await waiting.next()
        return await read({
          head: end.head,
          count: async (table) => end.counts[table] ?? 0,
          async *rows(table) {
            let found = 0
            // Parts are in the order of the tables.
            for (; next.done !== true && next.value.table === table; next = await waiting.next())
              for (let at = 0; at < next.value.rows.length; at += ROWS_AT_ONCE) {
                const rows = next.value.rows.slice(at, at + ROWS_AT_ONCE)
                found += rows.length
                yield rows
              }
            // In another order, or changed since it was checked: a store without some of its rows must not be restored.
            if (found !== (end.counts[table] ?? 0)) throw otherCount(table, found, end.counts[table])
          },
        })
      } finally {
        await parts.close()
      }
    },
    async close() {},
  }
}

async function* rowParts(parts: PartReader, header: ArchiveHeader) {
  for (;;) {
    const { type, content } = await parts.next()
    if (type === 'E') return
    yield await readRows(content, header)
  }
}

class PartReader {
  private readonly file: FileHandle
  private checksum = firstChecksum()
  private at = 0

  constructor(file: FileHandle) {
    this.file = file
  }

  async begin(): Promise<ArchiveHeader> {
    const magic = await this.read(MAGIC.length).catch(() => Buffer.alloc(0))
    if (!magic.equals(MAGIC)) throw fault('archive_invalid', 'the file is not a backup of Gatehouse')
    const { type, content } = await this.next()
    if (type !== 'H') throw altered()
    return readHeader(content)
  }

  async next(): Promise<{ type: string; content: Buffer; checksum: Buffer; bytes: number }> {
    const prefix = await this.read(PREFIX_BYTES)
    const type = prefix.toString('latin1', 0, 1)
    const length = prefix.readUInt32BE(1)
    if (!['H', 'D', 'E'].includes(type) || length > MOST_BYTES) throw altered()
    const content = await this.read(length)
    const checksum = await this.read(CHECKSUM_BYTES)
    if (!checksum.equals(checksumOf(this.checksum, prefix, content))) throw altered()
    this.checksum = checksum
    return { type, content, checksum, bytes: PREFIX_BYTES + length + CHECKSUM_BYTES }
  }

  async refuseMore(): Promise<void> {
    const { bytesRead } = await this.file.read(Buffer.alloc(1), 0, 1, this.at)
    if (bytesRead > 0) throw fault('archive_invalid', 'the archive has bytes after its end')
  }

  close(): Promise<void> {
    return this.file.close()
  }

  private async read(length: number): Promise<Buffer> {
    // One that was truncated says how long it should be: nothing is reserved before it is there.
    const { size } = await this.file.stat()
    if (this.at + length > size) throw fault('archive_invalid', 'the archive is truncated')
    const bytes = Buffer.alloc(length)
    for (let have = 0; have < length; ) {
      const { bytesRead } = await this.file.read(bytes, have, length - have, this.at + have)
      if (bytesRead === 0) throw fault('archive_invalid', 'the archive is truncated')
      have += bytesRead
    }
    this.at += length
    return bytes
  }
}

async function openArchive(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r')
  } catch (error) {
    throw fault('files_unreadable', `${path} cannot be read (${codeOf(error)})`, error)
  }
}

function readHeader(content: Buffer): ArchiveHeader {
  const header = parsed(content) as unknown as ArchiveHeader
  if (typeof header.format !== 'number' || !isObject(header.tables)) throw altered()
  if (header.format > ARCHIVE_FORMAT)
    throw fault(
      'archive_newer',
      `it has format ${header.format}, this program knows ${ARCHIVE_FORMAT}: restore it with version ${header.version} or later`,
    )
  for (const [table, columns] of Object.entries(header.tables)) {
    const known = TRANSFER_TABLE_NAMES.find((name) => name === table)
    const names = known === undefined ? [] : columnsOf(known).map(([name]) => name)
    const unknown = (columns as readonly string[]).filter((name) => !names.includes(name))
    if (known === undefined || unknown.length > 0)
      throw fault(
        'archive_newer',
        `it has ${known === undefined ? `a table ${table}` : `a column ${table}.${unknown[0]}`} that this program does not know: restore it with version ${header.version} or later`,
      )
  }
  return header
}

function readEnd(content: Buffer): ArchiveEnd {
  const end = parsed(content)
  if (!isObject(end.counts) || !isObject(end.head) || typeof end.seal_hash !== 'string') throw altered()
  return end as unknown as ArchiveEnd
}

function refuseOtherCounts({ counts }: ArchiveEnd, found: Readonly<Record<string, number>>): void {
  for (const table of new Set([...Object.keys(counts), ...Object.keys(found)]))
    if (counts[table] !== found[table]) throw otherCount(table, found[table], counts[table])
}

function otherCount(table: string, found = 0, named = 0): Fault {
  return fault('archive_invalid', `it has ${found} rows of ${table}, and names ${named}`)
}

async function readRows(
  content: Buffer,
  { tables }: ArchiveHeader,
): Promise<{ table: TransferTableName; rows: TransferRow[] }> {
  try {
    const text = (await decompress(content, { maxOutputLength: MOST_TEXT_BYTES })).toString('utf8')
    const [name = '', ...lines] = text.split('\n')
    const table = TRANSFER_TABLE_NAMES.find((known) => known === name)
    const columns = tables[name]
    if (table === undefined || columns === undefined) throw altered()
    const cells = columnsOf(table).map(([column, type]) => [columns.indexOf(column), type] as const)
    const rows = lines.map((line) => readRow(JSON.parse(line), cells, columns.length))
    return { table, rows: table === 'record' && !columns.includes('request_id') ? rows.map(withRequestId) : rows }
  } catch (error) {
    throw toFault(error).code === 'internal' ? altered(error) : error
  }
}

/** Columns that came after the archive was written have the value that they had before. */
const ABSENT: Readonly<Record<CellType, Cell>> = { text: '', number: 0, bytes: new Uint8Array(0), 'bytes?': null }

function readRow(row: unknown, cells: readonly (readonly [at: number, type: CellType])[], length: number): TransferRow {
  if (!Array.isArray(row) || row.length !== length) throw altered()
  return cells.map(([at, type]) => (at === -1 ? ABSENT[type] : readCell(row[at], type)))
}

const RECORD_COLUMNS = columnsOf('record').map(([name]) => name)
const [AT_FIELDS, AT_REQUEST_ID] = [RECORD_COLUMNS.indexOf('fields'), RECORD_COLUMNS.indexOf('request_id')]

/** A record of before the column has the id among its other fields, as in a store that is migrated. */
function withRequestId(row: TransferRow): TransferRow {
  const fields: unknown = JSON.parse(String(row[AT_FIELDS]))
  const id = isObject(fields) ? fields.request_id : undefined
  return typeof id === 'string' ? row.with(AT_REQUEST_ID, id) : row
}

function readCell(value: unknown, type: CellType): Cell {
  if (type === 'number' && typeof value === 'number') return value
  if (type === 'text' && typeof value === 'string') return value
  if (type === 'bytes?' && value === null) return null
  if (type.startsWith('bytes') && typeof value === 'string') return Buffer.from(value, 'base64')
  throw altered()
}

function parsed(content: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(content.toString('utf8'))
    if (isObject(value)) return value
  } catch (error) {
    throw altered(error)
  }
  throw altered()
}

function altered(cause?: unknown): Fault {
  return fault('archive_invalid', 'the archive was altered or damaged', cause)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
