import { isObject, type Json } from '../../model/json/json.ts'
import { MASK } from '../../model/secrets/redact.ts'
import { redactDocument } from '../../model/secrets/secret-places.ts'
import type { AuditChange } from '../../store/ports/ports.ts'

const MOST_LINES = 1000
const LONGEST_LINE = 500

/**
 * The changes of an entry, as lines of text: `@ <kind> <id>`, then for each member that differs its RFC 6901 pointer with the value
 * before (`-`) and after (`+`), secrets as `***`.
 */
export function diffOf(changes: readonly AuditChange[]): string {
  const lines: string[] = []
  for (const { kind, id, before, after } of changes) {
    lines.push(`@ ${kind} ${id}`)
    compare('', [before, after], [redactDocument(before), redactDocument(after)], lines)
  }
  return lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES), '...'].join('\n') : lines.join('\n')
}

type Pair = readonly [before: Json | undefined, after: Json | undefined]

/** Where they differ is seen in the bodies as they are; what is shown comes from those without secrets. */
function compare(path: string, [before, after]: Pair, [shownBefore, shownAfter]: Pair, lines: string[]): void {
  if (lines.length > MOST_LINES || JSON.stringify(before) === JSON.stringify(after)) return
  if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(
        `${path}/${escaped(name)}`,
        [own(before, name), own(after, name)],
        [own(shownBefore, name), own(shownAfter, name)],
        lines,
      )
    return
  }
  if (before !== undefined && before !== null) lines.push(line('-', path, shownBefore))
  if (after !== undefined && after !== null) lines.push(line('+', path, shownAfter))
}

function own(value: Json | undefined, name: string): Json | undefined {
  if (value === MASK) return MASK
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

function line(sign: string, path: string, value: Json | undefined): string {
  const text = `${sign} ${path === '' ? '/' : path}: ${JSON.stringify(value ?? null)}`
  return text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}...` : text
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
