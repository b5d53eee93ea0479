import { readFileSync } from 'node:fs'
import { fault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { type PasswordRules, passwordRules } from '../../model/passwords/password-rules.ts'

/**
 * Reads the rules for passwords from a schema file (see `passwordRules`); without the file those of `usual` hold.
 * @throws Fault `setting_invalid` naming the file when it cannot be read, is no JSON object or states something unknown
 */
export function readPasswordRules(path: string, usual?: JsonObject): PasswordRules {
  const schema = readSchema(path) ?? usual
  try {
    return passwordRules(schema)
  } catch (cause) {
    throw fault('setting_invalid', `${path}: ${(cause as Error).message}`, cause)
  }
}

function readSchema(path: string): JsonObject | undefined {
  let schema: unknown
  try {
    schema = JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw fault('setting_invalid', `${path}: cannot be read: ${(cause as Error).message}`, cause)
  }
  if (!isObject(schema)) throw fault('setting_invalid', `${path}: must hold a JSON object`)
  return schema
}
