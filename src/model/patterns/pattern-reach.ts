import { compilePattern } from './pattern.ts'
import { compileRewritePattern } from './rewrite-target.ts'

// The roles of characters in a path, as bits: which of them a part of an expression takes.
const SLASH = 1
const DOT = 2
const SEMICOLON = 4
const QUESTION = 8
/** Any other that the path can hold. */
const OTHER = 16

/** How far a path has come. */
const START = 0
const BEHIND_SLASH = 1
const BEHIND_DOT = 2
const BEHIND_DOTS = 3
const IN_WORD = 4
const IN_QUERY = 5
const PLACES = 6

const NO_PATH =
  'matches no path: a path begins with "/", has no empty segment, "." or "..", and ends at "?" and "#" (write %3F, %23 for the characters)'

/** Why no path matches a pattern, in words that follow it; undefined when one does. @throws Fault `pattern_invalid` as `compilePattern` */
export function unmatchablePattern(text: string): string | undefined {
  // A path has these characters as escapes alone.
  const expression = compilePattern(text.replace(/%(?:3f|23)/gi, 'x'))
  return matchesSomePath(expression, READABLE_PATH) ? undefined : NO_PATH
}

/** The same for the pattern of a rewrite, which sees the query too. @throws Fault `pattern_invalid` as `compileRewritePattern` */
export function unmatchableRewrite(text: string): string | undefined {
  return matchesSomePath(compileRewritePattern(text), PATH_AND_QUERY) ? undefined : NO_PATH
}

/** The form of paths that expressions are compared with. */
interface PathForm {
  /** True = a query may follow. */
  readonly query: boolean
  /** Characters beside `/`, `.`, `;` and `?`. */
  readonly other: RegExp
}

