import { equalsAt, foldFieldName, LOWER, NAME, spellsAt } from './chars.ts'

/** Numbers of the field names that the product looks at itself; 0 is every other name. */
export const FIELD = {
  other: 0,
  host: 1,
  connection: 2,
  contentLength: 3,
  transferEncoding: 4,
  expect: 5,
  upgrade: 6,
  te: 7,
  trailer: 8,
  keepAlive: 9,
  proxyConnection: 10,
  authorization: 11,
  cookie: 12,
  contentType: 13,
  origin: 14,
  xForwardedFor: 15,
  xForwardedProto: 16,
  xForwardedHost: 17,
  xRealIp: 18,
  forwarded: 19,
  /** Every other field whose name begins with `x-forwarded-`. */
  xForwardedOther: 20,
  proxyAuthorization: 21,
  date: 22,
  server: 23,
  setCookie: 24,
  proxyAuthenticate: 25,
  ratelimit: 26,
  ratelimitPolicy: 27,
  xRatelimitLimit: 28,
  xRatelimitRemaining: 29,
  xRatelimitReset: 30,
  proxy: 31,
  xRequestId: 32,
} as const

/** Number of a hidden field, whose name other software may read as another field's. */
const HIDDEN = 33

/** Lower-case name of each FIELD number; that of `xForwardedOther` is the beginning of one. */
export const FIELD_NAMES: readonly string[] = [
  '',
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'proxy-connection',
  'authorization',
  'cookie',
  'content-type',
  'origin',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-real-ip',
  'forwarded',
  'x-forwarded-',
  'proxy-authorization',
  'date',
  'server',
  'set-cookie',
  'proxy-authenticate',
  'ratelimit',
  'ratelimit-policy',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'proxy',
  'x-request-id',
]

/** Other fields that the gateway reads in requests, whose spellings it hides too. */
export const READ_FIELDS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'cache-control',
  'content-encoding',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'max-forwards',
  'sec-fetch-site',
  'sec-websocket-key',
  'user-agent',
])

/** Numbers to try for a name, by its length and first letter: at most one or two, so that a look-up compares one name. */
const CANDIDATES: readonly (readonly number[] | undefined)[] = candidates()

const NUMBERS_PER_FIELD = 5
const LETTER_A = 97
const LETTER_H = 104
const LETTER_N = 110
const LETTER_X = 120

function slot(length: number, firstLower: number): number {
  return ((length & 31) << 5) | (firstLower & 31)
}

function candidates(): (readonly number[] | undefined)[] {
  const table: (number[] | undefined)[] = new Array(1024).fill(undefined)
  for (let number = 1; number < FIELD_NAMES.length; number++) {
    const name = FIELD_NAMES[number]!
    const at = slot(name.length, name.charCodeAt(0))
    table[at] = [...(table[at] ?? []), number]
  }
  return table
}

/** The FIELD number of the name in `bytes` from `start` to `end`, in any letter case. */
export function fieldNumber(bytes: Uint8Array, start: number, end: number): number {
  const first = LOWER[bytes[start]!]!
  const list = CANDIDATES[slot(end - start, first)]
  if (list !== undefined) {
    for (let i = 0; i < list.length; i++) {
      if (isName(bytes, start, end, FIELD_NAMES[list[i]!]!)) return list[i]!
    }
  }
  return first === LOWER_X ? forwardedNumber(bytes, start, end) : FIELD.other
}

const LOWER_X = 120
const FORWARDED_PREFIX = 'x-forwarded-'

/** For names that no other number is for. */
function forwardedNumber(bytes: Uint8Array, start: number, end: number): number {
  const prefixEnd = start + FORWARDED_PREFIX.length
  return end > prefixEnd && isName(bytes, start, prefixEnd, FORWARDED_PREFIX) ? FIELD.xForwardedOther : FIELD.other
}

function isName(bytes: Uint8Array, start: number, end: number, lower: string): boolean {
  if (end - start !== lower.length) return false
  for (let i = 0; i < lower.length; i++) if (LOWER[bytes[start + i]!] !== lower.charCodeAt(i)) return false
  return true
}

