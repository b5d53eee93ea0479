import { CLASS, COLON, CR, HEX, hexValue, LF, TOKEN, VALUE } from './chars.ts'
import { FIELD, numberOfName } from './fields.ts'
import { CHUNKED, UNTIL_CLOSE } from './response-head.ts'
import { isBlank } from './scan.ts'

/** Digits of a chunk size: thirteen give 2^52 at most, which a number holds exactly. */
const MAX_SIZE_DIGITS = 13
/** Bytes of chunk extensions that a body may carry beyond the bytes of its data: they are checked and thrown away. */
const MAX_EXTENSION_BYTES = 16_384
/** Bytes of trailers that one body may carry: checked like fields, then dropped. */
const MAX_TRAILER_BYTES = 16_384

const SEMICOLON = 59
const QUOTE = 34
const BACKSLASH = 92
const EQUALS = 61

// State of a chunked body between two bytes (RFC 9112 section 7.1).
const SIZE = 0
const SIZE_LF = 1
const DATA = 2
const DATA_CR = 3
const DATA_LF = 4
const EXT_NAME = 5
const EXT_VALUE = 6
const EXT_QUOTED = 7
const EXT_ESCAPED = 8
const EXT_DONE = 9
const TRAILER_START = 10
const TRAILER_NAME = 11
const TRAILER_VALUE = 12
const TRAILER_LF = 13
const END_LF = 14
// Blanks (BWS) behind the size, and behind the name of an extension.
const SIZE_BLANK = 15
const EXT_BLANK = 16

/**
 * Fields that frame, route or authenticate a message must not come after it (RFC 9110 section 6.5.1). All trailers are dropped,
 * but one of these shows that another recipient parses this message differently.
 */
const NOT_TRAILING: ReadonlySet<number> = new Set([
  FIELD.host,
  FIELD.connection,
  FIELD.contentLength,
  FIELD.transferEncoding,
  FIELD.expect,
  FIELD.upgrade,
  FIELD.te,
  FIELD.trailer,
  FIELD.authorization,
  FIELD.cookie,
  FIELD.setCookie,
  FIELD.contentType,
])

function mayTrail(name: string): boolean {
  return !NOT_TRAILING.has(numberOfName(name))
}

/**
 * Takes a message body apart, however its bytes arrive: by length, chunked, or up to the end of the connection.
 * After `take`, the decoded bytes are `from` to `to` of the very buffer that was given: chunk data is moved together in place,
 * so that a read full of tiny chunks is passed on in one piece.
 */
export class BodyDecoder {
  /** True once the last byte of the body was taken. */
  finished = true
  /** Decoded bytes so far. */
  taken = 0
  from = 0
  to = 0
  private length = 0
  private remaining = 0
  private state = SIZE
  private digits = 0
  private counted = 0
  private extensionBytes = 0
  private trailerBytes = 0
  private trailerName = ''
  private readonly padded: boolean

  /** `padded`: sizes of chunks may have blanks behind them, as upstreams send them. */
  constructor(padded = false) {
    this.padded = padded
  }

  /** The part of a chunked body that `take` refused. */
  get flaw(): string {
    if (this.state >= TRAILER_START && this.state <= TRAILER_LF)
      return `malformed trailer ${this.trailerName}`.trimEnd()
    if (this.state === DATA_CR || this.state === DATA_LF) return 'malformed end of a chunk'
    return this.state === SIZE ? 'malformed chunk size' : 'malformed chunk extension'
  }

  /** Begins a body: `length` bytes, or CHUNKED, or UNTIL_CLOSE. */
  start(length: number): void {
    this.length = length
    this.finished = length === 0
    this.remaining = length > 0 ? length : 0
    this.taken = 0
    this.state = SIZE
    this.digits = 0
    this.extensionBytes = 0
    this.trailerBytes = 0
  }

  /** Bytes that are sure to come at least; 0 when that is unknown. */
  get remainingLength(): number {
    return this.remaining
  }

  /** True when only the end of the connection ends this body. */
  get endsWithConnection(): boolean {
    return this.length === UNTIL_CLOSE
  }

  /** Takes what belongs to the body from `chunk` on from `at`. Answers the offset behind it, -1 when the chunking is malformed. */
  take(chunk: Buffer, at: number): number {
    this.from = at
    this.to = at
    if (this.finished) return at
    if (this.length === CHUNKED) return this.takeChunked(chunk, at)
    const end = this.length === UNTIL_CLOSE ? chunk.length : Math.min(chunk.length, at + this.remaining)
    this.to = end
    this.taken += end - at
    if (this.length === UNTIL_CLOSE) return end
    this.remaining -= end - at
    this.finished = this.remaining === 0
    return end
  }

