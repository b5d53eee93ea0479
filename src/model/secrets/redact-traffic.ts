import { isSecretName, MASK } from './redact.ts'

// Recorded texts of requests are untrusted: no rule here may cost more than a few passes over any text.

/** Names of fields and parameters that hold a secret besides those that `isSecretName` knows. */
const MORE =
  /^(?:auth|bearer|pwd|pin|cvv|cvc|jwt|sid|sig|signature|ticket|session(?:[_-]?id)?|id_token_hint|saml(?:request|response|art)|code_verifier|x-svc-authorization|dpop)$/i
/** Names of secrets inside a text of unknown form; bounded, so that no text is slow. */
const PAIR = /\b([\w-]{1,64})([ \t]{0,8}[=:][ \t]{0,8})("[^"<>\r\n]*"?|'[^'<>\r\n]*'?|[^\s,;&<>"']+)/g
const ELEMENT = /<(?:[\w.-]{1,64}:)?([\w.-]{1,64})(?:\s[^<>]{0,1024})?>([^<]+)/g

/** Lower-case names that an API reads credentials from. */
export type SecretNames = ReadonlySet<string>

/** True for a name of a parameter, field or member whose value is not for the eyes of those who read records. */
export function isSecretPart(name: string, names: SecretNames): boolean {
  const lower = name.toLowerCase()
  if (names.has(lower) || isSecretName(name) || MORE.test(name)) return true
  if (/[-_]/.test(lower) && (names.has(lower.replaceAll('_', '-')) || names.has(lower.replaceAll('-', '_'))))
    return true
  // `user[password]`, `auth.token`
  return (
    /[[\].]/.test(name) && name.split(/[[\].]+/).some((part) => part !== '' && (isSecretName(part) || MORE.test(part)))
  )
}

/** Names of credentials themselves. Others of `isSecretPart` are secrets only where they were issued: `code`, `nonce`, `redirect_to`. */
const CREDENTIAL =
  /pass(?:word|wd|phrase)|^pwd$|secret|token|credential|authori[sz]ation|^(?:auth|bearer|jwt|dpop|otp|totp)$|(?:api|access|private|signing|encryption)[_-]?key|^x-csrf|^session(?:[_-]?id)?$|^sid$|assertion/i

/** True for a name whose value is not for definitions that ask for it by this name either: a credential of the API, or one by its name. */
export function isCredentialName(name: string, names: SecretNames = new Set()): boolean {
  const lower = name.toLowerCase()
  return (
    names.has(lower) ||
    names.has(lower.replaceAll('_', '-')) ||
    names.has(lower.replaceAll('-', '_')) ||
    CREDENTIAL.test(name)
  )
}

/** A query or form without the values of its secret parameters. */
export function redactQuery(query: string, names: SecretNames): string {
  if (query === '') return query
  return query
    .split(/([&;])/)
    .map((pair) => {
      const equals = pair.indexOf('=')
      if (equals === -1) return pair
      return isSecretPart(decoded(pair.slice(0, equals)), names) ? `${pair.slice(0, equals)}=${MASK}` : pair
    })
    .join('')
}

/** The values that `redactQuery` hides, as they were sent and as they are meant. */
export function secretValues(query: string, names: SecretNames): string[] {
  return query.split(/[&;]/).flatMap((pair) => {
    const equals = pair.indexOf('=')
    if (equals === -1 || !isSecretPart(decoded(pair.slice(0, equals)), names)) return []
    return [pair.slice(equals + 1), decoded(pair.slice(equals + 1))]
  })
}

/** The values of the fields that `redactHead` hides: without the word of a scheme, of cookies one by one. */
export function secretFields(head: string, names: SecretNames): string[] {
  return head
    .split('\r\n')
    .slice(1)
    .flatMap((line) => {
      const colon = line.indexOf(':')
      if (colon === -1 || !isSecretPart(line.slice(0, colon), names)) return []
      const value = line.slice(colon + 1).trim()
      if (/cookie$/i.test(line.slice(0, colon)))
        return value.split(';').map((pair) => pair.slice(pair.indexOf('=') + 1))
      return [value, value.slice(value.indexOf(' ') + 1)]
    })
}

/** The same for a URL or request target: its query, its fragment, and segments of its path that are tokens by their looks (JWT). */
export function redactUrl(url: string, names: SecretNames): string {
  const [rest = '', fragment] = cutAt(url, '#')
  const [place = '', query] = cutAt(rest, '?')
  const path = place
    .replace(/^([a-z][a-z0-9+.-]{0,32}:)?\/\/[^/@]{1,1024}@/i, `$1//${MASK}@`)
    .split('/')
    .map((segment) => (segment.startsWith('eyJ') && segment.includes('.') ? MASK : segment))
    .join('/')
  return (
    path +
    (query === undefined ? '' : `?${redactQuery(query, names)}`) +
    (fragment === undefined ? '' : `#${redactQuery(fragment, names)}`)
  )
}

/** A head (first line and fields, ended by CRLF each) without credentials, cookies and keys. */
export function redactHead(head: string, names: SecretNames): string {
  return head
    .split('\r\n')
    .map((line, i) => (i === 0 ? redactFirstLine(line, names) : redactField(line, names)))
    .join('\r\n')
}