/** The FIELD number of a name in any letter case; for names in strings. */
export function numberOfName(name: string): number {
  const lower = name.toLowerCase()
  const number = FIELD_NAMES.indexOf(lower)
  if (number > 0) return number
  return lower.startsWith(FORWARDED_PREFIX) ? FIELD.xForwardedOther : FIELD.other
}

/** True for another spelling of a field that the wire or the gateway reads, sets or removes: requests do not have it. */
export function isReadSpelling(name: string): boolean {
  const folded = foldFieldName(name)
  return folded !== name.toLowerCase() && (numberOfName(folded) !== FIELD.other || READ_FIELDS.has(folded))
}

function isUnusual(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (NAME[text.charCodeAt(i)] !== 1) return true
  return false
}

/**
 * The fields of one parsed head: one latin1 text and, for each field, the positions of its name and value in it.
 * No string is cut before a value is read. Reused for the next head of its connection.
 */
export class Fields {
  /** The head as latin1 text. Everything that outlives the request must be copied out of it. */
  text = ''
  count = 0
  /** Where the empty line that ends the head begins. */
  end = 0
  /** Fields that are hidden: `hide`. */
  hidden = 0
  /** Fields whose name holds other characters than letters, digits and `-`, without those that are hidden from the start. */
  unusual = 0
  /** Five numbers a field: name start, name end, value start, value end, FIELD number (`~number`, so negative, once dropped). */
  spans: Int32Array = new Int32Array(NUMBERS_PER_FIELD * 100)

  /** Forgets the last head. */
  clear(text: string): void {
    this.text = text
    this.count = 0
    this.end = 0
    this.hidden = 0
    this.unusual = 0
  }

  /** Adds a field whose bytes were checked. Grows the table when a head may hold more than 100 fields. */
  add(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number, number: number): void {
    const at = this.count * NUMBERS_PER_FIELD
    if (at === this.spans.length) this.grow()
    const spans = this.spans
    spans[at] = nameStart
    spans[at + 1] = nameEnd
    spans[at + 2] = valueStart
    spans[at + 3] = valueEnd
    spans[at + 4] = number
    this.count++
  }

  /** Adds a field that no look-up finds and that is not kept, as if it had never been sent. */
  hide(nameStart: number, valueStart: number, valueEnd: number): void {
    this.add(nameStart, nameStart, valueStart, valueEnd, ~HIDDEN)
    this.hidden++
  }

  /**
   * Hides the fields that upstreams may take for one that the wire or the gateway reads, sets or removes by its name (`X_Forwarded_For`,
   * `X.Real.IP`): steps that handle those see their exact spelling only.
   */
  hideSpellings(): void {
    const { spans, text } = this
    for (let at = 0, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      if (spans[at + 4] !== FIELD.other || !isUnusual(text, spans[at]!, spans[at + 1]!)) continue
      if (!isReadSpelling(text.slice(spans[at]!, spans[at + 1]!))) continue
      spans[at + 1] = spans[at]!
      spans[at + 4] = ~HIDDEN
      this.hidden++
    }
  }

  /** Shows the hidden fields of this name (lower case). */
  reveal(lowerName: string): void {
    const { spans, text } = this
    for (let at = 0, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      if (spans[at + 4] !== ~HIDDEN) continue
      const nameEnd = spans[at]! + lowerName.length
      if (text[nameEnd] !== ':' || !equalsAt(text, spans[at]!, nameEnd, lowerName)) continue
      spans[at + 1] = nameEnd
      spans[at + 4] = FIELD.other
      this.hidden--
    }
  }

  private grow(): void {
    const larger = new Int32Array(this.spans.length * 2)
    larger.set(this.spans)
    this.spans = larger
  }

  /** The value of the first field of this name (lower case), undefined when there is none. Dropped fields are found too. */
  get(lowerName: string): string | undefined {
    const { spans, text } = this
    for (let at = 0, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      if (equalsAt(text, spans[at]!, spans[at + 1]!, lowerName)) return text.slice(spans[at + 2]!, spans[at + 3]!)
    }
    return undefined
  }