  private takeChunked(chunk: Buffer, start: number): number {
    let at = start
    while (at < chunk.length && !this.finished) {
      if (this.state === DATA) {
        at = this.takeData(chunk, at)
        continue
      }
      if (!this.step(chunk[at]!)) return -1
      at++
    }
    return at
  }

  private takeData(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.remaining)
    if (this.to === this.from) {
      this.from = at
      this.to = end
    } else {
      chunk.copyWithin(this.to, at, end)
      this.to += end - at
    }
    this.taken += end - at
    this.remaining -= end - at
    if (this.remaining === 0) this.state = DATA_CR
    return end
  }

  /** Advances by one byte outside chunk data; false when it is not allowed there. */
  private step(byte: number): boolean {
    switch (this.state) {
      case SIZE:
        return this.stepSize(byte)
      case SIZE_BLANK:
      case EXT_BLANK:
        return this.stepBlank(byte)
      case SIZE_LF:
        return byte === LF && this.beginData()
      case DATA_CR:
        return byte === CR && this.go(DATA_LF)
      case DATA_LF:
        this.digits = 0
        return byte === LF && this.go(SIZE)
      case END_LF:
        this.finished = true
        return byte === LF
      default:
        return this.state >= TRAILER_START ? this.stepTrailer(byte) : this.stepExtension(byte)
    }
  }

  private go(state: number): boolean {
    this.state = state
    return true
  }

  private stepSize(byte: number): boolean {
    if ((CLASS[byte]! & HEX) !== 0) {
      this.remaining = (this.digits === 0 ? 0 : this.remaining) * 16 + hexValue(byte)
      return ++this.digits <= MAX_SIZE_DIGITS
    }
    if (this.digits === 0) return false
    if (byte === CR) return this.go(SIZE_LF)
    this.counted = 0
    if (isBlank(byte)) return this.go(SIZE_BLANK)
    return byte === SEMICOLON && this.go(EXT_NAME)
  }

  /** Blanks before `;` and `=` (RFC 9112 section 7.1.1); before the line end too where old servers pad sizes to a width. */
  private stepBlank(byte: number): boolean {
    if (++this.extensionBytes > MAX_EXTENSION_BYTES + this.taken) return false
    if (isBlank(byte)) return true
    if (byte === CR) return this.padded && this.go(SIZE_LF)
    if (byte === SEMICOLON) return this.go(EXT_NAME)
    return byte === EQUALS && this.state === EXT_BLANK && this.go(EXT_VALUE)
  }

  private beginData(): boolean {
    if (this.remaining > 0) return this.go(DATA)
    return this.go(TRAILER_START)
  }

  /** `;name[=token|"quoted"]`, with blanks around `;` and `=` (RFC 9112 section 7.1.1). */
  private stepExtension(byte: number): boolean {
    if (++this.extensionBytes > MAX_EXTENSION_BYTES + this.taken) return false
    if (this.state === EXT_QUOTED) {
      if (byte === QUOTE) return this.go(EXT_DONE)
      if (byte === BACKSLASH) return this.go(EXT_ESCAPED)
      return (CLASS[byte]! & VALUE) !== 0
    }
    if (this.state === EXT_ESCAPED) return (CLASS[byte]! & VALUE) !== 0 && this.go(EXT_QUOTED)
    if (this.state !== EXT_DONE && (CLASS[byte]! & TOKEN) !== 0) {
      this.counted++
      return true
    }
    if (this.state !== EXT_DONE && this.counted === 0) {
      if (isBlank(byte)) return true
      return byte === QUOTE && this.state === EXT_VALUE && this.go(EXT_QUOTED)
    }
    this.counted = 0
    if (byte === CR) return this.go(SIZE_LF)
    if (byte === SEMICOLON) return this.go(EXT_NAME)
    // Behind a value no `=` follows.
    if (isBlank(byte)) return this.go(this.state === EXT_NAME ? EXT_BLANK : SIZE_BLANK)
    return byte === EQUALS && this.state === EXT_NAME && this.go(EXT_VALUE)
  }

  private stepTrailer(byte: number): boolean {
    if (++this.trailerBytes > MAX_TRAILER_BYTES) return false
    switch (this.state) {
      case TRAILER_START:
        if (byte === CR) return this.go(END_LF)
        this.trailerName = String.fromCharCode(byte)
        return (CLASS[byte]! & TOKEN) !== 0 && this.go(TRAILER_NAME)
      case TRAILER_NAME:
        if (byte === COLON) return mayTrail(this.trailerName) && this.go(TRAILER_VALUE)
        this.trailerName += String.fromCharCode(byte)
        return (CLASS[byte]! & TOKEN) !== 0
      case TRAILER_VALUE:
        if (byte === CR) return this.go(TRAILER_LF)
        return (CLASS[byte]! & VALUE) !== 0
      default:
        return byte === LF && this.go(TRAILER_START)
    }
  }
}
