/** A part of a text with variables: literal text, a value of the request, or a member of the session's metadata. */
export type VariablePiece = string | { readonly context: string } | { readonly meta: string }

/**
 * Variables as the documents of any vendor spell them: the word before `_context` and `_meta` is that of the product they come from.
 * A name ends before a `-` that leads to nothing.
 */
const VARIABLE = /\$[a-z][a-z0-9]*_(context|meta)\.(\w+(?:-\w+)*)/g
/** Values of a request; those that end in `_` are followed by the name of a field, parameter or cookie. */
const CONTEXT_VALUES = [
  ...['method', 'path', 'path_parts', 'remote_addr', 'request_id'],
  ...['headers_', 'request_data_', 'cookies_'],
] as const
const OTHER_VARIABLE = /\$(?:[a-z][a-z0-9]*_(?:context|meta)|secret_[a-z]+)\./i

/** Takes a text with variables apart. Answers the reason, in words that follow "holds", where one of them is not known. */
export function readVariables(text: string): readonly VariablePiece[] | string {
  const pieces: VariablePiece[] = []
  let from = 0
  for (const { 0: whole, 1: kind, 2: name = '', index } of text.matchAll(VARIABLE)) {
    if (kind === 'context' && !isKnown(name))
      return `${whole}, a variable that is not known (there are ${CONTEXT_VALUES.map(shown).join(', ')})`
    if (index > from) pieces.push(text.slice(from, index))
    pieces.push(kind === 'meta' ? { meta: name } : { context: name })
    from = index + whole.length
  }
  if (from < text.length) pieces.push(text.slice(from))
  if (pieces.some((piece) => typeof piece === 'string' && OTHER_VARIABLE.test(piece)))
    return 'a variable that is not known'
  return pieces
}

/** True for a text that holds variables, known or not. */
export function hasVariables(text: string): boolean {
  return OTHER_VARIABLE.test(text)
}

function isKnown(name: string): boolean {
  return CONTEXT_VALUES.some((known) =>
    known.endsWith('_') ? name.startsWith(known) && name.length > known.length : name === known,
  )
}

const shown = (known: string) => (known.endsWith('_') ? `${known}NAME` : known)
