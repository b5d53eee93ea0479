/**
 * A part of a text with variables: literal text, a value of the request, or a member of the session's metadata. A name of metadata may hold
 * dots; of one that is not there, what follows its last dot is text.
 */
export type VariablePiece = string | { readonly context: string } | { readonly meta: string }

/**
 * Variables as the documents of any vendor spell them: the word before `_context` and `_meta` is that of the product they come from.
 * A name ends before a `-` or `.` that leads to nothing.
 */
const VARIABLE = /\$[a-z][a-z0-9]*_(?:context\.(\w+(?:-\w+)*)|meta\.(\w+(?:[-.]\w+)*))/g
/** Values of a request; those that end in `_` are followed by the name of a field, parameter, cookie or claim. */
const CONTEXT_VALUES = [
  ...['method', 'path', 'path_parts', 'remote_addr', 'request_id', 'request_data'],
  ...['headers_', 'request_data_', 'cookies_', 'jwt_claims_'],
] as const
const OTHER_VARIABLE = /\$[a-z][a-z0-9]*_(?:context|meta)\./i
const SECRET = /\$secret_[a-z]+\./i
const IN_TEMPLATE = /(?<![\w$.])\$?\._[a-z][a-z0-9]*_context\.(\w+)/g

/** Takes a text with variables apart. One of an unknown name has no value. */
export function readVariables(text: string): readonly VariablePiece[] {
  const pieces: VariablePiece[] = []
  let from = 0
  for (const { 0: whole, 1: context, 2: meta = '', index } of text.matchAll(VARIABLE)) {
    if (index > from) pieces.push(text.slice(from, index))
    pieces.push(context === undefined ? { meta } : { context })
    from = index + whole.length
  }
  if (from < text.length) pieces.push(text.slice(from))
  return pieces
}

/** True for a text that holds variables, known or not. */
export function hasVariables(text: string): boolean {
  return OTHER_VARIABLE.test(text)
}

/** True for a text that asks for a value of a secret store, which the gateway does not have. */
export function asksForSecret(text: string): boolean {
  return SECRET.test(text)
}

/** The names of request values that a text asks for, in the order in which they come. */
export function contextNamesIn(text: string): string[] {
  return readVariables(text).flatMap((piece) =>
    typeof piece !== 'string' && 'context' in piece ? [piece.context] : [],
  )
}

/** The names of request values that the source of a body template asks for. */
export function contextNamesInTemplate(source: string): string[] {
  return [...source.matchAll(IN_TEMPLATE)].map(([, name = '']) => name)
}

/** True for the name of a value that requests can have. */
export function isContextName(name: string): boolean {
  return CONTEXT_VALUES.some((known) =>
    known.endsWith('_') ? name.startsWith(known) && name.length > known.length : name === known,
  )
}

/** All such names, for messages. */
export const CONTEXT_NAMES = CONTEXT_VALUES.map((known) => (known.endsWith('_') ? `${known}NAME` : known)).join(', ')