  /** The value of the first field with this FIELD number, dropped or not. Fast: no text is compared. */
  known(field: number): string | undefined {
    const { spans } = this
    for (let at = 0, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      const number = spans[at + 4]!
      if (number === field || number === ~field) return this.text.slice(spans[at + 2]!, spans[at + 3]!)
    }
    return undefined
  }

  /** True when there is a field with this FIELD number, dropped or not. */
  has(field: number): boolean {
    const { spans } = this
    for (let at = 4, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      if (spans[at] === field || spans[at] === ~field) return true
    }
    return false
  }

  /** The value of the only field of this name (lower case), dropped or not; '' when there is none, undefined when there are several. */
  single(lowerName: string): string | undefined {
    const { spans, text } = this
    let found = -1
    for (let at = 0, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      if (!equalsAt(text, spans[at]!, spans[at + 1]!, lowerName)) continue
      if (found >= 0) return undefined
      found = at
    }
    return found < 0 ? '' : text.slice(spans[found + 2]!, spans[found + 3]!)
  }

  /** As `single`, but other characters for those that are neither letters nor digits make no other field (`spellsAt`): such a one counts, and its value is not given. */
  singleOfSpellings(lowerName: string): string | undefined {
    const { spans, text } = this
    let found = -1
    for (let at = 0, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      if (!spellsAt(text, spans[at]!, spans[at + 1]!, lowerName)) continue
      if (found >= 0) return undefined
      found = at
    }
    const isExact = found >= 0 && equalsAt(text, spans[found]!, spans[found + 1]!, lowerName)
    return isExact ? text.slice(spans[found + 2]!, spans[found + 3]!) : ''
  }

  /** True when `kept()` has a field with this FIELD number. */
  keeps(field: number): boolean {
    const { spans } = this
    for (let at = 4, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD)
      if (spans[at] === field) return true
    return false
  }

  /** All values of this name (lower case), in order, dropped ones too. */
  all(lowerName: string): string[] {
    const { spans, text } = this
    const values: string[] = []
    for (let at = 0, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      if (equalsAt(text, spans[at]!, spans[at + 1]!, lowerName)) values.push(text.slice(spans[at + 2]!, spans[at + 3]!))
    }
    return values
  }

  /** Leaves every field out of `kept()` whose name is this one (lower case) in any spelling (`spellsAt`). */
  drop(lowerName: string): void {
    const { spans, text } = this
    for (let at = 0, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      if (spans[at + 4]! >= 0 && spellsAt(text, spans[at]!, spans[at + 1]!, lowerName)) spans[at + 4] = ~spans[at + 4]!
    }
  }

  /** Leaves every field out of `kept()` whose name begins with `lower` (lower case), in any spelling. */
  dropPrefixed(lower: string): void {
    const { spans, text } = this
    for (let at = 0, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      const prefixEnd = spans[at]! + lower.length
      if (prefixEnd > spans[at + 1]! || spans[at + 4]! < 0) continue
      if (spellsAt(text, spans[at]!, prefixEnd, lower)) spans[at + 4] = ~spans[at + 4]!
    }
  }

  /** Takes every field that `drop` leaves out away, as if it had never been sent: look-ups do not find it either. */
  erase(lowerName: string): void {
    const { spans, text } = this
    for (let at = 0, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      if (!spellsAt(text, spans[at]!, spans[at + 1]!, lowerName)) continue
      spans[at + 1] = spans[at]!
      spans[at + 4] = ~FIELD.other
    }
  }

  /**
   * Erases the fields of administration credentials: `admin-auth`, and `x-<word>-authorization` as far as `isSecret` says so. It gets the
   * name as `foldFieldName` answers it. Two characters of a name rule out most fields.
   */
  eraseAdministration(isSecret: (name: string, value: string) => boolean): void {
    const { spans, text } = this
    for (let at = 0, last = this.count * NUMBERS_PER_FIELD; at < last; at += NUMBERS_PER_FIELD) {
      const number = spans[at + 4]! < 0 ? ~spans[at + 4]! : spans[at + 4]!
      if (number !== FIELD.other && number !== FIELD.xForwardedOther && number !== HIDDEN) continue
      const start = spans[at]!
      // Of a hidden field no name is noted: `reveal` must not find it.
      const end = number === HIDDEN ? text.indexOf(':', start) : spans[at + 1]!
      const ending = text.charCodeAt(end - 1) | 32
      const first = text.charCodeAt(start) | 32
      if ((ending !== LETTER_N || first !== LETTER_X) && (ending !== LETTER_H || first !== LETTER_A)) continue
      const name = foldFieldName(text.slice(start, end))
      const isOurs =
        name === 'admin-auth' ||
        (name.startsWith('x-') &&
          name.endsWith('-authorization') &&
          isSecret(name, text.slice(spans[at + 2]!, spans[at + 3]!)))
      if (!isOurs) continue
      spans[at + 1] = start
      spans[at + 4] = ~FIELD.other
    }
  }

