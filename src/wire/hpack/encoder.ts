import { isBlank } from '../http1/scan.ts'
import { TABLE_BYTES } from './decoder.ts'
import { CONNECTION_SPECIFIC, ENTRY_OVERHEAD_BYTES } from './field.ts'
import { encodeHuffman, huffmanLength } from './huffman.ts'
import { STATIC_COUNT, staticIndexOf, staticIndexOfName } from './static-table.ts'

/** Lines that are longer are not looked for in the table, nor put there. */
const MAX_INDEXED_CHARS = 512
/** Lines seen once that are remembered, as hashes: what comes a second time is put into the table. */
const REMEMBERED = 128
/** Names whose treatment is remembered, for all connections of this thread. */
const MAX_NAMES = 1000
const MAX_NAME_CHARS = 64
/** Room for what does not come from the text of a head, or grows with it: no line takes more than twice its characters. */
const SPARE_BYTES = 256
const USUAL_BLOCK_BYTES = 16_384

const INDEXED = 0x80
const WITH_INDEXING = 0x40
const SIZE_UPDATE = 0x20
const NEVER_INDEXED = 0x10
const WITHOUT_INDEXING = 0

/** How the fields of a name are encoded. */
interface Treatment {
  /** In lower case. */
  readonly name: string
  readonly staticIndex: number
  /** It has no place in HTTP/2. */
  readonly dropped: boolean
  /** Nobody on the way may keep it (RFC 7541 section 7.1.3), nor may its length tell whether a guess was right. */
  readonly secret: boolean
}

/** An entry of the dynamic table. */
interface Entry {
  readonly line: string
  readonly size: number
  /** Its number in the order of entry. */
  readonly number: number
}

const SECRET = /auth|cookie|token|secret|key|passw|credential|signature|session|jwt/

/** Module state: a cache of immutable values: how a field is encoded follows from its name. */
const treatments = new Map<string, Treatment>()

function treatmentOf(name: string): Treatment {
  const known = treatments.get(name)
  if (known !== undefined) return known
  const lower = name.toLowerCase()
  const treatment: Treatment = {
    name: copied(lower),
    staticIndex: staticIndexOfName(lower),
    // Host is `:authority` here, and TE is written where a request begins.
    dropped: CONNECTION_SPECIFIC.has(lower) || lower === 'host' || lower === 'te',
    secret: SECRET.test(lower),
  }
  if (treatments.size < MAX_NAMES && name.length <= MAX_NAME_CHARS) treatments.set(copied(name), treatment)
  return treatment
}

