import { constants, zstdCompressSync } from 'node:zlib'
import { isObject } from '../../model/json/json.ts'
import {
  type Cell,
  columnsOf,
  type TransferRow,
  type TransferTableName,
  type TransferTarget,
} from '../ports/transfer.ts'
import {
  ARCHIVE_FORMAT,
  type ArchiveEnd,
  type ArchiveHeader,
  encodePart,
  firstChecksum,
  MAGIC,
  type PartType,
} from './format.ts'

/** Rows are compressed together until they have so many characters. */
const PART_CHARACTERS = 1024 * 1024
const LEVEL = 3

/** Where the bytes go, in order. */
export type ArchiveSink = (bytes: Uint8Array) => Promise<void>

/** The result of writing an archive. */
export interface WrittenArchive extends Pick<ArchiveEnd, 'counts' | 'kinds' | 'head'> {
  readonly bytes: number
  /** SHA-256 over all parts, hex: the last one of the archive. */
  readonly checksum: string
}

export interface ArchiveTarget extends TransferTarget {
  /** undefined before `load` is done. */
  readonly written: WrittenArchive | undefined
}

/**
 * An archive as a store to write into. `header`: what it says besides its tables. `checkSeal`: called with the `seal_hash` of the installation
 * before the archive gets its end; what it throws leaves one that is truncated.
 */
export function openArchiveTarget(
  sink: ArchiveSink,
  header: Omit<ArchiveHeader, 'format' | 'tables'> & { readonly tables: readonly TransferTableName[] },
  checkSeal: (sealHash: string) => void = () => {},
): ArchiveTarget {
  let written: WrittenArchive | undefined
  return {
    get written() {
      return written
    },
    async load(fill) {
      const parts = new PartWriter(sink)
      const tables = Object.fromEntries(header.tables.map((table) => [table, columnsOf(table).map(([name]) => name)]))
      await parts.begin({ ...header, format: ARCHIVE_FORMAT, tables })
      const rows = new RowWriter(parts)
      const head = await fill((table, some) => rows.add(table, some))
      await rows.flush()
      const { counts, kinds, sealHash: seal_hash } = rows
      checkSeal(seal_hash)
      const end: ArchiveEnd = { counts, kinds, head, seal_hash }
      const checksum = await parts.add('E', Buffer.from(JSON.stringify(end)))
      written = { counts, kinds, head, bytes: parts.bytes, checksum: checksum.toString('hex') }
    },
    async close() {},
  }
}

class PartWriter {
  bytes = 0
  private readonly sink: ArchiveSink
  private checksum = firstChecksum()

  constructor(sink: ArchiveSink) {
    this.sink = sink
  }

  async begin(header: ArchiveHeader): Promise<void> {
    await this.send(MAGIC)
    await this.add('H', Buffer.from(JSON.stringify(header)))
  }

  async add(type: PartType, content: Uint8Array): Promise<Buffer> {
    const [part, checksum] = encodePart(type, content, this.checksum)
    this.checksum = checksum
    await this.send(part)
    return checksum
  }

  private async send(bytes: Uint8Array): Promise<void> {
    await this.sink(bytes)
    this.bytes += bytes.length
  }
}

/** Gathers rows to parts of one table each. */
class RowWriter {
  readonly counts: Record<string, number> = {}
  readonly kinds: Record<string, number> = {}
  sealHash = ''
  private readonly parts: PartWriter
  private table: TransferTableName | undefined
  private lines: string[] = []
  private characters = 0

  constructor(parts: PartWriter) {
    this.parts = parts
  }

  async add(table: TransferTableName, rows: readonly TransferRow[]): Promise<void> {
    if (table !== this.table) await this.flush()
    this.table = table
    for (const row of rows) {
      const line = JSON.stringify(row.map(toJson))
      this.lines.push(line)
      this.characters += line.length
      this.note(table, row)
      if (this.characters >= PART_CHARACTERS) await this.flush()
    }
  }

  async flush(): Promise<void> {
    if (this.lines.length === 0) return
    const text = `${this.table}\n${this.lines.join('\n')}`
    this.lines = []
    this.characters = 0
    const params = { [constants.ZSTD_c_compressionLevel]: LEVEL }
    // On this thread, whose priority is low: the threads of the runtime's pool have that of traffic.
    await this.parts.add('D', zstdCompressSync(text, { params }))
  }

  private note(table: TransferTableName, [kind, , , body]: TransferRow): void {
    this.counts[table] = (this.counts[table] ?? 0) + 1
    if (table !== 'document') return
    this.kinds[String(kind)] = (this.kinds[String(kind)] ?? 0) + 1
    if (kind !== 'installation') return
    const installation: unknown = JSON.parse(String(body))
    if (isObject(installation) && typeof installation.seal_hash === 'string') this.sealHash = installation.seal_hash
  }
}

function toJson(cell: Cell): string | number | null {
  return cell instanceof Uint8Array
    ? Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength).toString('base64')
    : cell
}
