import { fault, toFault } from '../../errors/fault.ts'
import { isVendorWord } from '../../model/apis/definition/vendor-words.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { decodeBody, readingJsonText, readJson } from '../../model/json/json-body.ts'
import { searchParams } from '../../model/network/media-type.ts'
import { isYaml, yamlToJson } from '../../publish/apis/yaml.ts'
import { inTurns } from '../../runtime/turns.ts'
import type { Exchange } from '../server/exchange.ts'

const BODY_BYTES = 1 << 20
/** API definitions and OpenAPI documents. */
export const DEFINITION_BYTES = 16 << 20

/** One call of the administration API, its secret checked. */
export class AdminRequest {
  readonly query: URLSearchParams
  /** The word for `svc` in this request: responses use it too. */
  readonly word: string
  /** Who did it, for the audit. */
  readonly actor: string
  readonly accept: string | undefined
  readonly #x: Exchange
  readonly #params: ReadonlyMap<string, string>

  /** @throws Fault `query_invalid` when a segment of the path is not percent-encoded UTF-8 */
  constructor(
    x: Exchange,
    word: string,
    placeholders: { readonly names: readonly string[]; readonly values: readonly string[] },
  ) {
    this.#x = x
    this.word = word
    this.query = searchParams(x.query)
    this.actor = `svc ${x.peerAddress}`
    this.accept = x.request.get('accept')
    this.#params = new Map(placeholders.names.map((name, index) => [name, decoded(placeholders.values[index]!)]))
  }

  /**
   * True where the path has a word of `compat.vendor_aliases`: answers then have all members that its scripts read, `POST` replaces
   * an object that is there, and `PUT` creates one that is not.
   */
  get isAlias(): boolean {
    return isVendorWord(this.word)
  }

  /** Scheme and authority that the call was sent to; undefined without a Host field. */
  get origin(): string | undefined {
    const { authority, secure } = this.#x
    return authority === '' ? undefined : `${secure ? 'https' : 'http'}://${authority}`
  }

  /** A placeholder of the route, decoded. */
  param(name: string): string {
    const value = this.#params.get(name)
    if (value === undefined) throw fault('internal', `the route has no placeholder ${name}`)
    return value
  }

  /** True for `?name=1` and any other value but nothing, `0` and `false`. */
  flag(name: string): boolean {
    const value = this.text(name)
    return value !== '' && value !== '0' && value.toLowerCase() !== 'false'
  }

  /** A query parameter; '' when it was not sent. @throws Fault `query_invalid` when it was sent more than once */
  text(name: string): string {
    const [value = '', ...more] = this.query.getAll(name)
    if (more.length > 0) throw fault('query_invalid', `${name} is given more than once`)
    return value
  }

  /**
   * The body as a JSON object of an organisation: `org_id` of the query counts where the body names none.
   * @throws Fault as `object`, `query_invalid` where they name different ones
   */
  async ofOrganisation(): Promise<JsonObject> {
    const body = await this.object()
    const orgId = this.text('org_id')
    if (orgId === '' || body.org_id === orgId) return body
    if ((body.org_id ?? '') === '') return { ...body, org_id: orgId }
    throw fault('query_invalid', 'org_id: the query and the body name different organisations')
  }

  /** The body as a JSON object, with any Content-Type. @throws Fault `body_malformed`, `body_too_large` */
  async object(limitBytes = BODY_BYTES): Promise<JsonObject> {
    return readObject(decodeBody(await this.bytes(limitBytes)), 'JSON')
  }

  /** The body as an OpenAPI document: JSON, or YAML when its Content-Type says so. */
  async document(): Promise<JsonObject> {
    const yaml = isYaml(this.#x.request.get('content-type'))
    const bytes = await this.bytes(DEFINITION_BYTES)
    const text = decodeBody(bytes)
    return yaml ? readObject(await yamlToJson(text), 'YAML') : readObject(text, 'JSON')
  }

  /** The body as it came. */
  async bytes(limitBytes = BODY_BYTES): Promise<Buffer> {
    try {
      return await this.#x.readBody(limitBytes)
    } catch (error) {
      if (toFault(error).code !== 'body_too_large') throw error
      throw fault('body_too_large', `the body is larger than ${limitBytes} bytes`)
    }
  }
}

/** Reads a page number from the query: undefined when none was sent, and under an alias, whose lists have no pages. @throws Fault `query_invalid` */
export function pageOf(request: AdminRequest): number | undefined {
  const text = request.text('p')
  if (text === '' || request.isAlias) return undefined
  if (!/^[1-9]\d{0,6}$/.test(text)) throw fault('query_invalid', 'p must be a page number from 1 on')
  return Number(text)
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (cause) {
    throw fault('query_invalid', 'the path is not percent-encoded UTF-8', cause)
  }
}

/** Reads a JSON object. @throws Fault `body_malformed` (400) as `readJson`, and when it is anything else */
export function parseObject(bytes: Uint8Array): JsonObject {
  return objectIn(readJson(bytes), 'JSON')
}

/** The same of a text, in turns where it is a long one. `language`: what was sent. */
async function readObject(text: string, language: string): Promise<JsonObject> {
  return objectIn(await inTurns(readingJsonText(text)), language)
}

function objectIn(value: Json, language: string): JsonObject {
  if (!isObject(value)) throw fault('body_malformed', `the body is not a ${language} object`)
  return value
}