/** Text that does not keep the head alive that it was cut from. */
function copied(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/** Module state: memory of this thread for one block at a time, which is sent before the next is begun. */
let block: Buffer = Buffer.allocUnsafeSlow(USUAL_BLOCK_BYTES)

/**
 * Writes the field sections of one connection (RFC 7541). What a head repeats enters the dynamic table when it comes a second time,
 * Huffman coded; all else is written as it is. Fields that are secret are never indexed.
 */
export class HeaderEncoder {
  private readonly entries = new Map<string, Entry>()
  /** In the order of entry. */
  private readonly queue: Entry[] = []
  private readonly seen = new Int32Array(REMEMBERED)
  private added = 0
  private tableBytes = 0
  private limitBytes = TABLE_BYTES
  /** The smallest limit since the last block; -1 = it did not change. */
  private lowestBytes = -1
  private at = 0

  /** The peer's bound of the dynamic table, in bytes. */
  limit(bytes: number): void {
    const limit = Math.min(bytes, TABLE_BYTES)
    if (limit === this.limitBytes) return
    this.lowestBytes = this.lowestBytes < 0 ? limit : Math.min(limit, this.lowestBytes)
    this.limitBytes = limit
    this.evict(0)
  }

  /** Begins a block for the lines of `text`, and little else. */
  begin(text: string): void {
    const most = text.length * 2 + SPARE_BYTES
    if (most > block.length) block = Buffer.allocUnsafeSlow(most)
    this.at = 0
    if (this.lowestBytes < 0) return
    if (this.lowestBytes < this.limitBytes) this.integer(SIZE_UPDATE, 5, this.lowestBytes)
    this.integer(SIZE_UPDATE, 5, this.limitBytes)
    this.lowestBytes = -1
  }

  /** The block that was written, until the next is begun. */
  end(): Buffer {
    return block.subarray(0, this.at)
  }

  /** Writes a pseudo-header field. */
  pseudo(name: string, value: string): void {
    const whole = staticIndexOf(name, value)
    if (whole > 0) this.integer(INDEXED, 7, whole)
    else this.write(`${name}: ${value}`, name.length, treatmentOf(name))
  }

  /** Writes one field, its name in lower case. */
  field(name: string, value: string): void {
    this.write(`${name}: ${value}`, name.length, treatmentOf(name))
  }

  /** Writes the `Name: value\r\n` lines of `text` from `from` on, up to an empty line or the end, without those of HTTP/1.1 alone. */
  lines(text: string, from: number): void {
    let at = from
    while (at < text.length) {
      const end = text.indexOf('\r\n', at)
      if (end === at) return
      this.line(text, at, end)
      at = end + 2
    }
  }

  private line(text: string, from: number, end: number): void {
    const line = text.slice(from, end)
    const entry = this.entries.get(line)
    if (entry !== undefined) {
      this.index(entry)
      return
    }
    const colon = line.indexOf(':')
    const treatment = treatmentOf(line.slice(0, colon))
    if (!treatment.dropped) this.write(line, colon, treatment)
  }

  private index(entry: Entry): void {
    this.integer(INDEXED, 7, STATIC_COUNT + 1 + this.added - entry.number)
  }

  private write(line: string, colon: number, { name, staticIndex, secret }: Treatment): void {
    const known = this.entries.get(line)
    if (known !== undefined) {
      this.index(known)
      return
    }
    const value = fieldValue(line, colon)
    if (secret) this.literal(NEVER_INDEXED, 4, name, staticIndex, value, false)
    else if (!this.wasSeen(line)) this.literal(WITHOUT_INDEXING, 4, name, staticIndex, value, false)
    else {
      this.literal(WITH_INDEXING, 6, name, staticIndex, value, true)
      this.add(copied(line), name.length + value.length + ENTRY_OVERHEAD_BYTES)
    }
  }

  /** True when the line came before, and an entry of its size would not empty the table. */
  private wasSeen(line: string): boolean {
    if (line.length > MAX_INDEXED_CHARS || line.length > this.limitBytes / 4) return false
    let hash = 0x811c9dc5
    for (let i = 0; i < line.length; i++) hash = Math.imul(hash ^ line.charCodeAt(i), 0x01000193)
    const place = hash & (REMEMBERED - 1)
    if (this.seen[place] === (hash | 0)) return true
    this.seen[place] = hash
    return false
  }

  private add(line: string, size: number): void {
    this.evict(size)
    if (size > this.limitBytes) return
    const entry: Entry = { line, size, number: ++this.added }
    this.entries.set(line, entry)
    this.queue.push(entry)
    this.tableBytes += size
  }

  private evict(bytes: number): void {
    while (this.queue.length > 0 && this.tableBytes + bytes > this.limitBytes) {
      const oldest = this.queue.shift()!
      this.tableBytes -= oldest.size
      this.entries.delete(oldest.line)
    }
  }

  private literal(form: number, bits: number, name: string, nameIndex: number, value: string, coded: boolean): void {
    this.integer(form, bits, nameIndex)
    if (nameIndex === 0) this.string(name, coded)
    this.string(value, coded)
  }

  private string(text: string, coded: boolean): void {
    const length = coded ? huffmanLength(text) : text.length
    if (length < text.length) {
      this.integer(128, 7, length)
      this.at = encodeHuffman(text, block, this.at)
      return
    }
    this.integer(0, 7, text.length)
    this.at += block.write(text, this.at, 'latin1')
  }

  /** An integer with a prefix of `bits`, below the bits of `form` (RFC 7541 section 5.1). */
  private integer(form: number, bits: number, value: number): void {
    const mask = (1 << bits) - 1
    if (value < mask) {
      block[this.at++] = form | value
      return
    }
    block[this.at++] = form | mask
    let rest = value - mask
    for (; rest >= 128; rest >>>= 7) block[this.at++] = (rest & 127) | 128
    block[this.at++] = rest
  }
}

/** The text after the colon, without the blanks around it; `trim` would also remove the no-break space of latin1. */
function fieldValue(line: string, colon: number): string {
  let from = colon + 1
  let to = line.length
  while (from < to && isBlank(line.charCodeAt(from))) from++
  while (to > from && isBlank(line.charCodeAt(to - 1))) to--
  return line.slice(from, to)
}
