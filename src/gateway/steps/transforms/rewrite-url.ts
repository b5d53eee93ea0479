import { Fault, fault, prebuilt } from '../../../errors/fault.ts'
import type { RewriteRule } from '../../../model/apis/definition/operation.ts'
import { encodedPath, otherReadings, readablePath, textOfReadable } from '../../../model/patterns/readable-path.ts'
import type { RewritePiece } from '../../../model/patterns/rewrite-target.ts'
import { markEscapes, markSeparators, withEscapes, withoutMarks } from '../../../model/patterns/sent-escapes.ts'
import { escapedBytes, holdsEncodedSlash, readPath } from '../../../wire/http1/path.ts'
import { readDecoded } from '../../compression/decode.ts'
import { ENCODED_SLASH } from '../../routing/encoded-slashes.ts'
import type {
  CompiledRewrite,
  CompiledTarget,
  CompiledTrigger,
  CompiledTriggerRule,
  Exchange,
  Step,
  StepOutcome,
} from '../../server/exchange.ts'
import { canonicalName, metaText, variableText } from '../../server/variables.ts'
import { openValues } from '../authentication/drop-unverified.ts'
import { queryValues } from '../authentication/read-credential.ts'
import { redirectByName, redirectInternally } from './redirect-internally.ts'

const UNCLEAR = prebuilt('request_malformed', 'with its encoded slashes decoded the path is rewritten in another way')
const CLIMBS = prebuilt('request_malformed', 'the path climbs')
const HOLDS_NUL = prebuilt('request_malformed', 'the path is rewritten to one that holds %00')
const TOO_LONG = prebuilt('request_malformed', 'the path is rewritten to one that is too long')

/** A target may name a part of the request many times. Longer than most servers take a head. */
const MAX_REWRITTEN = 65_536

/** Largest body that triggers look at; a larger one is refused (413). */
const MAX_SEARCHED_BYTES = 1_048_576

