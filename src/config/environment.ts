import { resolve } from 'node:path'
import { nearest } from '../errors/suggest.ts'
import { readText } from './file.ts'
import { AUTO, SETTINGS, type Setting, type SettingValue } from './settings.ts'

const WHOLE = /^-?\d{1,16}$/

export type Environment = Readonly<Record<string, string | undefined>>

interface GivenValue {
  readonly value: SettingValue
  /** Name in the environment. */
  readonly name: string
  /** The file that a secret was read from; undefined where the value itself is in the environment. */
  readonly file?: string
}

export interface EnvironmentSettings {
  readonly values: ReadonlyMap<Setting, GivenValue>
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

const PREFIX = 'SVC_'
const FILE_SUFFIX = '_FILE'
/** Names under the prefix that are no settings: `SVC_CONFIG` names the file of settings, the others are of the moving commands. */
const OTHER_NAMES: ReadonlySet<string> = new Set([
  'SVC_CONFIG',
  ...['SVC_SYNC_DASHBOARD', 'SVC_SYNC_SECRET', 'SVC_SYNC_RECIPIENT', 'SVC_SYNC_IDENTITY', 'SVC_IMPORT_REDIS'],
])
/** A name that does not follow from its setting, and that installations have. */
const IRREGULAR = new Map([['dashboard.sso_default_group_id', 'SVC_DB_SSODEFAULTUSERGROUP']])
const BY_ENV: ReadonlyMap<string, Setting> = new Map(
  SETTINGS.flatMap((setting): [string, Setting][] => {
    const other = IRREGULAR.get(setting.path)
    return [[setting.env, setting], ...(other === undefined ? [] : [[other, setting] as [string, Setting]])]
  }),
)

/**
 * Reads the settings that the environment names under `SVC_`, and under the prefix of each alias word, where `SVC_` wins.
 * `..._FILE` reads a secret from a file, without its last line end. An unknown name is a problem under `SVC_` and
 * a warning under an alias, because the words of another product are not ours to refuse.
 * @throws Fault `setting_invalid` when a secret's file cannot be read
 */
export function readEnvironment(env: Environment, aliases: readonly string[]): EnvironmentSettings {
  const read = readPrefix(env, PREFIX)
  const values = new Map(read.values)
  const problems = [...read.problems, ...read.unknown.map(unknownName)]
  const strange: string[] = []
  for (const alias of aliases) {
    const other = readPrefix(env, `${alias.toUpperCase()}_`)
    for (const [setting, found] of other.values) if (!values.has(setting)) values.set(setting, found)
    problems.push(...other.problems)
    strange.push(...other.unknown)
  }
  const warnings = strange.length === 0 ? [] : [`ignored, not known here: ${strange.join(', ')}`]
  return { values, problems, warnings }
}

interface Found {
  readonly values: Map<Setting, GivenValue>
  readonly problems: string[]
  readonly unknown: string[]
}

function readPrefix(env: Environment, prefix: string): Found {
  const found: Found = { values: new Map(), problems: [], unknown: [] }
  for (const name of Object.keys(env).sort()) {
    const text = env[name]
    if (text === undefined || !name.startsWith(prefix)) continue
    const known = PREFIX + name.slice(prefix.length)
    if (!OTHER_NAMES.has(known)) take(found, name, known, text)
  }
  return found
}

/** `name` is what the environment calls it, `known` the same under our own prefix. */
function take(found: Found, name: string, known: string, text: string): void {
  const plain = BY_ENV.get(known)
  const secret = known.endsWith(FILE_SUFFIX) ? BY_ENV.get(known.slice(0, -FILE_SUFFIX.length)) : undefined
  if (plain !== undefined) put(found, plain, name, text)
  else if (secret?.secret === true) put(found, secret, name, readText(text, name).replace(/\r?\n$/, ''), resolve(text))
  else found.unknown.push(name)
}

function put(found: Found, setting: Setting, name: string, text: string, file?: string): void {
  const other = found.values.get(setting)
  const value = parseText(setting, text)
  if (other !== undefined) found.problems.push(`${setting.path}: given twice, by ${other.name} and ${name}`)
  else if (value === undefined) found.problems.push(refusal(setting, name, text))
  else found.values.set(setting, { value, name, ...(file !== undefined && { file }) })
}

/** The line that says what is wrong with a value. `from` is an environment name, or `in <file>`. Secrets are not quoted. */
export function refusal(setting: Setting, from: string, value: unknown): string {
  const shown = setting.secret ? 'the value' : JSON.stringify(value).slice(0, 100)
  return `${setting.path} (${from}): ${shown} is not allowed; give ${setting.allowed}`
}

function unknownName(name: string): string {
  const near = nearest(name, BY_ENV.keys())
  return `${name}: no such setting${near === undefined ? '' : `; did you mean ${near}?`}`
}

/**
 * Reads the text of an environment variable as the kind of its setting.
 * Lists: JSON, or values separated by commas. Maps: a JSON object of texts. Lists of objects: JSON; what is in the objects is the
 * schema's to judge. Answers undefined when the text is not of that kind.
 */
function parseText(setting: Setting, text: string): SettingValue | undefined {
  if (setting.kind === 'text') return text
  const trimmed = text.trim()
  if (setting.kind === 'flag') return parseFlag(trimmed)
  if (setting.auto && trimmed === AUTO) return AUTO
  if (setting.kind === 'whole') return WHOLE.test(trimmed) ? Number(trimmed) : undefined
  if (setting.kind === 'objects') return parseObjects(trimmed)
  return setting.kind === 'map' ? parseMap(trimmed) : parseList(trimmed)
}

function parseObjects(text: string): readonly Readonly<Record<string, unknown>>[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

function parseFlag(text: string): boolean | undefined {
  const lower = text.toLowerCase()
  if (lower === 'true' || lower === '1') return true
  return lower === 'false' || lower === '0' ? false : undefined
}

function parseMap(text: string): Readonly<Record<string, string>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const entries = Object.entries(value)
    const good = entries.every(([name, item]) => typeof item === 'string' && name !== '__proto__')
    return good ? (value as Record<string, string>) : undefined
  } catch {
    return undefined
  }
}

function parseList(text: string): readonly string[] | undefined {
  if (!text.startsWith('[')) {
    return text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  }
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
  } catch {
    return undefined
  }
}
