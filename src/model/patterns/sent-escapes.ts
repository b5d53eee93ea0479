import type { PatternPiece } from './pattern-reader.ts'

/**
 * Characters of a path that mean something else where they are escapes (RFC 3986 section 2.2): `a%26b` is one value of a query, `a&b`
 * two. Rules see both as `a&b`.
 */
const RESERVED = "!$&'()*+,;=:@"
const RESERVED_ESCAPE = /%(?:2[14-9A-C]|3[ABD]|40)/i
/** Added to the code of such a character where it was sent as an escape, which makes it a private character of Unicode. */
const MARK = 0xe000
const MARKED = /[\ue000-\ue07f]/g

/**
 * A path in normal form with a mark in place of each reserved character that `sent`, the same path or its end as the client spelled it,
 * holds as an escape. Paths without one stay as they are.
 */
export function markEscapes(path: string, sent: string): string {
  if (!RESERVED_ESCAPE.test(sent)) return path
  let marked = ''
  let at = path.length
  for (let from = sent.length; at > 0 && from > 0; ) {
    const character = path[at - 1]!
    const triplet = sent[from - 3] === '%' ? sent.slice(from - 3, from) : ''
    if (triplet === '') {
      if (character !== sent[from - 1]) break
      from--
      // Empty segments are not there in the normal form.
      if (character === '/') while (sent[from - 1] === '/') from--
      marked = character + marked
      at--
    } else {
      const code = Number.parseInt(triplet.slice(1), 16)
      const kept = character.charCodeAt(0) !== code
      if (kept && path.slice(at - 3, at) !== triplet.toUpperCase()) break
      const own = kept ? path.slice(at - 3, at) : character
      marked = (RESERVED.includes(own) ? String.fromCharCode(MARK + code) : own) + marked
      at -= own.length
      from -= 3
    }
  }
  return path.slice(0, at) + marked
}

/** Characters that end a value in a query; in a path they are like others. */
const SEPARATOR = /[&;]/g

/** A part of a marked path as it goes into the value of a parameter: with a mark in place of each character that a query reads otherwise. */
export function markSeparators(part: string): string {
  return part.replace(SEPARATOR, (character) => String.fromCharCode(MARK + character.charCodeAt(0)))
}

/** Marked text as rules see it. */
export function withoutMarks(text: string): string {
  return text.replace(MARKED, (mark) => String.fromCharCode(mark.charCodeAt(0) - MARK))
}

/** Marked text with the escapes that were sent. */
export function withEscapes(text: string): string {
  return text.replace(MARKED, (mark) => `%${(mark.charCodeAt(0) - MARK).toString(16).toUpperCase()}`)
}

const TOKEN = /\(\?:|\{\d+(?:,\d*)?\}|\\u[0-9a-f]{4}|\\.|\[(?:\\.|[^\]\\])*\]|./gisu
const LITERAL = /^\\?[!$&'()*+,;=:@]$/
const OPERATORS = '$()*+'

/** The expression for marked paths: what takes a reserved character takes its mark, and nothing else does. */
export function markedExpression(piece: PatternPiece): PatternPiece {
  return {
    ...piece,
    text: piece.text.replace(TOKEN, (token) => {
      if (token.startsWith('[')) return markedClass(token)
      return LITERAL.test(token) && !OPERATORS.includes(token) ? `[${token}${markOf(token.at(-1)!)}]` : token
    }),
  }
}

function markedClass(token: string): string {
  const takes = new RegExp(`^${token}$`)
  const isComplement = token.startsWith('[^')
  const marks = [...RESERVED].filter((character) => takes.test(character) !== isComplement).map(markOf)
  return `${token.slice(0, -1)}${marks.join('')}]`
}

const markOf = (character: string) => `\\u${(MARK + character.charCodeAt(0)).toString(16)}`
