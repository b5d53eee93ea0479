import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from './client.ts'

const GENERATED = join(import.meta.dirname, '../../../docs/generated')
/** Statuses that a call must name: others may be under `default`. */
const NAMED = new Set([400, 401, 403, 404, 409, 412])

/** A call as it was sent. */
export interface SentCall {
  readonly method: string
  readonly path: string
  readonly contentType?: string | undefined
  /** Text of the body. */
  readonly body?: string | undefined
}

/** How a value is held against a schema. */
interface Strictness {
  /** Members that are not described are flaws, unless the schema takes further ones. */
  readonly isClosed: boolean
  /** A member that is null counts as absent. */
  readonly isSent: boolean
}

const SENT: Strictness = { isClosed: true, isSent: true }
const OPEN: Strictness = { isClosed: false, isSent: true }
const ANSWERED: Strictness = { isClosed: true, isSent: false }

interface Described {
  readonly operation: JsonObject
  readonly template: readonly string[]
}

/**
 * Checks calls against a published OpenAPI document, as the strictest of generated clients would: the status is named, the media type is
 * declared, and the answer has no member that is not described unless its schema says so. What is accepted has a body of the described form.
 * It reads the document itself, with nothing of the product.
 */
export class ContractCheck {
  readonly #file: string
  #document: JsonObject = {}
  #calls: ReadonlyMap<string, Described[]> | undefined

  /** `file`: a document in `docs/generated`, which the tests of the docs compare with the code. */
  constructor(file: string) {
    this.#file = file
  }

  /** The described operation of a call; undefined where no path of the document fits. */
  operationOf(method: string, path: string): JsonObject | undefined {
    this.#calls ??= this.#read()
    // As it was sent: `.` is the name of something here, and something without a name is not a list.
    const sent = path.split('?', 1)[0]!
    if (sent.endsWith('//')) return undefined
    const asked = segmentsOf(sent)
    const fits = (this.#calls.get(`${method} ${asked.length}`) ?? []).filter(({ template }) =>
      template.every((word, at) => isPlaceholder(word) || word === asked[at]),
    )
    return fits.sort((a, b) => rankOf(a.template).localeCompare(rankOf(b.template)))[0]?.operation
  }

  /** @throws AssertionError naming what the document does not say of this call */
  check(sent: SentCall, answer: Answer): void {
    const flaws = this.flawsOf(sent, answer)
    assert.equal(
      flaws.length,
      0,
      `${sent.method} ${sent.path} answered ${answer.status}: ${answer.text.slice(0, 500)}\n${this.#file}: ${flaws.slice(0, 5).join('\n')}`,
    )
  }

