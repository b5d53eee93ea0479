import type { LoadedConfig, SettingSource } from './load.ts'
import { SETTINGS } from './settings.ts'

export interface ExplainedSetting {
  readonly path: string
  readonly env: string
  /** JSON of the value; a secret that is set is masked. */
  readonly shown: string
  readonly origin: SettingSource
  /** The line of the docs. */
  readonly description: string
  /** The accepted values, in words. */
  readonly allowed: string
  readonly secret: boolean
}

const MASK = '"********"'
/** Widest column of the table, in characters. */
const MOST_WIDTH = 48

/** Lists every setting with its value, where the value came from and its environment name. Secrets are masked. */
export function explainSettings(loaded: LoadedConfig): ExplainedSetting[] {
  return SETTINGS.map((setting) => {
    const value = setting.segments.reduce<unknown>(
      (group, name) => (group as Record<string, unknown>)[name],
      loaded.config,
    )
    const masked = setting.secret && value !== ''
    const origin = loaded.origins.get(setting.path)!
    const { path, env, description, allowed, secret } = setting
    return { path, env, shown: masked ? MASK : JSON.stringify(value), origin, description, allowed, secret }
  })
}

/** Lays explained settings out as a table for a terminal, one setting a line. */
export function formatSettings(settings: readonly ExplainedSetting[]): string {
  const rows = settings.map(({ path, shown, origin, env }) => [path, shown, originText(origin), env])
  const table = [['setting', 'value', 'from', 'environment'], ...rows]
  // A long value makes its own row longer, not all of them.
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => Math.min(row[column]!.length, MOST_WIDTH))))
  return table.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')).join('\n')
}

function originText(origin: SettingSource): string {
  return origin.from === 'default' ? 'default' : `${origin.from} ${origin.name}`
}
