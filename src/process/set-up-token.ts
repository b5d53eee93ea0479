import { resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { secretBytes } from '../model/secret.ts'
import { setupToken } from '../publish/people/installation.ts'
import { openSecrets } from '../store/secretFile.ts'

/** The token of the set-up link of the installation in the data folder, whether it is open or not. @throws Fault as `openSecrets` */
export function setUpTokenOf(config: Config): string {
  const { seal_key } = openSecrets(resolve(config.storage.path))
  return setupToken({ sealKey: secretBytes(seal_key) })
}