  /** Differences of a call from the document. */
  flawsOf(sent: SentCall, { status, text, json, headers }: Answer): string[] {
    if (sent.method === 'HEAD') return []
    // The listener refuses escapes in the path before any call is looked for, in words of its own.
    if (status === 400 && sent.path.includes('%') && isObject(json) && Object.keys(json).join() === 'error') return []
    const operation = this.operationOf(sent.method, sent.path)
    if (operation === undefined) return status < 400 && !RESOLVED.test(sent.path) ? ['no path fits'] : []
    const { responses } = operation as { responses: JsonObject }
    const named = responses[status] ?? (status < 400 || NAMED.has(status) ? undefined : responses.default)
    if (named === undefined) return [`the status ${status} is not named`]
    const flaws = this.#bodyFlaws((this.#resolved(named).content ?? {}) as JsonObject, headers['content-type'], {
      text,
      json: json as Json | undefined,
    })
    if (status >= 300 || sent.body === undefined || sent.body === '') return flaws
    return [...flaws, ...this.sentFlaws(sent.method, sent.path, sent.body).map((flaw) => `sent: ${flaw}`)]
  }

  /** Differences of a body that is sent from the described one. What a read of the same object shows may be sent back. */
  sentFlaws(method: string, path: string, body: string): string[] {
    const { requestBody } = this.operationOf(method, path) ?? {}
    if (!isObject(requestBody)) return []
    const flaws = this.#sentFlaws(this.#resolved(requestBody).content as JsonObject, body)
    const shown = flaws.length === 0 ? [] : [...this.#shownMembers(path), ...NOBODYS]
    return flaws.filter((flaw) => !shown.some((name) => flaw === `/${name} is not described`))
  }

  /** Members of the object at a path, or of those in the list there, as reads show them. */
  #shownMembers(path: string): string[] {
    const plain = path.split('?', 1)[0]!.replace(/\/$/, '')
    return [plain, `${plain}/{}`].flatMap((each) => {
      const responses = this.operationOf('GET', each)?.responses
      const answer = isObject(responses) && isObject(responses[200]) ? this.#resolved(responses[200]) : {}
      const schema = ((answer.content as JsonObject)?.['application/json'] as JsonObject | undefined)?.schema
      const { properties } = this.#resolved(schema ?? {})
      return isObject(properties) ? Object.keys(properties) : []
    })
  }

  #bodyFlaws(
    content: JsonObject,
    contentType: string | undefined,
    { text, json }: { readonly text: string; readonly json: Json | undefined },
  ): string[] {
    if (Object.keys(content).length === 0) return text === '' ? [] : ['no body is described']
    const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
    const found = content[type]
    if (!isObject(found))
      return text === '' && type === '' ? [] : [`the media type ${type || 'of nothing'} is not described`]
    if (type !== 'application/json') return []
    return json === undefined ? ['the body is no JSON'] : this.schemaFlaws(found.schema, json, ANSWERED)
  }

  /** Bodies are read as JSON with any Content-Type, unless a call takes forms: of these the names count, as values are texts. */
  #sentFlaws(content: JsonObject, body: string): string[] {
    const json = parsed(body)
    const found = content['application/json']
    if (json !== undefined) return isObject(found) ? this.schemaFlaws(found.schema, json, SENT) : []
    const form = content[FORM]
    if (!isObject(form) || !isObject(form.schema)) return []
    const { properties = {}, additionalProperties: rest } = this.#resolved(form.schema)
    if (rest !== undefined) return []
    const names = [...new Set(new URLSearchParams(body).keys())]
    return names.filter((name) => !Object.hasOwn(properties as object, name)).map((name) => `/${name} is not described`)
  }

  /** How a value differs from a schema. */
  schemaFlaws(schema: Json | undefined, value: Json, how: Strictness, at = ''): string[] {
    this.#calls ??= this.#read()
    if (!isObject(schema)) return []
    const known = this.#resolved(schema)
    if (value === null && known.nullable === true) return []
    if (known.description === 'Always null.') return value === null ? [] : [`${at} is not null`]
    const inside = (part: Json | undefined, each: Json, name: string | number) =>
      this.schemaFlaws(part, each, how, `${at}/${name}`)
    const also = known['x-svc-also']
    if (Array.isArray(also) && also.some((form) => this.schemaFlaws(form, value, how, at).length === 0)) return []
    const flaws = scalarFlaws(known, value, at)
    if (flaws.length > 0) return flaws
    if (Array.isArray(known.allOf)) flaws.push(...known.allOf.flatMap((part) => this.schemaFlaws(part, value, how, at)))
    const options = known.anyOf ?? known['x-svc-any-of']
    if (Array.isArray(options)) {
      const all = options.map((part) => this.schemaFlaws(part, value, how, at))
      if (all.every((each) => each.length > 0)) flaws.push(...all.sort((a, b) => a.length - b.length)[0]!)
    }
    if (isObject(known.not) && this.schemaFlaws(known.not, value, OPEN, at).length === 0)
      flaws.push(`${at} is excluded`)
    if (Array.isArray(value)) return [...flaws, ...value.flatMap((each, index) => inside(known.items, each, index))]
    if (!isObject(value)) return flaws
    const members = isObject(known.properties) ? known.properties : undefined
    const rest = known.additionalProperties
    for (const name of (known.required ?? []) as string[])
      if (!Object.hasOwn(value, name)) flaws.push(`${at} has no ${name}`)
    // An object without described members and without a word about others holds none; a part of `allOf` says nothing of the rest.
    const isWhole = known.type === 'object' && known.allOf === undefined && options === undefined
    for (const [name, each] of Object.entries(value)) {
      // In bodies that are sent a null counts as absent.
      if (each === null && how.isSent) continue
      if (members !== undefined && isAlsoSpelled(members, name)) continue
      if (members !== undefined && Object.hasOwn(members, name)) flaws.push(...inside(members[name], each, name))
      else if (isObject(rest)) flaws.push(...inside(rest, each, name))
      else if (rest === false || (how.isClosed && rest === undefined && isWhole))
        flaws.push(`${at}/${name} is not described`)
    }
    return flaws
  }

  #resolved(schema: Json): JsonObject {
    if (!isObject(schema)) return {}
    if (typeof schema.$ref !== 'string') return schema
    const found = schema.$ref
      .slice('#/'.length)
      .split('/')
      .reduce<Json | undefined>((where, name) => (isObject(where) ? where[name] : undefined), this.#document)
    assert.ok(isObject(found), `${schema.$ref} is not in ${this.#file}`)
    return this.#resolved(found)
  }

  #read(): ReadonlyMap<string, Described[]> {
    this.#document = JSON.parse(readFileSync(join(GENERATED, this.#file), 'utf8')) as JsonObject
    const calls = new Map<string, Described[]>()
    for (const [path, methods] of Object.entries(this.#document.paths as JsonObject)) {
      const template = segmentsOf(path)
      for (const [method, operation] of Object.entries(methods as JsonObject)) {
        const doubles = (operation as JsonObject)['x-svc-alias']
        for (const each of typeof doubles === 'string' ? [template, segmentsOf(doubles)] : [template]) {
          const key = `${method.toUpperCase()} ${each.length}`
          calls.set(key, [...(calls.get(key) ?? []), { operation: operation as JsonObject, template: each }])
        }
      }
    }
    return calls
  }
}

