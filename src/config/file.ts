import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fault } from '../errors/fault.ts'
import { nearest } from '../errors/suggest.ts'
import { SETTINGS, type Setting } from './settings.ts'

const MAX_FILE_BYTES = 1_048_576
const DEFAULT_FILE = 'gatehouse.json'
/** More settings of one name are no hint. */
const MOST_MEANT = 3

export interface FileSettings {
  /** As named by the user, for messages. '' when there is no file. */
  readonly name: string
  readonly values: ReadonlyMap<Setting, unknown>
  readonly problems: readonly string[]
}

/**
 * Reads the JSON file of settings: the one named, which must be there, or `gatehouse.json` in `cwd` if there is one.
 * Values are not checked here. @throws Fault `setting_invalid` when the file cannot be read or is no JSON object
 */
export function readSettingsFile(named: string | undefined, cwd: string): FileSettings {
  const name = named ?? DEFAULT_FILE
  const path = resolve(cwd, name)
  if (named === undefined && statSync(path, { throwIfNoEntry: false }) === undefined) {
    return { name: '', values: new Map(), problems: [] }
  }
  const root = parseJson(readText(path, name), name)
  if (!isGroup(root)) throw fault('setting_invalid', `${name}: must hold a JSON object of settings`)
  const values = new Map<Setting, unknown>()
  const problems: string[] = []
  const { $schema: _forEditors, ...settings } = root
  collect(settings, [], { name, values, problems })
  return { name, values, problems }
}

/** Reads a small file of settings or a secret. @throws Fault `setting_invalid` naming what asked for it */
export function readText(path: string, askedBy: string): string {
  try {
    if (statSync(path).size > MAX_FILE_BYTES) throw new Error('larger than 1 MiB')
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    throw fault('setting_invalid', `${askedBy}: cannot read the file ${path}: ${reason(error)}`, error)
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return (error as NodeJS.ErrnoException).code ?? error.message
}

/** V8 quotes the text around a fault, which may be a secret: only the position is passed on. */
function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1]
    const before = position === undefined ? text : text.slice(0, Number(position))
    const line = before.split('\n').length
    throw fault('setting_invalid', `${name}: is not valid JSON, see line ${line}`)
  }
}

interface Walk {
  readonly name: string
  readonly values: Map<Setting, unknown>
  readonly problems: string[]
}

function collect(group: Record<string, unknown>, above: readonly string[], walk: Walk): void {
  for (const key of Object.keys(group)) {
    const path = [...above, key].join('.')
    const setting = SETTINGS.find((candidate) => candidate.path === path)
    const value = group[key]
    if (setting !== undefined) walk.values.set(setting, value)
    else if (!SETTINGS.some((candidate) => candidate.path.startsWith(`${path}.`)))
      walk.problems.push(unknown(path, walk))
    else if (isGroup(value)) collect(value, [...above, key], walk)
    else walk.problems.push(`${path} (in ${walk.name}): must be an object of settings`)
  }
}

function unknown(path: string, walk: Walk): string {
  const near = meant(path)
  return `${path} (in ${walk.name}): no such setting${near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`}`
}

/** The settings that a path may mean: those of its last name, which are in another group, else one that is written nearly so. */
function meant(path: string): string[] {
  const paths = SETTINGS.map((setting) => setting.path)
  const elsewhere = paths.filter((known) => lastOf(known) === lastOf(path))
  if (elsewhere.length > 0) return elsewhere.length <= MOST_MEANT ? elsewhere : []
  const near = nearest(path, paths)
  return near === undefined ? [] : [near]
}

const lastOf = (path: string) => path.slice(path.lastIndexOf('.') + 1)

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
