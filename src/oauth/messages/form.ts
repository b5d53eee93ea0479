import { Fault, fault } from '../../errors/fault.ts'
import { isObject, type Json } from '../../model/json/json.ts'
import { repeatsMember } from '../../model/json/json-body.ts'
import type { OAuthCall } from '../endpoints/parts.ts'

const LIMIT_BYTES = 65_536
const FORM_TYPE = 'application/x-www-form-urlencoded'
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** These may name several (RFC 8707 section 2, RFC 8693 section 2.1). */
export const MAY_REPEAT: ReadonlySet<string> = new Set(['resource', 'audience'])

/** The parameters of a request. Those without a value count as absent (RFC 6749 section 3.2). */
export class Form {
  readonly #values: ReadonlyMap<string, readonly string[]>

  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.#values = values
  }

  /** The value; undefined when it is absent or empty. @throws Fault `oauth_invalid_request` when it is given more than once */
  get(name: string): string | undefined {
    const values = this.#values.get(name)
    if (values === undefined) return undefined
    if (values.length > 1) throw fault('oauth_invalid_request', `${shown(name)} is given more than once`)
    return values[0] === '' ? undefined : values[0]
  }

  /** All values of a parameter that may be repeated; those without text count as absent. */
  all(name: string): readonly string[] {
    return (this.#values.get(name) ?? []).filter((value) => value !== '')
  }

  /** True when it is there with a value. */
  has(name: string): boolean {
    return this.#values.get(name)?.some((value) => value !== '') ?? false
  }

  /** True when it is there, with a value or without. */
  includes(name: string): boolean {
    return this.#values.has(name)
  }

  /** Names of all parameters, empty ones too, each once. */
  names(): string[] {
    return [...this.#values.keys()]
  }

  /** The parameters of both; one that is in both is given twice. */
  and(other: Form): Form {
    const values = new Map(this.#values)
    for (const [name, more] of other.#values) values.set(name, [...(values.get(name) ?? []), ...more])
    return new Form(values)
  }

  /** The form itself, once it is sure that nothing is given twice (RFC 6749 section 3.2). @throws Fault `oauth_invalid_request` */
  single(): this {
    for (const [name, values] of this.#values) {
      if (values.length > 1 && !MAY_REPEAT.has(name))
        throw fault('oauth_invalid_request', `${shown(name)} is given more than once`)
    }
    return this
  }
}

/**
 * Reads the parameters of a call: a form of at most 64 kB (RFC 6749 appendix B), or a JSON object of strings; one that may be repeated
 * is a list of strings there. An empty body is an empty form with any type. No other parameter may be repeated (section 3.2), used or not, and none may be both here and in the query.
 * @throws Fault `oauth_invalid_request` for such, another type, broken escapes, or bytes that are not UTF-8; `oauth_too_large` (413) for more
 */
export async function readForm(call: OAuthCall): Promise<Form> {
  const form = await readBody(call)
  refuseQuery(call, form)
  return form.single()
}

/** @throws Fault `oauth_invalid_request` for a query that repeats a parameter, its own or one of the body */
function refuseQuery(call: OAuthCall, body: Form): void {
  if (call.query === '') return
  for (const name of parseForm(call.query).single().names()) {
    if (body.includes(name))
      throw fault('oauth_invalid_request', `${shown(name)} is given in the query and in the body`)
  }
}

/**
 * Reads an authorization request: the query, and the body of a POST. The client is informed of a repeated parameter through
 * its redirect URI (RFC 6749 section 4.1.2.1), so the form refuses it when it is asked for.
 * @throws Fault `oauth_invalid_request`
 */
export async function readAuthorizationRequest(call: OAuthCall): Promise<Form> {
  if (call.method === 'GET') return parseForm(call.query)
  const body = await readBody(call)
  return call.query === '' ? body : parseForm(call.query).and(body)
}

async function readBody(call: OAuthCall): Promise<Form> {
  const text = decode(await bodyOf(call))
  if (text === '') return new Form(new Map())
  const type = mediaType(call.header('content-type'))
  if (type === FORM_TYPE) return parseForm(text)
  if (type === 'application/json') return parseJson(text)
  throw fault('oauth_invalid_request', `the body must be ${FORM_TYPE}`)
}

/** Takes a form apart: `+` is a space, escapes must be whole and UTF-8. @throws Fault `oauth_invalid_request` */
export function parseForm(text: string): Form {
  const values = new Map<string, string[]>()
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decodePart(equals < 0 ? pair : pair.slice(0, equals))
    const value = equals < 0 ? '' : decodePart(pair.slice(equals + 1))
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return new Form(values)
}

/** Undoes the escapes of a form's name or value. @throws Fault `oauth_invalid_request` */
function decodePart(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.includes('+') ? text.replaceAll('+', ' ') : text)
  } catch {
    throw fault('oauth_invalid_request', 'a percent-encoding is broken')
  }
}

function parseJson(text: string): Form {
  const values = new Map<string, string[]>()
  for (const [name, value] of Object.entries(objectFrom(text))) {
    const listed = MAY_REPEAT.has(name) && Array.isArray(value) ? value : [value]
    if (!listed.every((each) => typeof each === 'string'))
      throw fault('oauth_invalid_request', `${shown(name)} must be a string`)
    values.set(name, listed)
  }
  return new Form(values)
}

function objectFrom(text: string): object {
  let value: Json
  try {
    value = JSON.parse(text)
  } catch {
    throw fault('oauth_invalid_request', 'the body is not JSON')
  }
  if (!isObject(value)) throw fault('oauth_invalid_request', 'the body must be a JSON object')
  if (repeatsMember(text, value)) throw fault('oauth_invalid_request', 'the body names a member more than once')
  return value
}

async function bodyOf(call: OAuthCall): Promise<Uint8Array> {
  try {
    return await call.body(LIMIT_BYTES)
  } catch (error) {
    if (error instanceof Fault && error.code === 'body_too_large')
      throw fault('oauth_too_large', `the body is larger than ${LIMIT_BYTES} bytes`)
    throw error
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw fault('oauth_invalid_request', 'the body is not UTF-8')
  }
}

/** The type without its parameters, in lower case; '' when another character set than UTF-8 is named. */
function mediaType(value: string | undefined): string {
  if (value === FORM_TYPE) return value
  const [type = '', ...parameters] = (value ?? '').toLowerCase().split(';')
  for (const parameter of parameters) {
    const [name = '', charset = ''] = parameter.split('=')
    if (name.trim() === 'charset' && charset.trim().replaceAll('"', '') !== 'utf-8') return ''
  }
  return type.trim()
}

/** A name as an answer may repeat it. */
function shown(name: string): string {
  return /^[\w.-]{1,64}$/.test(name) ? name : 'a parameter'
}
