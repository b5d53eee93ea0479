import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { isWireField } from '../../network/wire-fields.ts'
import { EXTENSION } from '../definition/members.ts'
import { copyTree, type Flaw, pathOf, type TreePath, toWords } from '../definition/tree.ts'

type Format = 'classic' | 'oas'

const VERSION = 'version_data.versions.*'
const OPERATION = `${EXTENSION}.middleware.operations.*`
const GLOBAL = `${EXTENSION}.middleware.global`

/**
 * Where definitions hold fields that the gateway adds to messages: maps by name, or lists of objects with a `name`. Those of mocks and
 * event handlers are not here: stored definitions are held to their rules too.
 */
export const WRITTEN_FIELDS: Readonly<Record<Format, readonly string[]>> = {
  classic: [
    `${VERSION}.global_headers`,
    `${VERSION}.global_response_headers`,
    `${VERSION}.extended_paths.transform_headers.*.add_headers`,
    `${VERSION}.extended_paths.transform_response_headers.*.add_headers`,
    'uptime_tests.check_list.*.headers',
  ],
  oas: [
    `${GLOBAL}.transformRequestHeaders.add`,
    `${GLOBAL}.transformResponseHeaders.add`,
    `${OPERATION}.transformRequestHeaders.add`,
    `${OPERATION}.transformResponseHeaders.add`,
    `${EXTENSION}.upstream.uptimeTests.tests.*.headers`,
  ],
}

const PLACES = {
  classic: WRITTEN_FIELDS.classic.map(pathOf),
  oas: WRITTEN_FIELDS.oas.map(pathOf),
}

/** Where a definition adds fields that only the wire writes. It is not saved so; where it is stored, they are not added. */
export function writtenFieldFlaws(format: Format, definition: JsonObject, root: TreePath = []): Flaw[] {
  return writtenFields(format, definition).flatMap(({ at, name }) =>
    isWireField(name) ? [{ at: [...root, ...at], reason: `${name} frames messages, only the gateway writes it` }] : [],
  )
}

/** Where a definition adds a Host field, which has no effect: the upstream's URL or the caller says what it is. */
export function hostFieldFlaws(format: Format, definition: JsonObject): Flaw[] {
  return writtenFields(format, definition).flatMap(({ at, name }) =>
    name.toLowerCase() === 'host'
      ? [{ at, reason: 'Host is that of the upstream, or of the caller where it is preserved' }]
      : [],
  )
}

/** A definition without the fields that it cannot be saved with, and what was changed; undefined = nothing had to be. */
export function withSavableFields(
  format: Format,
  definition: JsonObject,
): { readonly definition: JsonObject; readonly changes: readonly string[] } | undefined {
  if (writtenFieldFlaws(format, definition).length === 0) return undefined
  const copy = copyTree(definition)
  const changes: string[] = []
  for (const { at, holder, name } of writtenFields(format, copy)) {
    if (!isWireField(name)) continue
    if (Array.isArray(holder))
      holder.splice(
        holder.findIndex((each) => nameOf(each) === name),
        1,
      )
    else delete holder[name]
    changes.push(`the field ${name} is not added (${toWords(at)}): only the gateway writes it`)
  }
  return { definition: copy, changes }
}

interface WrittenField {
  readonly at: TreePath
  readonly name: string
  readonly holder: JsonObject | Json[]
}

function writtenFields(format: Format, definition: JsonObject): WrittenField[] {
  const found: WrittenField[] = []
  for (const path of PLACES[format]) collect(definition, path, 0, [], found)
  return found
}

function collect(value: Json | undefined, path: TreePath, depth: number, at: TreePath, found: WrittenField[]): void {
  if (typeof value !== 'object' || value === null) return
  const step = path[depth]
  if (step !== undefined) {
    const names = step === '*' ? Object.keys(value) : Object.hasOwn(value, step) ? [step] : []
    for (const name of names) collect((value as JsonObject)[name], path, depth + 1, [...at, name], found)
    return
  }
  for (const [key, each] of Object.entries(value)) {
    const name = Array.isArray(value) ? nameOf(each) : key
    if (name !== undefined) found.push({ at: [...at, key], name, holder: value })
  }
}

function nameOf(entry: Json): string | undefined {
  return isObject(entry) && typeof entry.name === 'string' ? entry.name : undefined
}
