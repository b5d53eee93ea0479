/** An error of a template, and its place: lines and columns count from 1. */
export class TemplateFlaw extends Error {
  constructor(text: string, at: number, reason: string) {
    const before = text.slice(0, at)
    const line = before.split('\n').length
    super(`line ${line}, column ${at - before.lastIndexOf('\n')}: ${reason}`)
  }
}

/** A part of a template: literal text, or the text between `{{` and `}}`. */
export type TemplatePiece =
  | { readonly kind: 'text'; readonly text: string; readonly at: number }
  | { readonly kind: 'action'; readonly tokens: readonly Token[]; readonly at: number }

/** A word of an action. */
export interface Token {
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
export function piecesOf(text: string): TemplatePiece[] {
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
