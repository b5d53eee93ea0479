import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { fault } from '../errors/fault.ts'
import { secretBytes } from '../model/secrets/secret.ts'
import { setupToken } from '../publish/organisations/installation.ts'
import { openSecrets, SECRETS_FILE } from '../store/secrets/secret-file.ts'

/** The token of the set-up link of the installation in the data folder, whether it is open or not. @throws Fault as `openSecrets` */
export function setUpTokenOf(config: Config): string {
  const folder = resolve(config.storage.path)
  // Made here, they would be those of no installation.
  if (!existsSync(join(folder, SECRETS_FILE)))
    throw fault(
      'setting_invalid',
      `there is no ${SECRETS_FILE} in ${folder}: set storage.path to the data folder of the running server`,
    )
  const { seal_key } = openSecrets(folder)
  return setupToken({ sealKey: secretBytes(seal_key) })
}
