import type { Api, HeaderTransform, Rules } from '../../model/apis/definition/api.ts'
import { hasVariables, readVariables, type VariablePiece } from '../../model/patterns/variables.ts'
import { withoutCorsLines } from '../server/cors-fields.ts'
import type { CompiledTransform, Exchange } from '../server/exchange.ts'
import { fieldLines } from '../server/field-lines.ts'
import { variableText } from '../server/variables.ts'

/** Prepares header edits. Values were checked when the definition was read. */
export function compileTransform(rules: HeaderTransform | undefined): CompiledTransform | undefined {
  if (rules === undefined || (rules.remove.length === 0 && rules.add.length === 0)) return undefined
  // A header that is set replaces what the message brought.
  const remove = new Set([...rules.remove, ...rules.add.map(([name]) => name)].map((name) => name.toLowerCase()))
  const lines = fieldLines(rules.add)
  const written = rules.add.some(([, value]) => hasVariables(value)) ? rules.add.map(writtenField) : undefined
  return {
    remove,
    lines,
    ...(written && { linesFor: (x) => fieldLines(written.map(({ name, valueFor }) => [name, valueFor(x)] as const)) }),
    text: `${JSON.stringify([...remove])}\n${lines}\n`,
    linesWithoutCors: withoutCorsLines(lines),
  }
}

/** True when edits, rewrites or templates of an API may ask for fields of the request. */
export function readsFields({ contextVariables }: Api, rules: Rules): boolean {
  if (!contextVariables) return false
  const edits = [rules, ...rules.operations].flatMap((each) => [each.requestHeaders, each.responseHeaders])
  const values = edits.flatMap((edit) => edit?.add.map(([, value]) => value) ?? [])
  const rewrites = rules.operations.flatMap(({ rewrite }) =>
    rewrite === undefined ? [] : [rewrite, ...rewrite.triggers],
  )
  if ([...values, ...rewrites.map(({ rewriteTo }) => rewriteTo)].some(hasVariables)) return true
  return rules.operations.some(({ requestBody, answerBody }) =>
    [requestBody, answerBody].some((body) => body !== undefined && body.template.reserved.length > 0),
  )
}

/** A field whose value is made for each request. */
function writtenField([name, value]: readonly [string, string]) {
  const pieces = readVariables(value)
  return { name, valueFor: (x: Exchange) => pieces.map((piece) => textOf(x, piece)).join('') }
}

/** Text of callers as a field can carry it: bytes of UTF-8, no controls, which could end the field. */
function textOf(x: Exchange, piece: VariablePiece): string {
  if (typeof piece === 'string') return piece
  return Buffer.from(variableText(x, piece), 'utf8')
    .toString('latin1')
    .replace(/[\0-\x1f\x7f]/g, '')
}
