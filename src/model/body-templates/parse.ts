import { contextNamesInTemplate } from '../patterns/variables.ts'
import { FUNCTIONS, type TemplateFunction } from './functions.ts'

/** An error of a template, and its place: lines and columns count from 1. */
export class TemplateFlaw extends Error {
  constructor(text: string, at: number, reason: string) {
    const before = text.slice(0, at)
    const line = before.split('\n').length
    super(`line ${line}, column ${at - before.lastIndexOf('\n')}: ${reason}`)
  }
}

/** A part of a template: literal text, or the text between `{{` and `}}`. */
type TemplatePiece =
  | { readonly kind: 'text'; readonly text: string; readonly at: number }
  | { readonly kind: 'action'; readonly tokens: readonly Token[]; readonly at: number }

/** A word of an action. */
interface Token {
  readonly kind: 'path' | 'name' | 'value' | 'sign'
  /** As it is written; of a path, names joined by dots behind `.` or `$name`. */
  readonly text: string
  readonly value: string | number | boolean | null
  readonly at: number
  /** True when it follows the word before without a blank. */
  readonly joined: boolean
}

const WORDS: Readonly<Record<string, boolean | null>> = { true: true, false: false, nil: null }
const BLANK = /\s*/y
const PATH = /(?:\$\w*)?(?:\.[A-Za-z_]\w*)+|\$\w*|\.(?!\w)/y
const NUMBER = /[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y
const NAME = /[A-Za-z_]\w*/y
const QUOTED = /"(?:[^"\\\r\n]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y
const RAW = /`[^`]*`/y
const SIGN = /:=|[=|(),]/y

/** Cuts a template into pieces, blanks taken away where `{{-` and `-}}` ask for it. @throws TemplateFlaw */
function piecesOf(text: string): TemplatePiece[] {
  const pieces: TemplatePiece[] = []
  let from = 0
  let trims = false
  while (from <= text.length) {
    const open = text.indexOf('{{', from)
    const end = open === -1 ? text.length : open
    const trimsBefore = open !== -1 && /^\{\{-\s/.test(text.slice(open, open + 4))
    pushText(pieces, text.slice(from, end), from, trims, trimsBefore)
    if (open === -1) break
    const inside = open + (trimsBefore ? 3 : 2)
    const comment = /^\s*\/\*[\s\S]*?\*\/\s*-?\}\}/.exec(text.slice(inside))
    const action = comment === null ? actionAt(text, open, inside) : undefined
    from = action?.end ?? inside + comment![0].length
    trims = text.slice(from - 3, from) === '-}}' && /\s/.test(text[from - 4] ?? '')
    if (action !== undefined) pieces.push({ kind: 'action', tokens: action.tokens, at: open })
  }
  return pieces
}

function pushText(pieces: TemplatePiece[], raw: string, at: number, trimsStart: boolean, trimsEnd: boolean): void {
  const start = trimsStart ? raw.trimStart() : raw
  const text = trimsEnd ? start.trimEnd() : start
  if (text !== '') pieces.push({ kind: 'text', text, at })
}

function actionAt(text: string, open: number, inside: number): { tokens: Token[]; end: number } {
  const tokens: Token[] = []
  let at = inside
  for (;;) {
    const blankEnd = at + matched(BLANK, text, at).length
    const joined = blankEnd === at && tokens.length > 0
    at = blankEnd
    if (text.startsWith('}}', at)) return { tokens, end: at + 2 }
    if (text.startsWith('-}}', at) && /\s/.test(text[at - 1] ?? '')) return { tokens, end: at + 3 }
    if (at >= text.length) throw new TemplateFlaw(text, open, 'is not closed by "}}"')
    const token = tokenAt(text, at, joined)
    tokens.push(token)
    at += token.text.length
  }
}

function tokenAt(text: string, at: number, joined: boolean): Token {
  const make = (kind: Token['kind'], word: string, value: Token['value'] = null): Token => ({
    ...{ kind, value, at, joined },
    text: word,
  })
  const path = matched(PATH, text, at)
  if (path !== '') return make('path', path)
  const number = matched(NUMBER, text, at)
  if (number !== '') return make('value', number, Number(number))
  const name = matched(NAME, text, at)
  if (name !== '') return Object.hasOwn(WORDS, name) ? make('value', name, WORDS[name]!) : make('name', name)
  const quoted = matched(QUOTED, text, at)
  if (quoted !== '') return make('value', quoted, JSON.parse(quoted) as string)
  const raw = matched(RAW, text, at)
  if (raw !== '') return make('value', raw, raw.slice(1, -1))
  const sign = matched(SIGN, text, at)
  if (sign !== '') return make('sign', sign)
  throw new TemplateFlaw(text, at, `${JSON.stringify(text.slice(at, at + 10))} is not valid in an action`)
}

function matched(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}

/** Longest template, in characters. */
const MAX_TEMPLATE = 65_536
const MAX_DEPTH = 32

/** Reads a template (syntax: docs/reference/operations.md). @throws TemplateFlaw with line and column */
export function parseBodyTemplate(source: string): BodyTemplate {
  if (source.length > MAX_TEMPLATE) throw new TemplateFlaw(source, 0, `is longer than ${MAX_TEMPLATE} characters`)
  const pieces = piecesOf(source)
  const output = outputOf(pieces)
  const parser = new Parser(source, pieces, output)
  const nodes = parser.whole()
  return { source, output, nodes, reserved: [...parser.reserved], contextNames: contextNamesInTemplate(source) }
}

/** By the first text that is not blank. A template of actions alone gives text. */
function outputOf(pieces: readonly TemplatePiece[]): TemplateOutput {
  for (const piece of pieces) {
    const start = piece.kind === 'text' ? piece.text.trimStart()[0] : undefined
    if (start !== undefined) return '{["'.includes(start) ? 'json' : start === '<' ? 'xml' : 'text'
  }
  return 'text'
}

/** Names that the documents of some vendor have for the request and for metadata. */
const RESERVED = /^_[a-z][a-z0-9]*_(?:context|meta)$/

/** Words that end or part a block. */
type Ending = { readonly word: 'end' | 'else'; readonly rest: readonly Token[]; readonly at: number }

const BLOCKS = new Set(['if', 'range', 'with'])
const NOT_SERVED = new Set(['block', 'define', 'template'])

class Parser {
  readonly #source: string
  readonly #pieces: readonly TemplatePiece[]
  readonly #output: TemplateOutput
  readonly reserved = new Set<string>()
  #next = 0
  #depth = 0
  #loops = 0
  /** Variables in force, the innermost last. */
  #names: string[] = ['$']

  constructor(source: string, pieces: readonly TemplatePiece[], output: TemplateOutput) {
    this.#source = source
    this.#pieces = pieces
    this.#output = output
  }

  whole(): TemplateNode[] {
    const { nodes, ending } = this.#list()
    if (ending !== undefined) throw this.#flaw(ending.at, `"${ending.word}" without "if", "range" or "with"`)
    return nodes
  }

  #flaw(at: number, reason: string): TemplateFlaw {
    return new TemplateFlaw(this.#source, at, reason)
  }

  /** Everything up to the `end` or `else` of its block. */
  #list(): { nodes: TemplateNode[]; ending: Ending | undefined } {
    const nodes: TemplateNode[] = []
    while (this.#next < this.#pieces.length) {
      const piece = this.#pieces[this.#next++]!
      if (piece.kind === 'text') {
        nodes.push(this.#text(piece))
        continue
      }
      const [first, ...rest] = piece.tokens
      if (first === undefined) throw this.#flaw(piece.at, 'holds nothing')
      if (first.kind === 'name' && (first.text === 'end' || first.text === 'else'))
        return { nodes, ending: { word: first.text, rest, at: piece.at } }
      nodes.push(this.#action(first, rest, piece))
    }
    return { nodes, ending: undefined }
  }

  /** Within JSON a backslash would take the first character of what is printed for its own. */
  #text({ text, at }: TemplatePiece & { kind: 'text' }): TemplateNode {
    if (this.#output === 'json' && /(?:^|[^\\])(?:\\\\)*\\$/.test(text))
      throw this.#flaw(at + text.length, 'must not follow a backslash')
    return {
      kind: 'text',
      text,
      endsInString: { outside: endsInString(text, false), inside: endsInString(text, true) },
    }
  }

  #action(first: Token, rest: readonly Token[], { at, tokens }: TemplatePiece & { kind: 'action' }): TemplateNode {
    const word = first.kind === 'name' ? first.text : ''
    if (NOT_SERVED.has(word)) throw this.#flaw(at, `"${word}" is not served here`)
    if (BLOCKS.has(word)) return this.#block(word as 'if', rest, at)
    if (word === 'break' || word === 'continue') {
      if (this.#loops === 0 || rest.length > 0) throw this.#flaw(at, `"${word}" is allowed only within "range"`)
      return { kind: word }
    }
    const [variable, sign] = tokens
    if (variable?.kind === 'path' && sign?.kind === 'sign' && (sign.text === ':=' || sign.text === '='))
      return this.#assignment(variable, sign, tokens.slice(2))
    return { kind: 'print', value: this.#pipeline(tokens, at) }
  }

  #assignment(variable: Token, sign: Token, rest: readonly Token[]): TemplateNode {
    const name = this.#variable(variable)
    const value = this.#pipeline(rest, sign.at)
    const declares = sign.text === ':='
    if (declares) this.#names.push(name)
    else this.#known(name, variable.at)
    return { kind: 'set', name, declares, value }
  }

  #variable({ text, at }: Token): string {
    if (!/^\$\w+$/.test(text)) throw this.#flaw(at, `${text} is not the name of a variable`)
    return text
  }

  #known(name: string, at: number): void {
    if (!this.#names.includes(name)) throw this.#flaw(at, `the variable ${name} is not known here`)
  }

  #block(word: 'if' | 'with' | 'range', head: readonly Token[], at: number): TemplateNode {
    if (++this.#depth > MAX_DEPTH) throw this.#flaw(at, `is nested deeper than ${MAX_DEPTH} levels`)
    if (word === 'range') this.#loops++
    const branches: Branch[] = []
    const before = this.#names.length
    let { branch, ending } = this.#branch(head, at, word === 'range' ? 2 : 1)
    if (word === 'range') this.#loops--
    branches.push(branch)
    let otherwise: readonly TemplateNode[] = []
    while (ending?.word === 'else') {
      const [also, ...rest] = ending.rest
      if (also === undefined) {
        const last = this.#list()
        this.#names.length = before
        otherwise = last.nodes
        if (last.ending?.word === 'else') throw this.#flaw(last.ending.at, 'a second "else"')
        ending = last.ending
        break
      }
      if (also.text !== word || word === 'range') throw this.#flaw(ending.at, `"else ${also.text}" has no place here`)
      ;({ branch, ending } = this.#branch(rest, ending.at, 1))
      branches.push(branch)
    }
    if (ending === undefined) throw this.#flaw(at, `"${word}" has no "end"`)
    if (ending.rest.length > 0) throw this.#flaw(ending.at, '"end" without a block')
    this.#depth--
    if (word === 'range') return { kind: 'range', loop: branches[0]!, otherwise }
    return { kind: word, branches, otherwise }
  }

  #branch(head: readonly Token[], at: number, mostNames: number): { branch: Branch; ending: Ending | undefined } {
    const before = this.#names.length
    const declared = head.findIndex(({ kind, text }) => kind === 'sign' && text === ':=')
    const names = declared === -1 ? [] : head.slice(0, declared).filter(({ text }) => text !== ',')
    if (declared === 0 || names.length > mostNames) throw this.#flaw(at, `takes at most ${mostNames} variables`)
    const test = this.#pipeline(declared === -1 ? head : head.slice(declared + 1), at)
    const variables = names.map((name) => this.#variable(name))
    this.#names.push(...variables)
    const { nodes, ending } = this.#list()
    this.#names.length = before
    return { branch: { test, names: variables, body: nodes }, ending }
  }

  #pipeline(tokens: readonly Token[], at: number): Expression {
    const reader = { tokens, next: 0 }
    const value = this.#piped(reader, at)
    const left = tokens[reader.next]
    if (left !== undefined) throw this.#flaw(left.at, `${left.text} has no place here`)
    return value
  }

  #piped(reader: Reader, at: number): Expression {
    let value: Expression | undefined
    for (;;) {
      value = this.#command(reader, at, value)
      if (reader.tokens[reader.next]?.text !== '|' || reader.tokens[reader.next]!.kind !== 'sign') return value
      reader.next++
    }
  }

  /** A value, or a function with its values; what comes through the pipe is the last of them. */
  #command(reader: Reader, at: number, piped: Expression | undefined): Expression {
    const first = reader.tokens[reader.next]
    if (first === undefined) throw this.#flaw(at, 'says nothing to write or to look at')
    if (first.kind !== 'name') {
      const value = this.#operand(reader)
      if (piped !== undefined) throw this.#flaw(first.at, `${first.text} is no function, which must follow "|"`)
      return value
    }
    const run = FUNCTIONS.get(first.text)
    if (run === undefined)
      throw this.#flaw(
        first.at,
        `no function here is called ${first.text}; there are ${[...FUNCTIONS.keys()].join(', ')}`,
      )
    reader.next++
    const args: Expression[] = []
    while (this.#atOperand(reader)) args.push(this.#operand(reader))
    if (piped !== undefined) args.push(piped)
    const [least, most] = run.takes
    if (args.length < least || args.length > most)
      throw this.#flaw(first.at, `${first.text} takes ${least === most ? least : `${least} to ${most}`} values`)
    return { kind: 'call', run, args, at: first.at }
  }

  #atOperand({ tokens, next }: Reader): boolean {
    const token = tokens[next]
    return token !== undefined && (token.kind !== 'sign' || token.text === '(')
  }

  #operand(reader: Reader): Expression {
    const token = reader.tokens[reader.next++]!
    if (token.kind === 'value') return { kind: 'value', value: token.value }
    if (token.kind === 'path') return this.#path(token)
    if (token.kind === 'name') return this.#command({ tokens: [token], next: 0 }, token.at, undefined)
    if (token.text !== '(') throw this.#flaw(token.at, `${token.text} has no place here`)
    if (++this.#depth > MAX_DEPTH) throw this.#flaw(token.at, `is nested deeper than ${MAX_DEPTH} levels`)
    const inner = this.#piped(reader, token.at)
    this.#depth--
    if (reader.tokens[reader.next]?.text !== ')') throw this.#flaw(token.at, 'is not closed by ")"')
    reader.next++
    const behind = reader.tokens[reader.next]
    if (behind?.kind !== 'path' || !behind.joined || !/^\.\w/.test(behind.text)) return inner
    reader.next++
    return { kind: 'of', holder: inner, names: behind.text.slice(1).split('.') }
  }

  #path({ text, at }: Token): Expression {
    const [, root] = /^\$?\.(\w+)/.exec(text) ?? []
    if (root !== undefined && RESERVED.test(root)) this.reserved.add(root)
    if (text.startsWith('.')) return { kind: 'path', from: '.', names: text === '.' ? [] : text.slice(1).split('.') }
    const [from = '', ...names] = text.split('.')
    this.#known(from, at)
    return { kind: 'path', from, names }
  }
}

interface Reader {
  readonly tokens: readonly Token[]
  next: number
}

/** True when the text leaves off within a JSON string, having begun within one or not. */
function endsInString(text: string, begins: boolean): boolean {
  let inside = begins
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') inside = !inside
    else if (inside && text[at] === '\\') at++
  }
  return inside
}

/** The nodes of an expression. `at` is its position in the template. */
export type Expression =
  | { readonly kind: 'value'; readonly value: string | number | boolean | null }
  /** `from` is '.' or the name of a variable with its `$`; `$` alone is the whole body. */
  | { readonly kind: 'path'; readonly from: string; readonly names: readonly string[] }
  | { readonly kind: 'of'; readonly holder: Expression; readonly names: readonly string[] }
  | { readonly kind: 'call'; readonly run: TemplateFunction; readonly args: readonly Expression[]; readonly at: number }

interface Branch {
  readonly test: Expression
  /** Variables that the test is kept in: of `range` perhaps two, the key first. */
  readonly names: readonly string[]
  readonly body: readonly TemplateNode[]
}

export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string; readonly endsInString: { outside: boolean; inside: boolean } }
  | { readonly kind: 'print'; readonly value: Expression }
  | { readonly kind: 'set'; readonly name: string; readonly declares: boolean; readonly value: Expression }
  | { readonly kind: 'if' | 'with'; readonly branches: readonly Branch[]; readonly otherwise: readonly TemplateNode[] }
  | { readonly kind: 'range'; readonly loop: Branch; readonly otherwise: readonly TemplateNode[] }
  | { readonly kind: 'break' | 'continue' }

/** The kind of text that a template gives, which says how values are escaped in it. */
export type TemplateOutput = 'json' | 'xml' | 'text'

/** A template that was read, ready to be rendered any number of times. */
export interface BodyTemplate {
  readonly nodes: readonly TemplateNode[]
  readonly output: TemplateOutput
  /** Names at the root by which it asks for the request or for metadata: `_svc_context`, `_acme_meta`. */
  readonly reserved: readonly string[]
  /** Names of request values that it asks for. */
  readonly contextNames: readonly string[]
  readonly source: string
}
