import type { Coding, CompressionRules } from '../../model/apis/definition/api.ts'
import { isBodiless } from '../../wire/http1/answer.ts'
import { FIELD } from '../../wire/http1/fields.ts'
import { readDirectives } from '../cache/directives.ts'
import type { Exchange, Reply } from '../server/exchange.ts'
import { linesWithout, pairsOf } from '../server/field-lines.ts'
import { ZlibEncoder } from './zlib-encoder.ts'

const MEMBER = /^\s*([!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/

/** Members of one field that are looked at: more have no honest sender. */
const MAX_MEMBERS = 50

/** How an answer goes out that its API has compressed for clients that want it. */
export interface Compression {
  /** undefined = as it is, to this client. */
  readonly coding: Coding | undefined
  /** Fields (lower case) that `lines` replaces, or that no longer hold. */
  readonly dropped: ReadonlySet<string>
  readonly lines: string
  /** The `Vary` among `lines`; '' where the answer has it already. */
  readonly varies: string
}

const COMPRESSIBLE =
  /^(?:text\/|[^;]+\+(?:json|xml|yaml|text)\s*(?:;|$)|application\/(?:json|x-ndjson|ndjson|jsonl|json-seq|javascript|x-javascript|ecmascript|xml|yaml|x-yaml|toml|graphql|sql|wasm|rtf)\s*(?:;|$)|font\/(?:ttf|otf|collection)|image\/(?:bmp|x-icon|vnd\.microsoft\.icon)\s*(?:;|$))/i

const NONE: ReadonlySet<string> = new Set()
/** Digests are those of the bytes as they were, and the upstream's ranges too. */
const NOT_OF_CODED = ['accept-ranges', 'content-digest', 'content-md5', 'digest', 'repr-digest']
const CODED: ReadonlySet<string> = new Set(NOT_OF_CODED)
const CODED_WITH_TAG: ReadonlySet<string> = new Set([...NOT_OF_CODED, 'etag'])
const VARIES = 'Vary: Accept-Encoding\r\n'

/**
 * Decides about the compression of an answer with these field lines; undefined where it would be the same to everybody. `length` of its
 * body, -1 = not known yet. An answer for which browsers may have sent credentials at the wish of another site is not compressed:
 * its length would tell that site of secrets in it (BREACH). A part (206) stays as it is, and varies as the whole would.
 */
export function compressionOf(x: Exchange, status: number, lines: string, length: number): Compression | undefined {
  const rules = x.chain?.api.compression
  if (rules === undefined || status < 200 || isBodiless(status)) return undefined
  const isPart = status === 206
  if (!isPart && length >= 0 && length < rules.minimumBytes) return undefined
  const fields = new Map<string, string>()
  for (const [name, value] of pairsOf(lines)) {
    const lower = name.toLowerCase()
    const before = fields.get(lower)
    fields.set(lower, before === undefined ? value : `${before}, ${value}`)
  }
  if (fields.has('content-encoding') || (fields.has('content-range') && !isPart)) return undefined
  if (!COMPRESSIBLE.test(fields.get('content-type') ?? '')) return undefined
  if (forbidsTransforms(fields.get('cache-control') ?? '') || forbidsTransforms(...x.request.all('cache-control')))
    return undefined
  const varies = variesOf(fields.get('vary') ?? '')
  const coding = isPart ? undefined : codingFor(x, rules)
  if (coding === undefined) return varies === '' ? undefined : { coding, dropped: NONE, lines: varies, varies }
  const tag = fields.get('etag') ?? ''
  const coded = `${varies}Content-Encoding: ${coding}\r\n`
  // Bytes of two codings are two representations, which mean the same (RFC 9110 section 8.8.1).
  if (!tag.startsWith('"')) return { coding, dropped: CODED, lines: coded, varies }
  return { coding, dropped: CODED_WITH_TAG, lines: `${coded}ETag: W/${tag}\r\n`, varies }
}

/** The `Vary` that an answer with this one lacks. */
function variesOf(vary: string): string {
  return /(?:^|,)\s*(?:\*|accept-encoding)\s*(?:,|$)/i.test(vary) ? '' : VARIES
}

function codingFor(x: Exchange, rules: CompressionRules): Coding | undefined {
  return isGuessable(x) ? undefined : preferredCoding(x.request.all('accept-encoding'), rules.encodings)
}

function forbidsTransforms(...cacheControl: readonly string[]): boolean {
  return readDirectives(cacheControl).has('no-transform')
}

/** Schemes of credentials that browsers send by themselves, to requests of other sites too. */
const OF_BROWSERS = /^(?:basic|digest|negotiate|ntlm)\b/i

/** Whether another site can have a browser send this request, with credentials. Browsers say where it comes from. */
function isGuessable({ request, peerCertificate }: Exchange): boolean {
  if (request.get('sec-fetch-site') === 'same-origin') return false
  if (request.known(FIELD.cookie) !== undefined || peerCertificate !== '') return true
  return OF_BROWSERS.test(request.known(FIELD.authorization) ?? '')
}

/** Has the answer of an upstream compressed as it streams; answers its extra lines. */
export function compressStream(x: Exchange, extra: string): string {
  const rules = x.chain?.api.compression
  if (rules === undefined) return extra
  if (x.status === 304) return fieldsOf304(x, rules, extra)
  const length = x.response.known(FIELD.contentLength)
  const made = compressionOf(x, x.status, x.response.kept() + extra, length === undefined ? -1 : Number(length))
  if (made === undefined) return extra
  if (made.coding !== undefined) {
    x.bodyEncoder = ZlibEncoder.open(made.coding)
    if (x.bodyEncoder === undefined) return extra + VARIES
  }
  for (const name of made.dropped) x.response.drop(name)
  return linesWithout(extra, made.dropped) + made.lines
}

/** The answer that was made of an upstream's, compressed. */
export function compressReply(x: Exchange, reply: Reply): Reply {
  const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : Buffer.from(reply.body ?? '')
  const made = compressionOf(x, reply.status, reply.fields, body.length)
  if (made === undefined) return reply
  const fields = linesWithout(reply.fields, made.dropped) + made.lines
  return made.coding === undefined
    ? { ...reply, fields }
    : { ...reply, fields, body: ZlibEncoder.whole(made.coding, body) }
}

/**
 * True when a 304 names the tag of the compressed form: where `If-None-Match` does, or names neither, and the client would get
 * that form. A tag of other bytes would have a cache join parts of both.
 */
export function namesWeakTag({ request, chain }: Exchange, tag: string, coding: Coding | undefined): boolean {
  if (chain?.api.compression === undefined || !tag.startsWith('"')) return false
  const named = request.all('if-none-match').join(', ')
  return named.includes(`W/${tag}`) || (coding !== undefined && !named.includes(tag))
}

/** A 304 has the `Vary` and the tag of the 200 that it replaces (RFC 9110 section 15.4.5). The upstream's does not tell the type. */
function fieldsOf304(x: Exchange, rules: CompressionRules, extra: string): string {
  const { request, response } = x
  const transforms = !forbidsTransforms(...response.all('cache-control'), ...request.all('cache-control'))
  const added = pairsOf(extra).flatMap(([name, value]) => (/^vary$/i.test(name) ? [value] : []))
  const varied = transforms ? extra + variesOf([...response.all('vary'), ...added].join(', ')) : extra
  const tag = response.get('etag') ?? ''
  if (!namesWeakTag(x, tag, transforms ? codingFor(x, rules) : undefined)) return varied
  response.drop('etag')
  return `${varied}ETag: W/${tag}\r\n`
}

/**
 * The coding that a client likes best of these, of equals the first (RFC 9110 section 12.5.3); undefined where it wants none, or likes the
 * bytes as they are better. A client that says nothing may not know any.
 */
function preferredCoding(values: readonly string[], codings: readonly Coding[]): Coding | undefined {
  const weights = new Map<string, number>()
  for (const member of values.join(',').toLowerCase().split(',', MAX_MEMBERS)) {
    const [, name, weight] = MEMBER.exec(member) ?? []
    if (name !== undefined) weights.set(name === 'x-gzip' ? 'gzip' : name, Number(weight ?? 1))
  }
  let best: Coding | undefined
  let most = 0
  for (const coding of codings) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0
    if (weight <= most) continue
    most = weight
    best = coding
  }
  return (weights.get('identity') ?? 0) > most ? undefined : best
}