/** Readable paths: a control character or backslash of a request stays an escape in them. */
const READABLE_PATH: PathForm = { query: false, other: /[^\0-\x1f\x7f\\#]/ }
/** Paths in normal form and their query. */
const PATH_AND_QUERY: PathForm = { query: true, other: /[A-Za-z0-9\-_~!$&'()*+,=:@%]/ }

/**
 * True when there is a path that the expression matches. The expression is walked beside an automaton of what paths there are: they begin
 * with a slash, and no segment is empty, `.` or `..`, with parameters (`;`) or without. It is one that `pattern.ts` has compiled.
 * Linear in its size.
 */
function matchesSomePath({ source }: RegExp, form: PathForm): boolean {
  const automaton = new Automaton(source, form)
  const seen = new Uint8Array(automaton.states.length * PLACES)
  const waiting: number[] = []
  const reach = (state: number, place: number) => {
    const at = state * PLACES + place
    if (seen[at] === 1) return
    seen[at] = 1
    waiting.push(at)
  }
  // A match may begin anywhere in a path.
  for (let place = START; place < (form.query ? PLACES : IN_QUERY); place++) reach(automaton.first, place)
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const place = at % PLACES
    const { takes, asserts, next } = automaton.states[(at - place) / PLACES]!
    if (next.length === 0) return true
    if (asserts === 'start' && place !== START) continue
    // The next part takes nothing more; nothing else could match.
    if (asserts === 'end') {
      if (place !== START && place !== BEHIND_DOT && place !== BEHIND_DOTS && automaton.endsFrom(next)) return true
      continue
    }
    if (takes === 0) for (const state of next) reach(state, place)
    else for (const to of placesBehind(place, takes, form.query)) for (const state of next) reach(state, to)
  }
  return false
}

/** Where a path can come from a place by one of the characters. */
function placesBehind(place: number, takes: number, query: boolean): readonly number[] {
  if (place === START) return (takes & SLASH) === 0 ? [] : [BEHIND_SLASH]
  if (place === IN_QUERY) return [IN_QUERY]
  const places: number[] = []
  const dotted = place === BEHIND_DOT || place === BEHIND_DOTS
  if ((takes & SLASH) !== 0 && place === IN_WORD) places.push(BEHIND_SLASH)
  if ((takes & DOT) !== 0)
    places.push(place === BEHIND_SLASH ? BEHIND_DOT : place === BEHIND_DOT ? BEHIND_DOTS : IN_WORD)
  if ((takes & SEMICOLON) !== 0 && !dotted) places.push(IN_WORD)
  if ((takes & QUESTION) !== 0 && query && !dotted) places.push(IN_QUERY)
  if ((takes & OTHER) !== 0) places.push(IN_WORD)
  return places
}

interface State {
  /** Kinds of characters; 0 = it takes none. */
  readonly takes: number
  readonly asserts: 'start' | 'end' | undefined
  /** None: the expression ends here. */
  readonly next: number[]
}

type Part =
  | { readonly takes: number }
  | { readonly asserts: 'start' | 'end' | undefined }
  | { readonly sequence: readonly Part[] }
  | { readonly alternatives: readonly Part[] }
  | { readonly repeated: Part; readonly optional: boolean; readonly loops: boolean }

/** An expression as states that follow one another. */
class Automaton {
  readonly states: State[] = [{ takes: 0, asserts: undefined, next: [] }]
  readonly first: number
  readonly #form: PathForm
  readonly #text: string
  #at = 0

  constructor(text: string, form: PathForm) {
    this.#text = text
    this.#form = form
    this.first = this.#emit(this.#alternatives(), 0)
  }

  /** True when the end of the expression can be reached without another character. */
  endsFrom(states: readonly number[]): boolean {
    const seen = new Set(states)
    for (const state of seen) {
      const { takes, asserts, next } = this.states[state]!
      if (next.length === 0) return true
      if (takes === 0 && asserts !== 'start') for (const each of next) seen.add(each)
    }
    return false
  }

  #state(takes: number, asserts: State['asserts'], next: number[]): number {
    return this.states.push({ takes, asserts, next }) - 1
  }

  /** The state where a part begins that the state `next` follows. */
  #emit(part: Part, next: number): number {
    if ('sequence' in part) return part.sequence.reduceRight((behind, each) => this.#emit(each, behind), next)
    if ('alternatives' in part)
      return this.#state(
        0,
        undefined,
        part.alternatives.map((each) => this.#emit(each, next)),
      )
    if ('takes' in part) return this.#state(part.takes || NONE, undefined, [next])
    if ('asserts' in part) return this.#state(0, part.asserts, [next])
    const behind: number[] = [next]
    const fork = this.#state(0, undefined, behind)
    const begin = this.#emit(part.repeated, part.loops ? fork : next)
    if (part.loops) behind.push(begin)
    return part.optional ? this.#state(0, undefined, [begin, next]) : begin
  }

  #skip(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #alternatives(): Part {
    const alternatives = [this.#sequence()]
    while (this.#skip('|')) alternatives.push(this.#sequence())
    return alternatives.length === 1 ? alternatives[0]! : { alternatives }
  }

  #sequence(): Part {
    const sequence: Part[] = []
    while (this.#at < this.#text.length && this.#text[this.#at] !== '|' && this.#text[this.#at] !== ')')
      sequence.push(this.#repeated(this.#atom()))
    return { sequence }
  }

  #repeated(part: Part): Part {
    REPEAT.lastIndex = this.#at
    const found = REPEAT.exec(this.#text)
    if (found === null) return part
    this.#at += found[0].length
    const [, sign, least] = found
    return { repeated: part, optional: sign === '*' || sign === '?' || least === '0', loops: sign !== '?' }
  }

  #atom(): Part {
    if (this.#skip('(')) {
      this.#skip('?:')
      const inner = this.#alternatives()
      this.#skip(')')
      return inner
    }
    ATOM.lastIndex = this.#at
    const [text] = ATOM.exec(this.#text)!
    this.#at += text.length
    if (text === '^' || text === '$') return { asserts: text === '^' ? 'start' : 'end' }
    if (text === '\\b' || text === '\\B') return { asserts: undefined }
    return { takes: kindsOf(text, this.#form) }
  }
}

/** Of a part that takes characters, but none of a path. */
const NONE = 32
const REPEAT = /([*+?]|\{(\d+)(?:,\d*)?\})\??/y
const ATOM = /\[(?:\\.|[^\]\\])*\]|\\u[0-9a-f]{4}|\\.|./isy
const ASCII = Array.from({ length: 127 }, (_, code) => String.fromCharCode(code))
const MARKS: readonly (readonly [string, number])[] = [
  ['/', SLASH],
  ['.', DOT],
  [';', SEMICOLON],
  ['?', QUESTION],
]

/** Module state: a cache of immutable values: what follows from the text of an expression. */
const known = new Map<PathForm, Map<string, number>>()
const MOST_KNOWN = 10_000

/** The kinds of characters that an atom of an expression takes. */
function kindsOf(atom: string, form: PathForm): number {
  let kinds = known.get(form)
  if (kinds === undefined || kinds.size >= MOST_KNOWN) {
    kinds = new Map()
    known.set(form, kinds)
  }
  const found = kinds.get(atom)
  if (found !== undefined) return found
  const made = foundKinds(atom, form)
  kinds.set(atom, made)
  return made
}

function foundKinds(atom: string, { other }: PathForm): number {
  const expression = new RegExp(`^${atom}$`)
  const marks = MARKS.filter(([mark]) => expression.test(mark)).reduce((kinds, [, kind]) => kinds | kind, 0)
  const isOther = (char: string) => !'/.;?'.includes(char) && other.test(char) && expression.test(char)
  return [...ASCII, ...atom.split('')].some(isOther) ? marks | OTHER : marks
}
