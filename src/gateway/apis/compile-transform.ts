import type { HeaderTransform } from '../../model/apis/definition/api.ts'
import { withoutCorsLines } from '../server/cors-fields.ts'
import type { CompiledTransform } from '../server/exchange.ts'
import { fieldLines } from '../server/field-lines.ts'

/** Prepares header edits. Values were checked when the definition was read. */
export function compileTransform(rules: HeaderTransform | undefined): CompiledTransform | undefined {
  if (rules === undefined || (rules.remove.length === 0 && rules.add.length === 0)) return undefined
  // A header that is set replaces what the message brought.
  const remove = new Set([...rules.remove, ...rules.add.map(([name]) => name)].map((name) => name.toLowerCase()))
  const lines = fieldLines(rules.add)
  return {
    remove,
    lines,
    text: `${JSON.stringify([...remove])}\n${lines}\n`,
    linesWithoutCors: withoutCorsLines(lines),
  }
}