/** Bytes that a path holds as escapes only, and a `%` that begins none. */
const BARE_IN_TARGET = /[^\0-\x7f]|[[\]{}|^`\\]|%(?![0-9A-Fa-f]{2})/g

/** A dot segment, in any spelling of its dots. */
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i

/** The match of a trigger's rule with its groups, by its name and the index of the value, without one where there is one value. */
type Finds = Map<string, readonly (string | undefined)[]>

/** Rewrites path and query where the operation says so; may lead to another origin or API. */
export function rewriteUrl(rules: readonly (RewriteRule | undefined)[]): Step | undefined {
  if (rules.every((rule) => rule === undefined)) return undefined
  return function rewriteUrl(x) {
    const rewrite = x.operation?.rewrite
    if (rewrite === undefined) return undefined
    const matches = matchesOf(x, rewrite)
    if (matches.length === 0) return undefined
    // An explained request has no body.
    return rewrite.readsBody && !x.dry ? withBody(x, rewrite, matches) : choose(x, rewrite, matches, '')
  }
}

/** The match of the pattern in a path that the request may be for. */
interface Match {
  readonly path: string
  readonly found: RegExpExecArray
}

/** In the path as it is, where what was sent as escapes is marked, and with its encoded slashes decoded. */
function matchesOf(x: Exchange, { matcher, markedMatcher }: CompiledRewrite): Match[] {
  const query = x.hasQuery ? `?${x.forwardQuery}` : ''
  const own = (x.chain!.api.pathMatching === 'openapi' ? x.rest : x.apiPath) || '/'
  const marked = markEscapes(own, x.forwardPath)
  const first = (marked === own ? matcher : markedMatcher()).exec(marked + query, x)
  const matches = first === null ? [] : [{ path: own, found: first }]
  if (!holdsEncodedSlash(own)) return matches
  for (const path of otherReadings(readablePath(own)).map(encodedPath)) {
    const found = matcher.exec(path + query, x)
    if (found !== null) matches.push({ path, found })
  }
  return matches
}

async function withBody(x: Exchange, rewrite: CompiledRewrite, matches: readonly Match[]): Promise<StepOutcome> {
  const limit = Math.min(x.bodyLimitBytes || MAX_SEARCHED_BYTES, MAX_SEARCHED_BYTES)
  if (x.body === undefined && x.bodyLength === 0) return choose(x, rewrite, matches, '')
  const body = await readDecoded(x, limit)
  if ('reason' in body) return fault('request_malformed', `the body ${body.reason}`)
  return choose(x, rewrite, matches, body.bytes.toString('utf8'))
}

/** Refuses a request that is rewritten in several ways, by what its upstream may take it for. */
function choose(x: Exchange, rewrite: CompiledRewrite, matches: readonly Match[], body: string) {
  const [first, ...others] = matches.map(({ path, found }) => {
    const finds: Finds = new Map()
    const index = rewrite.triggers.findIndex((trigger) => holds(x, trigger, { path, body }, finds))
    const target = rewrite.triggers[index]?.target ?? rewrite.target
    return { target, text: target === undefined ? '' : textOf(x, target, found, { index, finds }) }
  })
  for (const { target, text } of others)
    if (target !== first!.target || withSlashes(text) !== withSlashes(first!.text)) return UNCLEAR
  return first!.target === undefined ? undefined : apply(x, first!.target, first!.text)
}

const withSlashes = (text: string | Fault) =>
  text instanceof Fault
    ? text
    : withoutMarks(text)
        .replace(/%(?:2F|5C)/gi, '/')
        .replace(/\/{2,}/g, '/')

/** Where triggers look, besides the request itself. */
interface Searched {
  readonly path: string
  readonly body: string
}

function holds(x: Exchange, { all, rules }: CompiledTrigger, searched: Searched, finds: Finds): boolean {
  finds.clear()
  for (const rule of rules) {
    const met = isMet(x, rule, searched, finds)
    if (!met && all) return false
    if (met && !all) return true
  }
  return all
}

/** True where a value of the request matches, or one does not, as the rule asks; without a value no rule holds. */
function isMet(x: Exchange, rule: CompiledTriggerRule, searched: Searched, finds: Finds): boolean {
  let found = 0
  let others = 0
  valuesOf(x, rule, searched).forEach((value, index) => {
    const matches = rule.matcher.execAll(value, x, rule.most)
    if (matches.length === 0) {
      others++
      return
    }
    // Parts of a path are counted by those that match.
    const first = rule.in === 'path' ? found : index
    for (const name of namesOf(rule))
      for (const [at, match] of matches.entries()) finds.set(`${name}-${first + at}`, match)
    if (['body', 'session', 'context'].includes(rule.in)) keepSingle(finds, rule, matches[0]!)
    found++
  })
  return rule.negate ? others > 0 : found > 0
}

/** Fields may be named as the rule does, or as they usually are spelled. */
function namesOf({ in: place, name }: CompiledTriggerRule): Iterable<string> {
  return place === 'header' ? new Set([name, canonicalName(name)]) : [name]
}

/** The only value of a name needs no index: behind the name, the numbers are those of groups. */
function keepSingle(finds: Finds, rule: CompiledTriggerRule, match: RegExpExecArray): void {
  finds.set(rule.name, match)
  if (rule.in === 'body') return
  for (const [at, group] of match.slice(1).entries()) finds.set(`${rule.name}-${at}`, [group, group])
}

function valuesOf(x: Exchange, { in: place, name }: CompiledTriggerRule, { path, body }: Searched): readonly string[] {
  if (place === 'header') return openValues(x, name.toLowerCase())
  if (place === 'query') return x.hasQuery ? queryValues(x.forwardQuery, name).map((value) => value ?? '') : []
  if (place === 'path') return pathParts(path)
  if (place === 'body') return [body]
  const text = place === 'context' ? variableText(x, { context: name }) : metaText(x, name)
  return text === '' ? [] : [text]
}

/** The first part is the empty one before the first slash, which only rules that negate can meet: so the incumbent counts. */
function pathParts(rest: string): string[] {
  const parts = readablePath(rest).split('/')
  return ['', ...parts.filter((part) => part !== '').map(textOfReadable)]
}

interface Taken {
  readonly index: number
  readonly finds: Finds
}

/** The path and query that a target makes, or why there is none: a part of the request brings an encoded slash that the API does not take. */
function textOf(x: Exchange, { pieces }: CompiledTarget, match: RegExpExecArray, taken: Taken): string | Fault {
  let text = ''
  let place: Place = 'path'
  for (const piece of pieces) {
    const own = expanded(x, piece, match, taken, place)
    const inPath = place === 'path' ? own.split('?', 1)[0]! : ''
    if (typeof piece !== 'string' && /%(?:2F|5C)|\\/i.test(inPath) && !x.chain!.api.allowEncodedSlashes)
      return ENCODED_SLASH
    text += own
    if (text.length > MAX_REWRITTEN) return TOO_LONG
    place = placeBehind(place, own)
  }
  return text
}

function apply(x: Exchange, target: CompiledTarget, marked: string | Fault) {
  if (marked instanceof Fault) return marked
  const made = withEscapes(marked)
  const slash = target.namesApi ? made.indexOf('/') : 0
  const text = made.slice(slash)
  const mark = text.indexOf('?')
  // Bytes that a query holds bare are escapes in a path.
  const path = escapedBytes(mark === -1 ? text : text.slice(0, mark), BARE_IN_TARGET)
  const query = mark === -1 ? undefined : text.slice(mark + 1)
  // Input of callers must not lead out of the place that the definition names.
  if (DOT_SEGMENT.test(path) || readPath(path) instanceof Error) return CLIMBS
  if (path.includes('%00')) return HOLDS_NUL
  if (target.namesApi) return redirectByName(x, made.slice(0, slash), path, query)
  if (target.api !== '') return redirectInternally(x, target.api, path, query)
  x.forwardPath = belowListenPath(x, target, path)
  x.hasQuery = query !== undefined
  x.forwardQuery = query ?? ''
  if (target.targets !== undefined) x.operation = { ...x.operation!, targets: target.targets }
  return undefined
}

/**
 * The path that a rewrite made as the upstream gets it: where patterns see the listen path, what they lead to may begin with it again,
 * and loses it as the path of the request did.
 */
function belowListenPath(x: Exchange, { relative }: CompiledTarget, made: string): string {
  const { pathMatching, stripListenPath, listenPath } = x.chain!.api
  const path = relative && made.startsWith('//') ? made.slice(1) : made
  const isWritten = !relative || path !== made
  if (pathMatching === 'openapi' || !stripListenPath || x.restAt === 0 || !isWritten) return path
  const listened = x.path.slice(0, x.restAt)
  if (path.startsWith(`${listened}/`)) return path.slice(listened.length).replace(/^\/+/, '/')
  return path === listened && !listenPath.endsWith('/') ? '/' : path
}

/** Where a piece is added: to the path, the name of a parameter or its value. */
type Place = 'path' | 'name' | 'value'

/** The place behind a text that was added at a place. Only the text is looked at: a target may have thousands of pieces. */
function placeBehind(place: Place, own: string): Place {
  const mark = place === 'path' ? own.indexOf('?') : -1
  if (place === 'path' && mark === -1) return place
  const separator = own.lastIndexOf('&')
  if (own.includes('=', Math.max(mark, separator))) return 'value'
  return separator > mark || place === 'path' ? 'name' : place
}

/**
 * A group of the pattern: a part of the path or query as it was sent. What is of the path stays one value where it goes into the value of
 * a parameter, because `&` separates nothing in a path.
 */
function groupOf(match: RegExpExecArray, group: number, place: Place): string {
  const text = match[group] ?? ''
  if (text === '' || place !== 'value') return text
  const [path] = match[0].split('?', 1)
  const [own] = text.split('?', 1)
  // A match that begins behind the `?` is of the query alone.
  const isOfPath = !match.input.slice(0, match.index).includes('?') && path!.includes(own!)
  return isOfPath ? markSeparators(own!) + text.slice(own!.length) : text
}

/** The text that a piece adds at a place. Variables and finds of triggers are escaped, but for the slashes of a path in a path. */
function expanded(
  x: Exchange,
  piece: RewritePiece,
  match: RegExpExecArray,
  { index, finds }: Taken,
  place: Place,
): string {
  const blank = place === 'path' ? '%20' : '+'
  const escaped = (own: string) => encodeURIComponent(own.toWellFormed()).replaceAll('%20', blank)
  if (typeof piece === 'string') return piece
  if ('context' in piece && piece.context === 'path' && place === 'path')
    return variableText(x, piece).split('/').map(escaped).join('/').replace(/^\//, '')
  if ('meta' in piece || 'context' in piece) return escaped(variableText(x, piece))
  if (!('trigger' in piece)) return groupOf(match, piece.group, place)
  if (piece.trigger !== index) return ''
  return escaped(finds.get(piece.found)?.[piece.group] ?? '')
}
