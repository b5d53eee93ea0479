import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { fault, toFault } from '../errors/fault.ts'
import type { Log } from '../model/logs/log.ts'
import { secretBytes } from '../model/secrets/secret.ts'
import type { SecretParts } from '../publish/documents/parts.ts'
import { openInstallation, setupToken } from '../publish/organisations/installation.ts'
import { setUpUnattended } from '../publish/organisations/set-up.ts'
import { existingSecrets, SECRETS_FILE } from '../store/secrets/secret-file.ts'

/**
 * Prepares an installation before anything is served: it gets its document, and with `bootstrap.email` its first organisation and first
 * user. Returns the token of the set-up link while that is open, else ''.
 * @throws Fault `setting_invalid` when the first user cannot be created as the settings say
 */
export async function firstStart(
  parts: SecretParts,
  { organisation, email, password, first_name: firstName, last_name: lastName }: Config['bootstrap'],
  log: Log,
): Promise<string> {
  const installation = await openInstallation(parts)
  if (installation.setup_hash === '') return ''
  if (email === '') return setupToken(parts)
  try {
    const made = await setUpUnattended(parts, { organisation, email, password, firstName, lastName })
    if (made) log.info({ email }, 'created the first organisation and its administrator')
    return ''
  } catch (error) {
    const { code, message } = toFault(error)
    // Another node that was started at the same time was faster.
    if ((await openInstallation(parts)).setup_hash === '') return ''
    if (code === 'internal' || code.startsWith('store')) throw error
    throw fault('setting_invalid', `bootstrap: the first user cannot be made: ${message}`, error)
  }
}

/** The set-up link. The token is in the fragment, which no server sees and no proxy logs. */
export function setUpLink(dashboard: string, token: string): string {
  return `${dashboard.replace(/\/$/, '')}/bootstrap#token=${token}`
}

/**
 * The token of the set-up link of an installation, whether it is open or not: derived from `storage.seal_key`, else from the key in the data
 * folder. @throws Fault as `existingSecrets`
 */
export function setUpTokenOf(config: Config): string {
  const { path, seal_key: given } = config.storage
  return setupToken({ sealKey: secretBytes(given === '' ? sealKeyIn(resolve(path)) : given) })
}

/** @throws Fault `setting_invalid` where the folder holds no key; made here, it would be that of no installation */
function sealKeyIn(folder: string): string {
  if (existsSync(join(folder, SECRETS_FILE))) return existingSecrets(folder).seal_key
  throw fault(
    'setting_invalid',
    `there is no ${SECRETS_FILE} in ${folder}: set storage.path to the data folder of the running server, or storage.seal_key to its key`,
  )
}
