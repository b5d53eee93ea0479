import { call } from '../calls/call.ts'

export interface Setting {
  readonly path: string
  readonly env: string
  /** JSON; masked for a secret. */
  readonly value: string
  readonly from: 'default' | 'file' | 'env'
  readonly source: string
  readonly description: string
  readonly allowed: string
  readonly secret: boolean
}

export interface Settings {
  readonly version: string
  readonly settings: readonly Setting[]
}

export const SETTINGS_KEY = ['settings'] as const

/** The settings that the installation was started with. */
export const readSettings = () => call<Settings>('GET', '/api/system/settings')
