import { fault } from '../../errors/fault.ts'

/** The possible meanings of Basic credentials: percent-decoded as in RFC 6749 section 2.3.1, then verbatim, where that differs. */
export interface BasicCredentials {
  readonly ids: readonly string[]
  readonly secrets: readonly string[]
}

const BASIC = /^basic +([A-Za-z0-9+/_-]+={0,2})$/i
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads the `Authorization` fields of a call; undefined when there is none. Id and secret are UTF-8, else ISO 8859-1 (RFC 7617
 * section 2.1).
 * @throws Fault `oauth_invalid_request` for several fields, `oauth_basic_malformed`, `oauth_invalid_client` for another scheme
 */
export function readBasic(fields: readonly string[]): BasicCredentials | undefined {
  if (fields.length === 0) return undefined
  if (fields.length > 1) throw fault('oauth_invalid_request', 'Authorization is given more than once')
  const field = fields[0]!.trim()
  if (!/^basic( |$)/i.test(field)) throw fault('oauth_invalid_client')
  const encoded = BASIC.exec(field)?.[1]
  if (encoded === undefined) throw malformed()
  const text = decode(Buffer.from(encoded, 'base64'))
  const colon = text.indexOf(':')
  if (colon < 0) throw malformed()
  return { ids: spellings(text.slice(0, colon)), secrets: spellings(text.slice(colon + 1)) }
}

function malformed() {
  return fault('oauth_basic_malformed')
}

function decode(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    return bytes.toString('latin1')
  }
}

function spellings(text: string): readonly string[] {
  const decoded = percentDecoded(text)
  return decoded === undefined || decoded === text ? [text] : [decoded, text]
}

function percentDecoded(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
