import { closeSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fault } from '../../errors/fault.ts'
import { isObject } from '../../model/json/json.ts'
import { newSecret, secretBytes } from '../../model/secrets/secret.ts'

/** Its name in the data folder. */
export const SECRETS_FILE = 'secrets.json'

/** Fewest characters of a secret that can be guessed at through a port. */
const SHORTEST = 16

const NAMES = ['gateway_secret', 'admin_secret', 'seal_key'] as const
/** Values before the last rotation, until that is ended; '' or absent = not accepted any more. */
const PREVIOUS = ['gateway_secret_previous', 'admin_secret_previous', 'seal_key_previous'] as const

/** The secrets that an installation creates at its first start. Each is 256 bits, base64url. */
export type Secrets = Readonly<Record<(typeof NAMES | typeof PREVIOUS)[number], string>>

/**
 * Reads `secrets.json` of the data folder, or makes it (mode 0600, durable when this returns). One that is damaged is never
 * replaced: data that is sealed under its key would become unreadable. `sealKey` and `sealKeyPrevious` replace the seal keys of the
 * file; '' = none.
 * @throws Fault `setting_invalid` when it is damaged, or the key is none, `data_folder_unreadable`, `data_folder_unwritable`
 */
export function openSecrets(folder: string, sealKey = '', sealKeyPrevious = ''): Secrets {
  const path = join(folder, SECRETS_FILE)
  return withSealKey(readSecrets(path) ?? makeSecrets(folder, path), sealKey, sealKeyPrevious)
}

/**
 * Reads `secrets.json` of a data folder that must have one: for everything after the first start, when new secrets would be those of no
 * installation. Otherwise as `openSecrets`. @throws Fault `setting_invalid` also when it is missing, `data_folder_unwritable`
 */
export function existingSecrets(folder: string, sealKey = '', sealKeyPrevious = ''): Secrets {
  const secrets = readSecrets(join(folder, SECRETS_FILE))
  if (secrets === undefined)
    throw fault('setting_invalid', `there is no ${SECRETS_FILE} in ${folder}; put the file of the last backup back`)
  return withSealKey(secrets, sealKey, sealKeyPrevious)
}

function withSealKey(secrets: Secrets, sealKey: string, sealKeyPrevious: string): Secrets {
  if (sealKey === '') return secrets
  secretBytes(sealKey)
  return { ...secrets, seal_key: sealKey, seal_key_previous: sealKeyPrevious }
}

function readSecrets(path: string): Secrets | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw fault(
      'data_folder_unreadable',
      `cannot read ${path} (${codeOf(error)}): run this as the user of the server`,
      error,
    )
  }
  return parseSecrets(path, text)
}

/** The secrets in the text of such a file. @throws Fault `setting_invalid` naming `path` */
export function parseSecrets(path: string, text: string): Secrets {
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    // The error of the parser quotes the text.
    throw fault('setting_invalid', `${path} is not JSON; put the file of the last backup back`)
  }
  if (!isObject(found))
    throw fault('setting_invalid', `${path} is not a JSON object; put the file of the last backup back`)
  const secrets = {} as Record<(typeof NAMES | typeof PREVIOUS)[number], string>
  for (const name of [...NAMES, ...PREVIOUS]) {
    const isOptional = PREVIOUS.some((each) => each === name)
    const value = found[name] ?? (isOptional ? '' : undefined)
    if (typeof value !== 'string' || (value === '' && !isOptional))
      throw fault('setting_invalid', `${path} has no ${name}`)
    if (value !== '' && value.length < SHORTEST)
      throw fault('setting_invalid', `${path}: ${name} is shorter than ${SHORTEST} characters; give it a longer one`)
    secrets[name] = value
  }
  secretBytes(secrets.seal_key)
  return secrets
}

function makeSecrets(folder: string, path: string): Secrets {
  const made = { gateway_secret: newSecret(), admin_secret: newSecret(), seal_key: newSecret() }
  return putSecrets(folder, path, {
    ...made,
    gateway_secret_previous: '',
    admin_secret_previous: '',
    seal_key_previous: '',
  })
}

/** Writes the text of such a file into a data folder that has none, or one with the same secrets. @throws Fault `data_folder_unwritable`, `setting_invalid` */
export function writeSecrets(folder: string, text: string): void {
  const path = join(folder, SECRETS_FILE)
  putSecrets(folder, path, parseSecrets(path, text))
}

function putSecrets(folder: string, path: string, secrets: Secrets): Secrets {
  const draft = `${path}.${process.pid}`
  try {
    writeDurably(draft, textOf(secrets))
    // A link, not a rename: it fails when another process was first, so that existing secrets are never replaced.
    linkSync(draft, path)
    syncFolder(folder)
    return secrets
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return parseSecrets(path, readFileSync(path, 'utf8'))
    throw fault('data_folder_unwritable', `cannot write ${path} (${codeOf(error)})`, error)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** A secret of the file that can be rotated. */
export type RotatedSecret = (typeof NAMES)[number]

/**
 * Makes a new secret, and keeps the one before beside it; `end` forgets that one instead. Answers the path of the file.
 * @throws Fault as `openSecrets`, `setting_invalid` where a rotation is not ended yet
 */
export function rotateSecret(folder: string, name: RotatedSecret, end: boolean): string {
  const path = join(folder, SECRETS_FILE)
  const secrets = readSecrets(path)
  if (secrets === undefined) throw fault('setting_invalid', `there is no ${SECRETS_FILE} in ${folder}`)
  const previous = `${name}_previous` as const
  if (!end && secrets[previous] !== '')
    throw fault('setting_invalid', `the last rotation of ${name} has not been ended: do that first, with --end`)
  const changed = end ? { ...secrets, [previous]: '' } : { ...secrets, [name]: newSecret(), [previous]: secrets[name] }
  const draft = `${path}.${process.pid}`
  try {
    writeDurably(draft, textOf(changed))
    renameSync(draft, path)
    syncFolder(folder)
    return path
  } catch (error) {
    throw fault('data_folder_unwritable', `cannot write ${path} (${codeOf(error)})`, error)
  } finally {
    rmSync(draft, { force: true })
  }
}

function textOf(secrets: Partial<Secrets>): string {
  const held = Object.entries(secrets).filter(([, secret]) => secret !== '')
  return `${JSON.stringify(Object.fromEntries(held), null, 2)}\n`
}

function writeDurably(path: string, text: string): void {
  rmSync(path, { force: true })
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Makes the name itself durable. Windows has no such thing and refuses to open a folder. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
