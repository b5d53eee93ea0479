import type { Api, HeaderTransform, Rules } from '../../model/apis/definition/api.ts'
import { contextNamesIn, hasVariables, readVariables, type VariablePiece } from '../../model/patterns/variables.ts'
import { inOnePiece } from '../../model/text/intern.ts'
import { withoutCorsLines } from '../server/cors-fields.ts'
import type { CompiledTransform, Exchange } from '../server/exchange.ts'
import { fieldLines } from '../server/field-lines.ts'
import { variableText } from '../server/variables.ts'

/** Prepares header edits. Values were checked when the definition was read. */
export function compileTransform(rules: HeaderTransform | undefined): CompiledTransform | undefined {
  if (rules === undefined || (rules.remove.length === 0 && rules.add.length === 0)) return undefined
  // A header that is set replaces what the message brought.
  const remove = new Set([...rules.remove, ...rules.add.map(([name]) => name)].map((name) => name.toLowerCase()))
  // An API keeps both as long as it is served.
  const lines = inOnePiece(fieldLines(rules.add))
  const written = rules.add.some(([, value]) => hasVariables(value)) ? rules.add.map(writtenField) : undefined
  return {
    remove,
    lines,
    ...(written && { linesFor: (x) => writtenLines(written, x) }),
    text: inOnePiece(`${JSON.stringify([...remove])}\n${lines}\n`),
    linesWithoutCors: withoutCorsLines(lines),
  }
}

/** Parts of a request that edits, rewrites or templates of an API may ask for: its fields, and the form in its body. */
export function askedVariables(
  { contextVariables }: Api,
  rules: Rules,
): { readonly fields: boolean; readonly form: boolean } {
  if (!contextVariables) return { fields: false, form: false }
  const edits = [rules, ...rules.operations].flatMap((each) => [each.requestHeaders, each.responseHeaders])
  const values = edits.flatMap((edit) => edit?.add.map(([, value]) => value) ?? [])
  const rewrites = rules.operations.flatMap(({ rewrite }) => rewrite ?? [])
  const triggers = rewrites.flatMap((rewrite) => rewrite.triggers)
  const texts = [...values, ...[...rewrites, ...triggers].map(({ rewriteTo }) => rewriteTo)].filter(hasVariables)
  const searched = triggers.flatMap((trigger) => trigger.rules).filter((rule) => rule.in === 'context')
  const templates = rules.operations
    .flatMap(({ requestBody, answerBody }) => [requestBody, answerBody])
    .flatMap((body) => (body === undefined || body.template.reserved.length === 0 ? [] : body.template))
  const names = [
    ...texts.flatMap(contextNamesIn),
    ...searched.map(({ name }) => name),
    ...templates.flatMap(({ contextNames }) => contextNames),
  ]
  // A template may also go through all values, and then names none.
  const asksForAll = templates.some(({ contextNames }) => contextNames.length === 0)
  return {
    fields: texts.length > 0 || searched.length > 0 || templates.length > 0,
    form: asksForAll || names.some((name) => /^request_data(?:_|$)/.test(name)),
  }
}

/** Characters of all values that an edit makes for a request: a value may name a part of it thousands of times. Servers take fewer. */
const MOST_WRITTEN = 65_536

/** A field whose value is made for each request. */
interface WrittenField {
  readonly name: string
  readonly pieces: readonly VariablePiece[]
}

const writtenField = ([name, value]: readonly [string, string]): WrittenField => ({
  name,
  pieces: readVariables(value),
})

/** undefined where the values would be too long. */
function writtenLines(written: readonly WrittenField[], x: Exchange): string | undefined {
  let room = MOST_WRITTEN
  const fields: [string, string][] = []
  for (const { name, pieces } of written) {
    let value = ''
    for (const piece of pieces) {
      const text = textOf(x, piece)
      value += text
      // Texts of the definition itself are bounded by its length.
      if (typeof piece !== 'string') room -= text.length
      if (room < 0) return undefined
    }
    fields.push([name, value])
  }
  return fieldLines(fields)
}

/** Text of callers as a field can carry it: bytes of UTF-8, no controls, which could end the field. */
function textOf(x: Exchange, piece: VariablePiece): string {
  if (typeof piece === 'string') return piece
  return Buffer.from(variableText(x, piece), 'utf8')
    .toString('latin1')
    .replace(/[\0-\x1f\x7f]/g, '')
}
