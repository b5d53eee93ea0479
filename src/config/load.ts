import { Ajv } from 'ajv'
import { fault } from '../errors/fault.ts'
import { automaticWorkers } from './automatic-workers.ts'
import { checkConfig, type Problem } from './checks.ts'
import { type Environment, readEnvironment, refusal } from './environment.ts'
import { type FileSettings, readSettingsFile } from './file.ts'
import { type Config, ConfigSchema } from './schema.ts'
import { AUTO, SETTINGS, type Setting } from './settings.ts'
import type { SystemView } from './usable-cores.ts'

/** Where the value of a setting came from. `name` is the file or the environment name, '' for a default. */
export interface SettingSource {
  readonly from: 'default' | 'file' | 'env'
  readonly name: string
  /** The file that a secret was read from, by `..._FILE`. */
  readonly file?: string
}

export interface LoadedConfig {
  readonly config: Config
  /** By setting path, one for each setting. */
  readonly origins: ReadonlyMap<string, SettingSource>
  /** To be logged at start. */
  readonly warnings: readonly string[]
  /** Those of them that say that a secret is too short to start with, each naming the setting. */
  readonly shortSecrets: readonly string[]
  /** Why `gateway.workers` is what it is; undefined = a number is set, or there was nothing to choose. */
  readonly workersReason: string | undefined
}

export interface LoadOptions {
  readonly env: Environment
  /** JSON file of settings; `SVC_CONFIG` if absent, else `gatehouse.json` in `cwd` if it is there. */
  readonly file?: string | undefined
  /** Absolute folder that relative paths start from. */
  readonly cwd: string
  /** False = the process runs no dashboard: all cores are for its gateways. */
  readonly dashboard?: boolean
  /** The system whose cores and memory `auto` looks at; absent = this one. */
  readonly system?: SystemView
}

const WORKERS = 'gateway.workers'
const SHORT_SECRET = 16

const validate = new Ajv({ allErrors: true, keywords: ['secret', 'allowed', 'auto'] }).compile(ConfigSchema)

/**
 * Puts the settings together: defaults, then the JSON file, then the environment, and checks the result.
 * @throws Fault `setting_invalid`, one line for each thing that is wrong, each naming the setting, where its value came
 * from and what is allowed
 */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const { env, cwd } = options
  const named = options.file ?? (env.SVC_CONFIG === '' ? undefined : env.SVC_CONFIG)
  const file = readSettingsFile(named, cwd)
  const environment = readEnvironment(env, aliasWords(file, env))
  const problems = [...file.problems, ...environment.problems]

  const root: Group = {}
  const origins = new Map<string, SettingSource>()
  const automatic = new Set<string>()
  for (const setting of SETTINGS) {
    const found = environment.values.get(setting)
    const below = file.values.has(setting) ? file.values.get(setting) : setting.default
    const value = found === undefined ? below : found.value
    const isAutomatic = setting.auto && value === AUTO
    if (isAutomatic) automatic.add(setting.path)
    place(root, setting.segments, isAutomatic ? 1 : value)
    origins.set(setting.path, originOf(setting, found, file))
  }
  problems.push(...schemaProblems(root, origins))
  const config = root as unknown as Config
  const chosen = problems.length === 0 && automatic.has(WORKERS) ? chooseWorkers(config, options) : undefined
  if (chosen !== undefined) place(root, WORKERS.split('.'), chosen.count)
  if (problems.length === 0) problems.push(...checkConfig(config, cwd).map((problem) => describe(problem, origins)))
  if (problems.length > 0) throw fault('setting_invalid', problems.join('\n'))
  const short = shortSecrets(config)
  const warnings = [...environment.warnings, ...short]
  return { config: deepFreeze(config), origins, warnings, shortSecrets: short, workersReason: chosen?.why }
}

function chooseWorkers(config: Config, { dashboard = true, system }: LoadOptions) {
  const { most } = SETTINGS.find(({ path }) => path === WORKERS)!
  return automaticWorkers(config, { most, dashboard, ...(system && { system }) })
}

/** The alias words decide which environment names count, so they are read before anything else. */
function aliasWords(file: FileSettings, env: Environment): readonly string[] {
  const setting = SETTINGS.find(({ path }) => path === 'compat.vendor_aliases')!
  const value =
    readEnvironment({ [setting.env]: env[setting.env] }, []).values.get(setting)?.value ?? file.values.get(setting)
  return Array.isArray(value) ? value.filter((word) => typeof word === 'string' && /^[a-z][a-z0-9]*$/.test(word)) : []
}

type Group = { [name: string]: unknown }

function place(root: Group, segments: readonly string[], value: unknown): void {
  let group = root
  for (const name of segments.slice(0, -1)) {
    group[name] ??= {}
    group = group[name] as Group
  }
  group[segments.at(-1)!] = value
}

function originOf(
  setting: Setting,
  found: { readonly name: string; readonly file?: string } | undefined,
  file: FileSettings,
): SettingSource {
  if (found !== undefined)
    return { from: 'env', name: found.name, ...(found.file !== undefined && { file: found.file }) }
  if (file.values.has(setting)) return { from: 'file', name: file.name }
  return { from: 'default', name: '' }
}

function schemaProblems(root: Group, origins: ReadonlyMap<string, SettingSource>): string[] {
  if (validate(root)) return []
  const wrong = new Set((validate.errors ?? []).map((error) => error.instancePath))
  return SETTINGS.filter(({ segments }) => [...wrong].some((path) => isAtOrBelow(path, segments))).map((setting) => {
    const value = setting.segments.reduce<unknown>((group, name) => (group as Group)[name], root)
    return refusal(setting, originText(origins.get(setting.path)!, setting.env), value)
  })
}

function isAtOrBelow(instancePath: string, segments: readonly string[]): boolean {
  return `${instancePath}/`.startsWith(`/${segments.join('/')}/`)
}

function describe(problem: Problem, origins: ReadonlyMap<string, SettingSource>): string {
  const setting = SETTINGS.find(({ path }) => path === problem.path)!
  return `${setting.path} (${originText(origins.get(setting.path)!, setting.env)}): ${problem.text}`
}

function originText(origin: SettingSource, env: string): string {
  if (origin.from === 'file') return `in ${origin.name}`
  return origin.from === 'env' ? origin.name : env
}

function shortSecrets(config: Config): string[] {
  const given = {
    'gateway.secret': config.gateway.secret,
    'gateway.secret_previous': config.gateway.secret_previous,
    'dashboard.admin_secret': config.dashboard.admin_secret,
    'dashboard.admin_secret_previous': config.dashboard.admin_secret_previous,
    'gateway.oauth_registration_token': config.gateway.oauth_registration_token,
    'metrics.secret': config.metrics.secret,
  }
  return Object.entries(given).flatMap(([path, secret]) => {
    const parts = partsOf(path, secret)
    if (!parts.some((part) => part.replace(/\s/gu, '').length < SHORT_SECRET)) return []
    const what = parts.length > 1 ? 'has a line that is' : 'is'
    return [
      `${path} ${what} shorter than ${SHORT_SECRET} characters, blanks not counted: anyone who can reach it can guess it`,
    ]
  })
}

/** Secrets that may have a line each while they overlap: each line is accepted. */
const LINES: readonly string[] = ['gateway.oauth_registration_token', 'metrics.secret']

function partsOf(path: string, secret: string): readonly string[] {
  if (secret === '') return []
  const lines = LINES.includes(path) ? secret.split(/\r?\n/).filter((line) => line !== '') : []
  return lines.length > 0 ? lines : [secret]
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const child of Object.values(value)) deepFreeze(child)
  return Object.freeze(value)
}
