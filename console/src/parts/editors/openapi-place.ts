import type { Mark } from './editor-props.ts'
import { brokenAt } from './json-fault.ts'

/** A name or position in a document, from its root. */
export type Path = readonly string[]

/** The error of a text that should be JSON, at its line; undefined = none. */
export function jsonFault(text: string): Mark | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { line: lineAt(text, brokenAt(text)), message: plainly(message) }
  }
}

/** The line (from 1) of what a path leads to in a JSON text, or of the last thing on the way that is there. */
export function lineOf(text: string, path: Path): number {
  let place = skipSpace(text, 0)
  for (const name of path) {
    // The position of a member is that of its name; its value follows.
    const value = text[place] === '"' ? memberValue(text, place) : place
    const next = text[value] === '{' ? memberOf(text, value, name) : entryOf(text, value, Number(name))
    if (next === undefined) break
    place = next
  }
  return lineAt(text, place)
}

/** Faults of a definition as the dashboard names them, `path: reason; path: reason`, at their lines. */
export function marksOf(text: string, message: string): Mark[] {
  return flawsIn(message).map(({ at, words, reason }) => ({ line: lineOf(text, at), message: `${words}: ${reason}` }))
}

/** One thing that the dashboard finds wrong with a definition: where, also in its own words, and what. */
export interface Flaw {
  readonly at: Path
  readonly words: string
  readonly reason: string
}

/** The dashboard's errors of a definition, from the text of a refusal. */
export function flawsIn(message: string): readonly Flaw[] {
  const words = /^(?:(?:Validation|Pattern|The API asks)[^:]*: )?(.*)$/s.exec(message)?.[1] ?? message
  return words.split('; ').flatMap((each) => {
    const found = /^((?:[\w$-]+|\[\d+\]|\["(?:[^"\\]|\\.)*"\]|\.)+): (.+)$/s.exec(each)
    return found === null ? [] : [{ at: pathOf(found[1]!), words: found[1]!, reason: found[2]! }]
  })
}

/** The errors of a refusal by the fields of a form, by their paths; the first error of each field counts. */
export function faultsByField(
  message: string,
  places: readonly (readonly [field: string, place: Path])[],
): Readonly<Record<string, string>> {
  return faultsAt(flawsIn(message), places)
}

/** Errors by the fields of their paths, or of an enclosing path; the nearest counts. */
export function faultsAt(
  flaws: readonly Pick<Flaw, 'at' | 'reason'>[],
  places: readonly (readonly [field: string, place: Path])[],
): Readonly<Record<string, string>> {
  const faults: Record<string, string> = {}
  for (const { at, reason } of flaws) {
    const holding = places.filter(([, place]) => isBelow(at, place))
    const nearest = holding.reduce((a, b) => (b[1].length > a[1].length ? b : a), holding[0] ?? NOWHERE)
    if (nearest !== NOWHERE) faults[nearest[0]] ??= reason
  }
  return faults
}

const NOWHERE: readonly [string, Path] = ['', []]

/** True for a place, and for what it holds. */
export function isBelow(at: Path, place: Path): boolean {
  return place.every((name, index) => at[index] === name)
}

/** `a.b[0]["c d"]` as names. */
function pathOf(words: string): Path {
  return [...words.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([\w$-]+)/g)].map(
    ([, index, quoted, plain]) => index ?? plain ?? (JSON.parse(quoted!) as string),
  )
}

/** The line that a message names in words, of a parser in a browser or at the dashboard; undefined when it names none. */
export function lineNamed(message: string): number | undefined {
  const line = /line (\d+)/i.exec(message)?.[1]
  return line === undefined ? undefined : Number(line)
}

/** Without the pieces of the text that browsers quote. */
function plainly(message: string): string {
  return message.replace(/^JSON\.parse: /, '').replace(/, (?:\.{3})?".*"(?:\.{3})? is not valid JSON$/s, '')
}

function lineAt(text: string, place: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < place; at = text.indexOf('\n', at + 1)) line++
  return line
}

function memberOf(text: string, start: number, wanted: string): number | undefined {
  let at = skipSpace(text, start + 1)
  while (text[at] === '"') {
    const end = stringEnd(text, at)
    const isWanted = nameOf(text.slice(at, end)) === wanted
    const value = skipSpace(text, skipSpace(text, end) + 1)
    if (isWanted) return at
    at = nextEntry(text, value)
  }
  return undefined
}

function entryOf(text: string, start: number, wanted: number): number | undefined {
  if (text[start] !== '[') return undefined
  let at = skipSpace(text, start + 1)
  for (let index = 0; at < text.length && text[at] !== ']'; index++) {
    if (index === wanted) return at
    at = nextEntry(text, at)
  }
  return undefined
}

const memberValue = (text: string, name: number) => skipSpace(text, skipSpace(text, stringEnd(text, name)) + 1)

function nextEntry(text: string, value: number): number {
  const end = skipSpace(text, valueEnd(text, value))
  return text[end] === ',' ? skipSpace(text, end + 1) : end
}

function nameOf(quoted: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return quoted
  }
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) <= 0x20) at++
  return at
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

function valueEnd(text: string, start: number): number {
  if (text[start] === '"') return stringEnd(text, start)
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (char === '"') at = stringEnd(text, at) - 1
    else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && char === ',') return at
  }
  return text.length
}
