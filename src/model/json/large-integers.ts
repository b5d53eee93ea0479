import { isObject, type Json } from './json.ts'

/** Integers of so many digits may be beyond 2^53 - 1, where not every integer has a number of its own. */
const LEAST_DIGITS = 16
const NUMBER = /-?\d+(\.\d+)?(e[+-]?\d+)?/iy
/** The member of an OpenAPI document that is ours, under any vendor word. */
const EXTENSION = /^x-.*-api-gateway$/
/** Larger numbers are written with an exponent and as they came. */
const MOST_WRITTEN_OUT = 1e21

/**
 * Where a JSON text, that was read as `value`, holds a number that would come back as another one: an integer beyond 2^53 - 1 (RFC 8259 section 6), or one that is
 * infinite here. undefined when there is none. Schemas may hold such integers, as bounds: those of OpenAPI documents, and of the checks of classic definitions.
 * Linear in the length of the text.
 */
export function placeOfLostNumber(text: string, value: Json): string | undefined {
  const written = integersIn(text)
  /** The names that lead to it, the last one first. */
  const walk = (each: Json, isInChecks: boolean, isSchema: boolean): string[] | undefined => {
    if (typeof each === 'number') return isLost(each, written, isSchema) ? [] : undefined
    if (typeof each !== 'object' || each === null) return undefined
    const inDocument = isSchema || isOpenApi(each)
    for (const [name, item] of Object.entries(each) as [string, Json][]) {
      const isBound = EXTENSION.test(name) ? false : inDocument || (name === 'schema' && isInChecks)
      const found = walk(item, isInChecks || name === 'validate_json', isBound)
      if (found === undefined) continue
      found.push(Array.isArray(each) ? `[${name}]` : `.${name}`)
      return found
    }
    return undefined
  }
  return walk(value, false, false)?.reverse().join('').replace(/^\./, '')
}

function isLost(number: number, written: ReadonlySet<number>, isSchema: boolean): boolean {
  if (!Number.isFinite(number)) return true
  return !isSchema && isLarge(number) && written.has(Math.abs(number))
}

function isOpenApi(value: Json): boolean {
  return isObject(value) && typeof value.openapi === 'string' && isObject(value.info)
}

/** True for a number beyond 2^53 - 1: not every integer there has one. */
export function isLarge(number: number): boolean {
  return number > Number.MAX_SAFE_INTEGER || number < Number.MIN_SAFE_INTEGER
}

/** Places of numbers beyond 2^53 - 1, each of which several integers are read as: up to so many, with what each comes back as. */
export function largeIntegersIn(
  value: Json,
  most: number,
): { readonly at: readonly string[]; readonly text: string }[] {
  const found: { at: readonly string[]; text: string }[] = []
  const at: string[] = []
  const walk = (each: Json): void => {
    if (typeof each === 'number') {
      if (isLarge(each) && Math.abs(each) < MOST_WRITTEN_OUT) found.push({ at: [...at], text: String(each) })
    } else if (typeof each === 'object' && each !== null)
      for (const [name, item] of Object.entries(each) as [string, Json][]) {
        if (found.length >= most) return
        at.push(name)
        walk(item)
        at.pop()
      }
  }
  walk(value)
  return found
}

/** The integers that a text writes out with many digits, without their signs. */
function integersIn(text: string): ReadonlySet<number> {
  const found = new Set<number>()
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === 0x22) at = endOfString(text, at)
    else if (char >= 0x30 && char <= 0x39) {
      NUMBER.lastIndex = at
      const [number = '', fraction, exponent] = NUMBER.exec(text) ?? []
      if (number.length >= LEAST_DIGITS && fraction === undefined && exponent === undefined) found.add(Number(number))
      at += Math.max(0, number.length - 1)
    }
  }
  return found
}

/** Where the string that begins at `start` ends. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === 0x5c) escapes++
    if (escapes % 2 === 0) return end
  }
  return text.length
}
