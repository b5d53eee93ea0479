import { isGatewayField } from '../../model/network/wire-fields.ts'

/**
 * `Name: value\r\n` lines of fields that a definition or a module sets, their values checked. Those that frame a message or name its
 * destination are left out: the gateway alone writes them, once.
 */
export function fieldLines(fields: readonly (readonly [name: string, value: string])[]): string {
  let lines = ''
  for (const [name, value] of fields) if (!isGatewayField(name)) lines += `${name}: ${value}\r\n`
  return lines
}

/** Pairs of `Name: value\r\n` lines. */
export function pairsOf(lines: string): (readonly [name: string, value: string])[] {
  return linesOf(lines).map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const
  })
}

/** `Name: value\r\n` lines without those of these names (lower case). */
export function linesWithout(lines: string, names: ReadonlySet<string>): string {
  if (lines === '') return ''
  let kept = ''
  for (const line of linesOf(lines)) if (!names.has(nameOf(line))) kept += `${line}\r\n`
  return kept
}

/** Of these lines only those of these names (lower case). */
export function linesOnly(lines: string, names: ReadonlySet<string>): string {
  let kept = ''
  for (const line of linesOf(lines)) if (names.has(nameOf(line))) kept += `${line}\r\n`
  return kept
}

/** Lines in which those of an update replace all lines of their names (RFC 9111 section 3.2). */
export function linesUpdated(lines: string, update: string): string {
  return linesWithout(lines, new Set(linesOf(update).map(nameOf))) + update
}

function linesOf(lines: string): string[] {
  return lines.split('\r\n').filter((line) => line !== '')
}

function nameOf(line: string): string {
  return line.slice(0, line.indexOf(':')).toLowerCase()
}
