import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { fault } from '../errors/fault.ts'
import { secretBytes } from '../model/secrets/secret.ts'
import { setupToken } from '../publish/organisations/installation.ts'
import { existingSecrets, SECRETS_FILE } from '../store/secrets/secret-file.ts'

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
