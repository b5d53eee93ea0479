import { fault } from '../../../errors/fault.ts'
import type { JsonObject } from '../../json/json.ts'
import { isWebAddress, refuseMember, textMember } from '../settings/portal-fields.ts'

/** Documentation of an API as it came over the wire. */
export interface DocumentationDraft {
  readonly api_id: string
  /** `swagger`, `swagger_custom_url`, `graphql`, `blueprint`, or another type that the portal knows. */
  readonly doc_type: string
  /** Base64 of the text. */
  readonly documentation: string
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const SORT = /^[A-Za-z0-9_.-]{1,64}$/

/**
 * Reads documentation from the wire: base64 (RFC 4648 section 4) of a text of at most `limitBytes`; for `swagger_custom_url` the
 * text is an address of the web. @throws Fault `portal_invalid` (400), `documentation_too_large` (413)
 */
export function readDocumentation(sent: JsonObject, limitBytes: number): DocumentationDraft {
  const type = textMember(sent, 'doc_type', { usual: 'swagger' }) || 'swagger'
  if (!SORT.test(type)) refuseMember('doc_type', 'must be a word such as swagger or graphql')
  if (typeof sent.documentation !== 'string') return refuseMember('documentation', 'must be a text in base64')
  // Tools break it into lines.
  const given = sent.documentation.replace(/[\r\n]+/g, '')
  if (given === '') return refuseMember('documentation', 'is empty')
  if (given.length > Math.ceil(limitBytes / 3) * 4 + 4)
    throw fault('documentation_too_large', `at most ${limitBytes} bytes`)
  if (given.length % 4 !== 0 || !BASE64.test(given)) refuseMember('documentation', 'is not base64')
  const bytes = Buffer.from(given, 'base64')
  if (bytes.length > limitBytes) throw fault('documentation_too_large', `at most ${limitBytes} bytes`)
  const text = decode(bytes)
  if (type === 'swagger_custom_url' && !isWebAddress(text.trim()))
    refuseMember('documentation', 'must be an http or https address without user and password')
  return { api_id: textMember(sent, 'api_id'), doc_type: type, documentation: given }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return refuseMember('documentation', 'is not a text in UTF-8')
  }
}
