const HANDSHAKE_RECORD = 22
const CLIENT_HELLO = 1
const SERVER_NAME = 0
const HOST_NAME = 0
const RECORD_HEAD_BYTES = 5
/** Largest hello that is waited for; post-quantum key shares make 2 kB, odd clients some more. */
const MAX_HELLO_BYTES = 16_384

/** The hello cannot be read: it is none, or too large, or its lengths contradict each other. */
export const NO_HELLO = Symbol('no hello')

/**
 * Reads the server name (SNI, RFC 6066 section 3) from the first bytes that a TLS client sends, so that the certificate and the question for
 * a client certificate can be chosen before the handshake begins. Lower case; '' without a name; undefined when more bytes are needed.
 */
export function readServerName(bytes: Buffer): string | undefined | typeof NO_HELLO {
  const hello = gather(bytes)
  if (hello === undefined || hello === NO_HELLO) return hello
  const at = extensionsStart(hello)
  return at === undefined ? NO_HELLO : findName(hello, at)
}

/** The hello message, put together from its records (RFC 8446 section 5.1). */
function gather(bytes: Buffer): Buffer | undefined | typeof NO_HELLO {
  const parts: Buffer[] = []
  let have = 0
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== HANDSHAKE_RECORD || (at + 1 < bytes.length && bytes[at + 1] !== 3)) return NO_HELLO
    if (at + RECORD_HEAD_BYTES > bytes.length) return undefined
    const size = bytes.readUInt16BE(at + 3)
    if (size === 0 || size > MAX_HELLO_BYTES) return NO_HELLO
    const part = bytes.subarray(at + RECORD_HEAD_BYTES, at + RECORD_HEAD_BYTES + size)
    parts.push(part)
    have += part.length
    at += RECORD_HEAD_BYTES + size
    const whole = complete(parts, have)
    if (whole !== undefined) return whole
  }
  return undefined
}

function complete(parts: Buffer[], have: number): Buffer | undefined | typeof NO_HELLO {
  if (have < 4) return undefined
  const message = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  if (message[0] !== CLIENT_HELLO) return NO_HELLO
  const size = message.readUIntBE(1, 3) + 4
  if (size > MAX_HELLO_BYTES) return NO_HELLO
  return have < size ? undefined : message.subarray(0, size)
}

/** Where the extensions begin: behind version, random, session id, cipher suites and compression methods. */
function extensionsStart(hello: Buffer): number | undefined {
  let at = 4 + 2 + 32
  if (at >= hello.length) return undefined
  at += 1 + hello[at]!
  if (at + 2 > hello.length) return undefined
  at += 2 + hello.readUInt16BE(at)
  if (at >= hello.length) return undefined
  at += 1 + hello[at]!
  return at > hello.length ? undefined : at
}

function findName(hello: Buffer, start: number): string | typeof NO_HELLO {
  if (start === hello.length) return ''
  if (start + 2 > hello.length || start + 2 + hello.readUInt16BE(start) !== hello.length) return NO_HELLO
  for (let at = start + 2; at < hello.length; ) {
    if (at + 4 > hello.length) return NO_HELLO
    const end = at + 4 + hello.readUInt16BE(at + 2)
    if (end > hello.length) return NO_HELLO
    if (hello.readUInt16BE(at) === SERVER_NAME) return readName(hello.subarray(at + 4, end))
    at = end
  }
  return ''
}

/** A list of one host name. */
function readName(list: Buffer): string | typeof NO_HELLO {
  if (list.length < 5 || list.readUInt16BE(0) !== list.length - 2 || list[2] !== HOST_NAME) return NO_HELLO
  if (list.readUInt16BE(3) !== list.length - 5) return NO_HELLO
  const name = list.toString('latin1', 5).toLowerCase()
  return /^[a-z0-9._-]{1,253}$/.test(name) ? name : NO_HELLO
}