function redactFirstLine(line: string, names: SecretNames): string {
  const [method = '', target, ...rest] = line.split(' ')
  if (target === undefined || line.startsWith('HTTP/')) return line
  return [method, redactUrl(target, names), ...rest].join(' ')
}

function redactField(line: string, names: SecretNames): string {
  const colon = line.indexOf(':')
  if (colon === -1) return line
  const name = line.slice(0, colon)
  if (isSecretPart(name, names)) return `${name}: ${MASK}`
  return /[?#@]/.test(line) ? `${name}:${redactUrl(line.slice(colon + 1), names)}` : line
}

/**
 * A body for the record: JSON, forms and other text without secret members; for other types, and compressed ones, only a
 * note. `whole` false = truncated, which does not permit showing secrets before the cut.
 */
export function redactBody(
  bytes: Uint8Array,
  { type, encoding, totalBytes }: { readonly type: string; readonly encoding: string; readonly totalBytes: number },
  names: SecretNames,
): string {
  if (bytes.length === 0) return ''
  if (encoding !== '' && !/^identity$/i.test(encoding)) return `[${totalBytes} bytes, ${encoding}]`
  const text = textOf(bytes, type)
  if (text === undefined) return `[${totalBytes} bytes of ${type === '' ? 'no known type' : type}]`
  if (/urlencoded/i.test(type)) return redactQuery(text, names)
  if (/multipart/i.test(type)) return redactParts(text, names)
  const open = redactJson(text, names)
  if (/json/i.test(type)) return open
  if (/^\s*[[{]/.test(text)) return open
  if (/^[^\s=&]{1,256}=[^\r\n]*$/.test(open)) return redactQuery(open, names)
  return open
    .replace(ELEMENT, (all, name: string) =>
      isSecretPart(name, names) ? all.slice(0, all.indexOf('>') + 1) + MASK : all,
    )
    .replace(PAIR, (all, name: string, between: string) => (isSecretPart(name, names) ? name + between + MASK : all))
}

/** JSON text, whole or cut, and any number of documents one after the other, without the values of secret members. */
export function redactJson(text: string, names: SecretNames): string {
  let out = ''
  let copied = 0
  let at = text.indexOf('"')
  while (at !== -1) {
    const end = stringEnd(text, at)
    const colon = skipBlank(text, end)
    if (text[colon] !== ':') {
      at = text.indexOf('"', end)
      continue
    }
    const value = skipBlank(text, colon + 1)
    if (isSecretPart(nameOf(text.slice(at, end)), names)) {
      out += `${text.slice(copied, value)}"${MASK}"`
      copied = valueEnd(text, value)
      at = text.indexOf('"', copied)
    } else at = text.indexOf('"', value)
  }
  return out + text.slice(copied)
}

/** Where a string ends that begins at a quote: behind its closing quote, or at the end of what is there. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

function valueEnd(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return stringEnd(text, start)
  if (first !== '{' && first !== '[') {
    let at = start
    while (at < text.length && !/[,}\]\s]/.test(text[at]!)) at++
    return at
  }
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (char === '"') at = stringEnd(text, at) - 1
    else if (char === '{' || char === '[') depth++
    else if ((char === '}' || char === ']') && --depth === 0) return at + 1
  }
  return text.length
}

function skipBlank(text: string, start: number): number {
  let at = start
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}

/** A name may be written with escapes. */
function nameOf(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1)
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1)
  }
}

function redactParts(text: string, names: SecretNames): string {
  const boundary = /^--([^\r\n]{1,200})\r?\n/.exec(text)?.[1]
  if (boundary === undefined) return `[${text.length} characters of multipart]`
  return text
    .split(`--${boundary}`)
    .map((part) => {
      const empty = part.indexOf('\r\n\r\n')
      const head = empty === -1 ? part : part.slice(0, empty)
      const name = /name="?([^";\r\n]{1,256})/i.exec(head)?.[1] ?? ''
      if (empty === -1) return part
      return isSecretPart(name, names)
        ? `${head}\r\n\r\n${MASK}\r\n`
        : `${head}\r\n\r\n${redactJson(part.slice(empty + 4), names)}`
    })
    .join(`--${boundary}`)
}

const TEXT_TYPE = /^(?:text\/|multipart\/form-data)|json|xml|urlencoded|javascript|graphql|yaml|csv/i

/** The body as text; undefined for what is none. A character that the cut has halved is left out. */
function textOf(bytes: Uint8Array, type: string): string | undefined {
  if (type !== '' && !TEXT_TYPE.test(type)) return undefined
  const text = new TextDecoder('utf-8').decode(bytes)
  if (type === '' && /[\u0000-\u0008\ufffd]/.test(text.slice(0, -1))) return undefined
  return text.endsWith('\ufffd') ? text.slice(0, -1) : text
}

function decoded(text: string): string {
  const plain = text.replaceAll('+', ' ')
  if (!plain.includes('%')) return plain
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  }
}

function cutAt(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark)
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
