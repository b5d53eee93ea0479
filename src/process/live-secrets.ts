import { existsSync, readFileSync, unwatchFile, watchFile } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { LoadedConfig } from '../config/load.ts'
import { fault, toFault } from '../errors/fault.ts'
import type { Log } from '../model/logs/log.ts'
import { existingSecrets, type RotatedSecret, rotateSecret, SECRETS_FILE } from '../store/secrets/secret-file.ts'

/** A changed file is noticed within this time. */
const SECRETS_NOTICED_MS = 250
const SHORTEST = 16

/** Places of the administration secrets. */
export interface SecretSources {
  /** The data folder, whose `secrets.json` holds those that no setting gives. */
  readonly folder: string
  readonly gateway: SecretSource
  readonly admin: SecretSource
}

interface SecretSource {
  readonly current: Given
  readonly previous: Given
}

/** A secret as a setting gives it. `file`: where it was read from, and is read from again; '' = it stays as it is. */
interface Given {
  readonly setting: string
  readonly value: string
  readonly file: string
}

/** The sources that the settings name. */
export function secretSources({ config, origins }: LoadedConfig, folder: string): SecretSources {
  const given = (setting: string, value: string): Given => ({ setting, value, file: origins.get(setting)?.file ?? '' })
  return {
    folder,
    gateway: {
      current: given('gateway.secret', config.gateway.secret),
      previous: given('gateway.secret_previous', config.gateway.secret_previous),
    },
    admin: {
      current: given('dashboard.admin_secret', config.dashboard.admin_secret),
      previous: given('dashboard.admin_secret_previous', config.dashboard.admin_secret_previous),
    },
  }
}

/** The secrets that are accepted now: the current one first, then the one before while it is kept. */
export interface AcceptedSecrets {
  readonly gateway: readonly string[]
  readonly admin: readonly string[]
}

/**
 * The administration secrets, read again within a second when a file of them changes; no restart. A file that cannot be read, or
 * holds a secret that is too short, is logged and changes nothing.
 */
export class LiveSecrets {
  readonly #sources: SecretSources
  readonly #log: Log
  readonly #files: readonly string[]
  #accepted: AcceptedSecrets

  /** @throws Fault as `existingSecrets` */
  constructor(sources: SecretSources, log: Log) {
    this.#sources = sources
    this.#log = log
    this.#accepted = read(sources)
    const given = [sources.gateway, sources.admin].flatMap(({ current, previous }) => [current.file, previous.file])
    this.#files = [join(sources.folder, SECRETS_FILE), ...given.filter((file) => file !== '')]
    for (const file of this.#files) watchFile(file, { interval: SECRETS_NOTICED_MS, persistent: false }, this.#changed)
  }

  get accepted(): AcceptedSecrets {
    return this.#accepted
  }

  close(): void {
    for (const file of this.#files) unwatchFile(file, this.#changed)
  }

  readonly #changed = (): void => {
    try {
      this.#accepted = read(this.#sources)
      this.#log.info({}, 'administration secrets read again')
    } catch (error) {
      this.#log.error(
        { cause: toFault(error) },
        'changed administration secrets cannot be used; the old ones stay in use',
      )
    }
  }
}

function read({ folder, gateway, admin }: SecretSources): AcceptedSecrets {
  const own = existingSecrets(folder)
  const accepted = ({ current, previous }: SecretSource, made: string, before: string) => {
    const now = readGiven(current, false)
    const list = now === '' ? [made, before] : [now, readGiven(previous, true)]
    return list.filter((secret) => secret !== '')
  }
  return {
    gateway: accepted(gateway, own.gateway_secret, own.gateway_secret_previous),
    admin: accepted(admin, own.admin_secret, own.admin_secret_previous),
  }
}

/** A mount that is being replaced is gone for a moment. */
function readGiven({ setting, value, file }: Given, mayBeEmpty: boolean): string {
  if (file === '') return value
  if (!existsSync(file)) throw fault('setting_invalid', `${setting}: ${file} is missing`)
  const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  // The value from the start has been judged by then.
  if (text !== value && text.replace(/\s/gu, '').length < SHORTEST && !(mayBeEmpty && text === ''))
    throw fault('setting_invalid', `${setting}: the secret in ${file} is shorter than ${SHORTEST} characters`)
  return text
}

/**
 * Makes a new secret in `secrets.json` beside the one before, or with `end` forgets the one before. Resolves with the path of
 * the file when running processes know of an administration secret; a seal key is read at their next start. @throws Fault as `rotateSecret`
 */
export async function rotateStoredSecret(folder: string, name: RotatedSecret, end: boolean): Promise<string> {
  const path = rotateSecret(folder, name, end)
  await wait(2 * SECRETS_NOTICED_MS)
  return path
}
