import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { fault } from '../errors/fault.ts'
import { existingSecrets, SECRETS_FILE } from '../store/secrets/secret-file.ts'

/**
 * The secret of `X-Svc-Authorization`, for a program beside the gateway: of the settings, else of the data folder.
 * @throws Fault `setting_invalid` where neither has one
 */
export function gatewaySecretOf({ gateway, storage }: Config): string {
  if (gateway.secret !== '') return gateway.secret
  const folder = resolve(storage.path)
  if (existsSync(join(folder, SECRETS_FILE))) return existingSecrets(folder).gateway_secret
  throw fault(
    'setting_invalid',
    `there is no ${SECRETS_FILE} in ${folder}: set gateway.secret (SVC_GW_SECRET) to the secret of the gateway, or storage.path to its data folder`,
  )
}
