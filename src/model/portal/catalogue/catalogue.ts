import { fault } from '../../../errors/fault.ts'
import { isObject, type JsonObject } from '../../json/json.ts'
import { readEntryConfiguration } from '../settings/portal-configuration.ts'
import {
  flagMember,
  isWebAddress,
  objectMember,
  objectsMember,
  readPlaced,
  refuseMember,
  textMember,
  textsMember,
} from '../settings/portal-fields.ts'

/** An entry of the catalogue: a policy, or a keyless API that is only shown. Unknown members are kept. */
export interface CatalogueEntry {
  readonly name: string
  readonly short_description: string
  readonly long_description: string
  readonly show: boolean
  readonly api_id: string
  /** Of the policy, by either of its ids. */
  readonly policy_id: string
  /** Id of a stored documentation; '' = none. */
  readonly documentation: string
  /** `v2`: what portals build their links from. */
  readonly version: string
  readonly is_keyless: boolean
  readonly config: JsonObject
  readonly fields: Readonly<Record<string, string>>
  readonly auth_type: string
}

const MOST_ENTRIES = 1000
const LONGEST_DESCRIPTION = 65_536

/** Reads the entries of a catalogue from the wire. @throws Fault `portal_invalid` (400) naming the field */
export function readEntries(sent: JsonObject): JsonObject[] {
  return objectsMember(sent, 'apis', MOST_ENTRIES).map((entry, index) =>
    readPlaced(`apis[${index}]`, () => readEntry(entry)),
  )
}

/** The entries of a stored catalogue, in order. */
export function entriesOf(body: JsonObject | undefined): JsonObject[] {
  return Array.isArray(body?.apis) ? body.apis.filter(isObject) : []
}

/** The entries that offer a policy, whichever of its ids they name it by. */
function entriesFor(
  entries: readonly JsonObject[],
  policy: { readonly id: string; readonly body: JsonObject },
): JsonObject[] {
  return entries.filter(({ policy_id: id }) => id !== '' && (id === policy.id || id === policy.body.id))
}

/** The entries that offer one of these policies, in the order of the policies, each once. */
export function offersOf(
  entries: readonly JsonObject[],
  policies: readonly { readonly id: string; readonly body: JsonObject }[],
): JsonObject[] {
  return [...new Set(policies.flatMap((policy) => entriesFor(entries, policy)))]
}

/**
 * Merges a list that was sent by a caller who sees only a part: invisible entries keep their positions, sent entries take
 * the positions of the visible ones, in their order, and additional ones come last.
 */
export function replaceVisible<Entry>(
  before: readonly Entry[],
  sees: (entry: Entry) => boolean,
  sent: readonly Entry[],
): Entry[] {
  const waiting = [...sent]
  const kept = before.flatMap((entry) => {
    if (!sees(entry)) return [entry]
    const next = waiting.shift()
    return next === undefined ? [] : [next]
  })
  return [...kept, ...waiting]
}

function readEntry(sent: JsonObject): JsonObject {
  return {
    ...sent,
    name: textMember(sent, 'name'),
    short_description: textMember(sent, 'short_description', { longest: 4096, lines: true }),
    long_description: textMember(sent, 'long_description', { longest: LONGEST_DESCRIPTION, lines: true }),
    show: flagMember(sent, 'show'),
    api_id: textMember(sent, 'api_id'),
    policy_id: textMember(sent, 'policy_id'),
    documentation: textMember(sent, 'documentation'),
    version: textMember(sent, 'version') || 'v2',
    ...(sent.is_keyless != null && { is_keyless: flagMember(sent, 'is_keyless') }),
    config: readEntryConfiguration(objectMember(sent, 'config')),
    fields: textsMember(sent, 'fields'),
    auth_type: textMember(sent, 'auth_type'),
  }
}

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
