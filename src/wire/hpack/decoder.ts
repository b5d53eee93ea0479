import { type Field, KIND, kindOfName, makeField } from './field.ts'
import { decodeHuffman } from './huffman.ts'
import { STATIC, STATIC_COUNT } from './static-table.ts'

/** Bytes of the dynamic table that encoders may use: what SETTINGS begins with (RFC 9113 section 6.5.2). */
export const TABLE_BYTES = 4096
/** The smallest entry counts 32 bytes: so many entries at most, and a power of two. */
const SLOTS = 128
/** Octets of an integer behind its prefix: more than any length or index that we take could need (RFC 7541 section 5.1). */
const MAX_INTEGER_OCTETS = 4
const USUAL_TEXT_BYTES = 16_384

/** Module state: memory of this thread for one decoded string at a time, which is copied out at once. */
let decoded: Buffer = Buffer.allocUnsafeSlow(USUAL_TEXT_BYTES)

/** Bounds of one field section. */
export interface ListBounds {
  /** Sum of names, values, and 32 bytes a field (RFC 9113 section 6.5.2). */
  readonly maxListBytes: number
  readonly maxFields: number
}

/** Takes field sections of one connection apart (RFC 7541). Strict: what the RFC calls a decoding error is one. */
export class HeaderDecoder {
  /** The fields of the last section that was decoded. */
  readonly fields: Field[] = []
  /** True when the last section was beyond its bounds: `fields` is not all of it. */
  tooLarge = false
  private readonly bounds: ListBounds
  private readonly slots: (Field | undefined)[] = new Array(SLOTS).fill(undefined)
  /** Entries ever added. */
  private added = 0
  private count = 0
  private tableBytes = 0
  private limitBytes = TABLE_BYTES
  private listBytes = 0
  private bytes: Buffer = decoded
  private at = 0
  private end = 0
  private failed = false

  constructor(bounds: ListBounds) {
    this.bounds = bounds
  }

  /** Bytes of the dynamic table in use. */
  get size(): number {
    return this.tableBytes
  }

  /** Decodes one whole field section into `fields`. False = the connection cannot be read any further (COMPRESSION_ERROR). */
  decode(bytes: Buffer, from: number, to: number): boolean {
    this.fields.length = 0
    this.tooLarge = false
    this.listBytes = 0
    this.bytes = bytes
    this.at = from
    this.end = to
    this.failed = false
    this.readSizeUpdates()
    while (this.at < this.end && !this.failed) this.readField(bytes[this.at]!)
    this.bytes = decoded
    return !this.failed
  }

  /** Releases the fields: an idle connection keeps only those of the table. */
  forget(): void {
    this.fields.length = 0
  }

  /** They are allowed only before the first field (RFC 7541 section 4.2). */
  private readSizeUpdates(): void {
    while (this.at < this.end && (this.bytes[this.at]! & 0xe0) === 0x20) {
      const size = this.integer(5)
      if (this.failed || size > TABLE_BYTES) {
        this.failed = true
        return
      }
      this.limitBytes = size
      this.evict(0)
    }
  }

  private readField(first: number): void {
    if ((first & 0x80) !== 0) {
      this.take(this.entry(this.integer(7)))
      return
    }
    if ((first & 0x40) !== 0) {
      const field = this.literal(this.integer(6))
      if (field !== undefined) this.add(field)
      this.take(field)
      return
    }
    // A size update is not allowed here; the others are literals that enter no table.
    if ((first & 0x20) !== 0) this.failed = true
    else this.take(this.literal(this.integer(4)))
  }

  private take(field: Field | undefined): void {
    if (field === undefined || this.failed) {
      this.failed = true
      return
    }
    this.listBytes += field.size
    if (this.listBytes > this.bounds.maxListBytes || this.fields.length >= this.bounds.maxFields) this.tooLarge = true
    else this.fields.push(field)
  }

  private entry(index: number): Field | undefined {
    if (index <= STATIC_COUNT) return STATIC[index]
    const back = index - STATIC_COUNT
    return back > this.count ? undefined : this.slots[(this.added - back) & (SLOTS - 1)]
  }

  private literal(nameIndex: number): Field | undefined {
    if (this.failed) return undefined
    if (nameIndex > 0) {
      const named = this.entry(nameIndex)
      return named === undefined ? undefined : makeField(named.name, named.nameKind, this.text())
    }
    const name = this.text()
    // Nothing is made of a section that is beyond its bounds but what later ones may refer to.
    return makeField(name, this.failed ? KIND.malformed : kindOfName(name), this.text())
  }

  /** An integer with a prefix of `bits` (RFC 7541 section 5.1). */
  private integer(bits: number): number {
    const mask = (1 << bits) - 1
    const prefix = this.bytes[this.at++]! & mask
    if (prefix < mask) return prefix
    let value = mask
    for (let octet = 0; octet < MAX_INTEGER_OCTETS && this.at < this.end; octet++) {
      const byte = this.bytes[this.at++]!
      value += (byte & 127) << (7 * octet)
      if (byte < 128) return value
    }
    this.failed = true
    return 0
  }

  /** A string literal (RFC 7541 section 5.2). */
  private text(): string {
    if (this.failed || this.at >= this.end) {
      this.failed = true
      return ''
    }
    const coded = (this.bytes[this.at]! & 128) !== 0
    const length = this.integer(7)
    const from = this.at
    if (this.failed || length > this.end - from) {
      this.failed = true
      return ''
    }
    this.at = from + length
    return coded ? this.uncoded(from, this.at) : this.bytes.toString('latin1', from, this.at)
  }

  private uncoded(from: number, to: number): string {
    const room = ((to - from) * 8) / 5 + 1
    if (room > decoded.length) decoded = Buffer.allocUnsafeSlow(Math.ceil(room))
    const size = decodeHuffman(this.bytes, from, to, decoded)
    if (size >= 0) return decoded.toString('latin1', 0, size)
    this.failed = true
    return ''
  }

  private add(field: Field): void {
    this.evict(field.size)
    // One that is larger than the table leaves it empty (RFC 7541 section 4.4).
    if (field.size > this.limitBytes) return
    this.slots[this.added++ & (SLOTS - 1)] = field
    this.count++
    this.tableBytes += field.size
  }

  /** Makes room for `bytes` more. */
  private evict(bytes: number): void {
    while (this.count > 0 && this.tableBytes + bytes > this.limitBytes) {
      const oldest = (this.added - this.count) & (SLOTS - 1)
      this.tableBytes -= this.slots[oldest]!.size
      this.slots[oldest] = undefined
      this.count--
    }
  }
}
