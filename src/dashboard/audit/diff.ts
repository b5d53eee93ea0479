import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { redactDocument } from '../../model/secrets/secret-places.ts'
import { WorkSlice } from '../../runtime/turns.ts'
import type { AuditChange } from '../../store/ports/ports.ts'

const MOST_LINES = 1000
const LONGEST_LINE = 500
/** Values of a line that are looked at: each has a character at least, so the line is cut before they end. */
const MOST_VALUES = LONGEST_LINE + 1

/**
 * The changes of an entry, as lines of text: `@ <kind> <id>`, then for each member that differs its RFC 6901 pointer with the value
 * before (`-`) and after (`+`), secrets as `***`. Bodies may have megabytes: each value is looked at once, in turns of the event loop, and
 * secrets are looked for in what is shown alone.
 */
export async function diffOf(changes: readonly AuditChange[]): Promise<string> {
  const slice = new WorkSlice()
  const lines: string[] = []
  for (const { kind, id, before, after } of changes) {
    lines.push(`@ ${kind} ${id}`)
    if (slice.isOver) await slice.next()
    for (const step of differences([], [before, after])) {
      if (step !== undefined) lines.push(...linesOf(step, [before, after]))
      if (lines.length > MOST_LINES) return [...lines.slice(0, MOST_LINES), '...'].join('\n')
      if (slice.isOver) await slice.next()
    }
  }
  return lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES), '...'].join('\n') : lines.join('\n')
}

type Pair = readonly [before: Json | undefined, after: Json | undefined]
/** Names of members on the way to a value. */
type Pointer = readonly string[]

/** Where two bodies differ; undefined after each member that was compared, so that others get their turn. */
function* differences(path: Pointer, [before, after]: Pair): Generator<Pointer | undefined> {
  if (!isObject(before) || !isObject(after)) {
    if (!isSame(before, after)) yield path
    return
  }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const pair: Pair = [own(before, name), own(after, name)]
    if (pair.every(isObject)) yield* differences([...path, name], pair)
    else if (!isSame(...pair)) yield [...path, name]
    yield undefined
  }
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (Array.isArray(one))
    return Array.isArray(other) && one.length === other.length && one.every((item, at) => isSame(item, other[at]))
  if (!isObject(one) || !isObject(other)) return false
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => isSame(one[name], own(other, name)))
}

function linesOf(path: Pointer, pair: Pair): string[] {
  const pointer = path.map((name) => `/${escaped(name)}`).join('') || '/'
  return pair.flatMap((body, side) => {
    const value = valueAt(body, path)
    if (value === undefined || value === null) return []
    return [line(side === 0 ? '-' : '+', pointer, valueAt(redactDocument(excerptOf(body!, path)), path))]
  })
}

function valueAt(body: Json | undefined, path: Pointer): Json | undefined {
  return path.reduce<Json | undefined>((at, name) => (typeof at === 'string' ? at : own(at, name)), body)
}

/** As much of a body as decides what is secret at a place of it: the objects on the way there with what decides about their members, and the beginning of the value. */
function excerptOf(body: Json, [name, ...rest]: Pointer): Json {
  if (name === undefined || !isObject(body)) return beginningOf(body, { left: MOST_VALUES })
  return { ...labelsOf(body), [name]: excerptOf(own(body, name)!, rest) }
}

/** Members by which it is decided whether other members of the same object are secret. */
const LABELS = ['name', 'openapi', 'jwt_signing_method', 'signingMethod', 'signing_method']

function labelsOf(body: JsonObject): JsonObject {
  const there = LABELS.filter((name) => Object.hasOwn(body, name))
  return Object.fromEntries(
    there.map((name) => [name, isObject(body[name]) || Array.isArray(body[name]) ? {} : body[name]!]),
  )
}

/** A value without what is behind the first so many values of it. */
function beginningOf(value: Json, room: { left: number }): Json {
  room.left--
  if (Array.isArray(value)) {
    const items: Json[] = []
    for (const item of value) if (room.left > 0) items.push(beginningOf(item, room))
    return items
  }
  if (!isObject(value)) return value
  const members: [string, Json][] = []
  for (const name in value) {
    if (room.left <= 0) break
    members.push([name, beginningOf(value[name]!, room)])
  }
  return { ...(room.left <= 0 && labelsOf(value)), ...Object.fromEntries(members) }
}

function own(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

function line(sign: string, pointer: string, value: Json | undefined): string {
  const text = `${sign} ${pointer}: ${JSON.stringify(value ?? null)}`
  return text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}...` : text
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