/** True for another spelling of a member, which its description names: generators make one name of two that differ in letter case alone. */
function isAlsoSpelled(members: JsonObject, name: string): boolean {
  return Object.values(members).some(
    (member) => isObject(member) && String(member.description).includes(`Also spelled \`${name}\``),
  )
}

/** Members that nobody may set: tests send them to see that they count nowhere. */
const NOBODYS: readonly string[] = [
  ...['id', '_id', 'ID', 'dbId', 'org_id', 'orgId', 'OrgID', 'api_id', 'client_id', 'key_hash', 'developer_id'],
  ...[
    'access_key',
    'access_hmac',
    'access_sealed',
    'password_hash',
    'password_updated',
    'PWHistory',
    'totp',
    'passkeys',
  ],
  ...['recovery_codes', 'last_login_date', 'created_at', 'revision', 'sealed'],
]

const FORM = 'application/x-www-form-urlencoded'

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Paths that lead elsewhere than where they seem to. */
const RESOLVED = /\/\/|\/\.\.?(?:\/|$)/
/** Whole numbers of 32 bits are the usual ones of generators. */
const MOST_SHORT = 2_147_483_647
/** Formats, in the least that their standards say. */
const FORMATS: Readonly<Record<string, RegExp>> = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  email: /^[^\s@]+@[^\s@]+$/,
  uri: /^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$/,
}

/** How a value differs from type, values and bounds. */
function scalarFlaws(schema: JsonObject, value: Json, at: string): string[] {
  const { type, enum: values, format, pattern, minimum, maximum, minLength, maxLength, maxItems } = schema
  const isOfType =
    type === undefined ||
    (type === 'array' && Array.isArray(value)) ||
    (type === 'object' && isObject(value)) ||
    (type === 'integer' && Number.isInteger(value)) ||
    (type !== 'object' && typeof value === type)
  if (!isOfType) return [`${at} is ${JSON.stringify(value)?.slice(0, 80)}, not of type ${type}`]
  const flaws: string[] = []
  const flaw = (isFlaw: boolean, text: string) => isFlaw && flaws.push(`${at} is ${JSON.stringify(value)}: ${text}`)
  if (Array.isArray(values)) flaw(!values.some((each) => each === value), `not one of ${values.join(', ')}`)
  if (typeof value === 'string') {
    if (typeof format === 'string' && format in FORMATS) flaw(!FORMATS[format]!.test(value), `no ${format}`)
    if (typeof pattern === 'string') flaw(!new RegExp(pattern, 'u').test(value), `does not match ${pattern}`)
    if (typeof minLength === 'number') flaw(value.length < minLength, `shorter than ${minLength}`)
    if (typeof maxLength === 'number') flaw([...value].length > maxLength, `longer than ${maxLength}`)
  }
  if (typeof value === 'number') {
    const isLong = type === 'integer' && Math.abs(value) > MOST_SHORT
    flaw(isLong && format !== 'int64', 'too large for a whole number without a format')
    if (typeof minimum === 'number')
      flaw(schema.exclusiveMinimum === true ? value <= minimum : value < minimum, `below ${minimum}`)
    if (typeof maximum === 'number')
      flaw(schema.exclusiveMaximum === true ? value >= maximum : value > maximum, `above ${maximum}`)
  }
  if (Array.isArray(value) && typeof maxItems === 'number') flaw(value.length > maxItems, `more than ${maxItems}`)
  return flaws
}

const isPlaceholder = (word: string) => word.startsWith('{')
const segmentsOf = (path: string) => path.split('/').filter((segment) => segment !== '')
const rankOf = (template: readonly string[]) => template.map((word) => (isPlaceholder(word) ? '1' : '0')).join('')