  /** Adds a field behind those that were sent. Name and value must be checked. */
  append(name: string, value: string): void {
    const start = this.end
    const valueStart = start + name.length + 2
    this.text = `${this.text.slice(0, start)}${name}: ${value}\r\n${this.text.slice(start)}`
    this.end = valueStart + value.length + 2
    this.add(start, start + name.length, valueStart, valueStart + value.length, numberOfName(name))
  }

  /** Leaves every field out of `kept()` whose name is in `lower` (lower case) from `start` to `end`. Returns how many. */
  dropSpan(lower: string, start: number, end: number): number {
    const { spans, text } = this
    const name = start === 0 && end === lower.length ? lower : lower.slice(start, end)
    let dropped = 0
    for (let at = 0, last = this.count * NUMBERS_PER_FIELD; at < last; at += NUMBERS_PER_FIELD) {
      if (!equalsAt(text, spans[at]!, spans[at + 1]!, name)) continue
      if (spans[at + 4]! >= 0) spans[at + 4] = ~spans[at + 4]!
      dropped++
    }
    return dropped
  }

  /** Leaves every field with this FIELD number out of `kept()`. */
  dropKnown(field: number): void {
    const { spans } = this
    for (let at = 4, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      if (spans[at] === field) spans[at] = ~field
    }
  }

  /** Leaves every field out of `kept()` whose FIELD number is one of `first` to `last`. */
  dropRange(first: number, last: number): void {
    const { spans } = this
    for (let at = 4, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      const number = spans[at]!
      if (number >= first && number <= last) spans[at] = ~number
    }
  }

  /** Takes every field whose FIELD number is one of `first` to `last` away, as `erase` does. */
  eraseRange(first: number, last: number): void {
    const { spans } = this
    for (let at = 4, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      const number = spans[at]!
      if (number < first || number > last) continue
      spans[at - 3] = spans[at - 4]!
      spans[at] = ~FIELD.other
    }
  }

  /** The fields that were not dropped, as `Name: value\r\n` lines, cut from `text` in as few pieces as possible. */
  kept(): string {
    const { spans, text } = this
    let lines = ''
    let runStart = -1
    for (let at = 0, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      if (spans[at + 4]! >= 0) {
        if (runStart < 0) runStart = spans[at]!
        continue
      }
      if (runStart < 0) continue
      lines += text.slice(runStart, spans[at]!)
      runStart = -1
    }
    return runStart < 0 ? lines : lines + text.slice(runStart, this.end)
  }

  /** The lines of those fields that were not dropped whose FIELD number is wanted, with their names in lower case. */
  keptLines(wanted: (field: number) => boolean): string {
    const { spans, text } = this
    let lines = ''
    for (let at = 0, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      if (!wanted(spans[at + 4]!)) continue
      lines += `${text.slice(spans[at]!, spans[at + 1]!).toLowerCase()}: ${text.slice(spans[at + 2]!, spans[at + 3]!)}\r\n`
    }
    return lines
  }

  /** Names (as sent) and values in order, without the dropped ones. For explain, logs and tests; not for the hot path. */
  entries(): [string, string][] {
    const { spans, text } = this
    const pairs: [string, string][] = []
    for (let at = 0, end = this.count * NUMBERS_PER_FIELD; at < end; at += NUMBERS_PER_FIELD) {
      if (spans[at + 4]! < 0) continue
      pairs.push([text.slice(spans[at]!, spans[at + 1]!), text.slice(spans[at + 2]!, spans[at + 3]!)])
    }
    return pairs
  }
}
