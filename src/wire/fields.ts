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
  proxyAuthorization: 19,
  date: 20,
  server: 21,
  setCookie: 22,
  proxyAuthenticate: 23,
} as const

/**
 * The fields of one parsed head: one latin1 text and, for each field, where its name and value stand in it.
 * No string is cut until somebody asks for a value. Reused for the next head of its connection.
 */
export class Fields {
  /** The head as latin1 text. Everything that outlives the request must be copied out of it. */
  text = ''
  count = 0
  /** Five numbers a field: name start, name end, value start, value end, FIELD number (negative once dropped). */
  readonly spans: Int32Array = new Int32Array(5 * 100)

  /** The value of the first field of this name (lower case), undefined when there is none. Dropped fields are found too. */
  get(_lowerName: string): string | undefined {
    throw new Error('wire: to be written')
  }

  /** The value of the first field with this FIELD number. Fast: no text is compared. */
  known(_field: number): string | undefined {
    throw new Error('wire: to be written')
  }

  /** All values of this name (lower case), in order. */
  all(_lowerName: string): string[] {
    throw new Error('wire: to be written')
  }

  /** Leaves every field of this name (lower case) out of `kept()`. */
  drop(_lowerName: string): void {
    throw new Error('wire: to be written')
  }

  /** Leaves every field with this FIELD number out of `kept()`. */
  dropKnown(_field: number): void {
    throw new Error('wire: to be written')
  }

  /** The fields that were not dropped, as `Name: value\r\n` lines, cut from `text` in as few pieces as possible. */
  kept(): string {
    throw new Error('wire: to be written')
  }

  /** Names (as sent) and values in order, without the dropped ones. For explain, logs and tests; not for the hot path. */
  entries(): [string, string][] {
    throw new Error('wire: to be written')
  }
}
