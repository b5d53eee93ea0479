import { readFileSync } from 'node:fs'
import { fault } from '../../errors/fault.ts'

/**
 * The passwords in a file, one a line: read for each connection, so that a password changes without a restart. During a change the file holds
 * both. `setting` names what asked for it. @throws Fault `store_refused` when it cannot be read or holds none
 */
export function readPasswords(path: string, setting: string): readonly string[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const why = error instanceof Error ? error.message : path
    throw fault('store_refused', `${setting}: the password file cannot be read: ${why}`, error)
  }
  const passwords = text.split(/\r?\n/).filter((line) => line !== '')
  if (passwords.length === 0) throw fault('store_refused', `${setting}: the password file ${path} is empty`)
  return passwords
}
