import { fault, toFault } from '../../errors/fault.ts'
import { EXTENSION } from '../../model/apis/definition/members.ts'
import { type Flaw, member } from '../../model/apis/definition/tree.ts'
import { toOwnWords } from '../../model/apis/definition/vendor-words.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { decodeBody, readingJsonText } from '../../model/json/json-body.ts'
import { fetchDocument } from '../../publish/apis/fetch-document.ts'
import { isYaml, yamlToJson } from '../../publish/apis/yaml.ts'
import { inTurns } from '../../runtime/turns.ts'
import type { Call } from '../routes/call.ts'
import { largeBodyTurn } from '../server/large-body.ts'
import type { DashboardParts } from '../server/parts.ts'

const FETCH_BYTES = 16 << 20
const FETCH_MS = 10_000

/** An uploaded OpenAPI document, with the extension under our name. */
export interface SentDocument {
  readonly document: JsonObject
  /** The word of the extension's name in the upload, where ours is `svc`. */
  readonly alias: string | undefined
  /** Warnings of what was written into it. */
  readonly warnings: readonly Flaw[]
}

/**
 * Reads the body as an OpenAPI document, JSON or YAML: a body that is no JSON object is read as YAML, with any Content-Type.
 * @throws Fault `body_malformed` (403), `document_malformed` (403) naming the line of broken YAML, `body_too_large` (413), `definition_invalid` (400)
 */
export async function sentDocument(parts: DashboardParts, call: Call): Promise<SentDocument> {
  return named(parts, await parse(call.bytes(), call.header('content-type') ?? ''))
}

/**
 * The same for calls that take the address of a document too, as `{"url": "..."}`.
 * @throws Fault `import_refused` (400), and as `sentDocument`
 */
export async function sentOrNamedDocument(parts: DashboardParts, call: Call): Promise<SentDocument> {
  const body = await parse(call.bytes(), call.header('content-type') ?? '')
  const url = member(body, 'url')
  if (typeof url !== 'string' || member(body, 'openapi') !== undefined) return named(parts, body)
  const { enabled, allow_private: allowPrivate } = parts.config.dashboard.import_url
  if (!enabled) throw fault('import_refused', 'reading documents from addresses is off (dashboard.import_url.enabled)')
  const { bytes, contentType } = await fetchDocument(url, {
    ...{ allowPrivate, setting: 'dashboard.import_url.allow_private' },
    ...{ limitBytes: FETCH_BYTES, totalMs: FETCH_MS },
  })
  return named(parts, await parse(bytes, contentType))
}

/** @throws Fault `definition_invalid` (400) when the extension is missing */
export function withExtension({ document }: SentDocument): JsonObject {
  if (member(document, EXTENSION) === undefined)
    throw fault('definition_invalid', `${EXTENSION}: is missing; a plain document goes to /api/apis/oas/import`)
  return document
}

function named({ config }: DashboardParts, document: JsonObject): SentDocument {
  const { path_matching: matching } = config.compat
  const { definition, alias, warnings } = toOwnWords('oas', document, config.compat.vendor_aliases, matching)
  return { document: definition, alias, warnings }
}

async function parse(bytes: Uint8Array, contentType: string): Promise<JsonObject> {
  const text = mayBeJson(bytes, contentType) ? decodeBody(bytes) : decodeBody(await fromYaml(bytes))
  const value = await inTurns(readingJsonText(text))
  await largeBodyTurn(bytes)
  if (!isObject(value)) throw fault('body_malformed', 'the body is not an object')
  return value
}

function mayBeJson(bytes: Uint8Array, contentType: string): boolean {
  if (isYaml(contentType)) return false
  const first = bytes.find((byte) => byte > 0x20)
  return first === undefined || first === 0x7b || first === 0x5b
}

async function fromYaml(bytes: Uint8Array): Promise<Uint8Array> {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw fault('body_malformed', 'the body is not UTF-8')
  }
  return new TextEncoder().encode(await yamlToJson(text).catch(asDocument))
}

/** Syntax errors of documents name the line; other bodies may hold secrets, a document does not. */
function asDocument(error: unknown): never {
  const found = toFault(error)
  throw found.code === 'body_malformed' ? fault('document_malformed', found.message, error) : error
}
