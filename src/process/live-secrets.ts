import { existsSync, readFileSync, unwatchFile, watchFile } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { LoadedConfig } from '../config/load.ts'
import { type Fault, fault, toFault } from '../errors/fault.ts'
import type { Log } from '../model/logs/log.ts'
import { existingSecrets, type RotatedSecret, rotateSecret, SECRETS_FILE } from '../store/secrets/secret-file.ts'

/** A changed file is noticed within this time. */
const SECRETS_NOTICED_MS = 250
const SHORTEST = 16

/** Places of the secrets that may change while a process runs. */
export interface SecretSources {
  /** The data folder, whose `secrets.json` holds those that no setting gives. */
  readonly folder: string
  readonly gateway: SecretSource
  readonly admin: SecretSource
  /** Of scrapers (`metrics.secret`). */
  readonly scraper: Given
  /** The initial access token of registrations. */
  readonly registration: Given
  /** The password at the mail server. */
  readonly mail: Given
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
    scraper: given('metrics.secret', config.metrics.secret),
    registration: given('gateway.oauth_registration_token', config.gateway.oauth_registration_token),
    mail: given(
      'dashboard.email_backend.settings.smtp_password',
      config.dashboard.email_backend.settings.smtp_password,
    ),
  }
}

/** The secrets that are accepted now: the current one first, then the one before while it is kept. */
export interface AcceptedSecrets {
  readonly gateway: readonly string[]
  readonly admin: readonly string[]
  /** The lines of the file, or the setting; none = scrapers have no secret. */
  readonly scraper: readonly string[]
  readonly registration: readonly string[]
  /** The password for the mail server: the first line of the file. */
  readonly mail: string
}

/**
 * The secrets of administration, scrapers, registrations and the mail server, read again within a second when a file of them changes; no restart. A file that cannot be read, or
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
    const { gateway, admin, scraper, registration, mail } = sources
    const paired = [gateway, admin].flatMap(({ current, previous }) => [current, previous])
    const given = [...paired, scraper, registration, mail].map(({ file }) => file)
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
      this.#log.info({}, 'secrets read again')
    } catch (error) {
      this.#log.error({ cause: toFault(error) }, 'changed secrets cannot be used; the old ones stay in use')
    }
  }
}

function read({ folder, gateway, admin, scraper, registration, mail }: SecretSources): AcceptedSecrets {
  const own = existingSecrets(folder)
  const accepted = ({ current, previous }: SecretSource, made: string, before: string) => {
    const now = readGiven(current, false)
    const list = now === '' ? [made, before] : [now, readGiven(previous, true)]
    return list.filter((secret) => secret !== '')
  }
  return {
    gateway: accepted(gateway, own.gateway_secret, own.gateway_secret_previous),
    admin: accepted(admin, own.admin_secret, own.admin_secret_previous),
    scraper: readLines(scraper, SHORTEST),
    registration: readLines(registration, SHORTEST),
    // Its length is for the mail server to judge.
    mail: readLines(mail, 1)[0] ?? '',
  }
}

/** The lines of a secret's file, each of which is accepted: the new one beside the old one during the overlap. */
function readLines(given: Given, shortest: number): readonly string[] {
  const text = readText(given)
  const lines = text.split(/\r?\n/).filter((line) => line !== '')
  if (text === given.value) return lines
  if (lines.length === 0 || lines.some((line) => isShort(line, shortest))) throw shortSecret(given, shortest)
  return lines
}

function readGiven(given: Given, mayBeEmpty: boolean): string {
  const text = readText(given)
  // The value from the start has been judged by then.
  if (text !== given.value && isShort(text, SHORTEST) && !(mayBeEmpty && text === ''))
    throw shortSecret(given, SHORTEST)
  return text
}

/** A mount that is being replaced is gone for a moment. */
function readText({ setting, value, file }: Given): string {
  if (file === '') return value
  if (!existsSync(file)) throw fault('setting_invalid', `${setting}: ${file} is missing`)
  return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
}

function isShort(secret: string, shortest: number): boolean {
  return secret.replace(/\s/gu, '').length < shortest
}

function shortSecret({ setting, file }: Given, shortest: number): Fault {
  const reason = shortest === 1 ? 'is empty' : `is shorter than ${shortest} characters`
  return fault('setting_invalid', `${setting}: the secret in ${file} ${reason}`)
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
