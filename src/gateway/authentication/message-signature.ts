/** A signature of a request as `Signature-Input` and `Signature` bring it (RFC 9421 section 4), read and not yet checked. */
export interface MessageSignature {
  readonly keyId: string
  /** Names of what is signed, in order: fields in lower case, and derived components with their `@`. */
  readonly components: readonly string[]
  /** Unix seconds. */
  readonly created: number
  /** Unix seconds; undefined = not said. */
  readonly expires: number | undefined
  /** The value of `@signature-params`. */
  readonly params: string
  readonly value: Buffer
}

/** The parts of a request that signatures cover; '' where absent. */
export interface SignedMessage {
  readonly method: string
  /** Lower case, without the port where it is that of the scheme. */
  readonly authority: string
  readonly scheme: string
  readonly path: string
  /** With its `?`; '' when there is none. */
  readonly query: string
  /** All values of a field by its lower-case name. */
  readonly field: (name: string) => readonly string[]
}

const MOST_COMPONENTS = 32
const INPUT =
  /^([a-z*][a-z0-9_.*-]{0,63})=(\(((?:"[a-z0-9@_-]{1,64}"(?: "[a-z0-9@_-]{1,64}"){0,63})?)\)((?:;[^;]{1,1200}){1,8}))$/
const PARAMETER = /^;([a-z]{1,16})=(?:"([\x20\x21\x23-\x5b\x5d-\x7e]{1,1024})"|(\d{1,12}))$/
const VALUE = /^([a-z*][a-z0-9_.*-]{0,63})=:([A-Za-z0-9+/]{20,200}={0,2}):$/
const NUMBERS = ['created', 'expires']
const TEXTS = ['keyid', 'alg', 'nonce', 'tag']

/**
 * Reads the one signature of a request, of `hmac-sha256` (RFC 9421 section 3.3.3). undefined for anything else: several signatures,
 * components with parameters, parameters that nobody defined, no `created` or `keyid`.
 */
export function readMessageSignature(input: string, value: string): MessageSignature | undefined {
  const [, label, params, names, rest] = INPUT.exec(input) ?? []
  const [, sameLabel, encoded] = VALUE.exec(value) ?? []
  if (label === undefined || label !== sameLabel || encoded === undefined) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64') !== encoded) return undefined
  const given = readParameters(rest!)
  if (given === undefined || (given.get('alg') ?? 'hmac-sha256') !== 'hmac-sha256') return undefined
  const components = names === '' ? [] : names!.split(' ').map((name) => name.slice(1, -1))
  if (components.length > MOST_COMPONENTS || new Set(components).size !== components.length) return undefined
  const [created, keyId, expires] = [given.get('created'), given.get('keyid'), given.get('expires')]
  if (created === undefined || keyId === undefined) return undefined
  return {
    ...{ keyId, components, params: params!, value: bytes },
    created: Number(created),
    expires: expires === undefined ? undefined : Number(expires),
  }
}

function readParameters(text: string): Map<string, string> | undefined {
  const given = new Map<string, string>()
  for (const part of text.slice(1).split(';')) {
    const [, name, words, digits] = PARAMETER.exec(`;${part}`) ?? []
    if (name === undefined || given.has(name)) return undefined
    if (!(words === undefined ? NUMBERS : TEXTS).includes(name)) return undefined
    given.set(name, words ?? digits!)
  }
  return given
}

/** The text that is signed (RFC 9421 section 2.5); undefined when it names what the message does not have. */
export function signatureText({ components, params }: MessageSignature, message: SignedMessage): string | undefined {
  let text = ''
  for (const name of components) {
    const value = valueOfComponent(name, message)
    if (value === undefined) return undefined
    text += `"${name}": ${value}\n`
  }
  return `${text}"@signature-params": ${params}`
}

function valueOfComponent(name: string, message: SignedMessage): string | undefined {
  const { authority, method, path, query, scheme } = message
  if (!name.startsWith('@')) {
    const values = message.field(name)
    return values.length === 0 ? undefined : values.join(', ')
  }
  if (name === '@method') return method
  if (name === '@authority') return authority
  if (name === '@scheme') return scheme
  if (name === '@path') return path
  if (name === '@query') return query === '' ? '?' : query
  if (name === '@request-target') return path + query
  return name === '@target-uri' ? `${scheme}://${authority}${path}${query}` : undefined
}

/** True when method, path and query are signed: a signature over less could be put under another request. */
export function coversRequest({ components }: Pick<MessageSignature, 'components'>): boolean {
  const has = (name: string) => components.includes(name)
  return has('@method') && (has('@request-target') || has('@target-uri') || (has('@path') && has('@query')))
}
