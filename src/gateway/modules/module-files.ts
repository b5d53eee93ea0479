import { lstatSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fault } from '../../errors/fault.ts'

/**
 * The absolute path of a module's file. No symbolic link leads out of the folder; names that do are refused when a definition is saved (`moduleFileFault`).
 * @throws Fault `definition_invalid` where the file does not exist, or a link is on its path
 */
export function findModule(folder: string, file: string): string {
  const path = join(realOf(folder), file)
  let real: string
  try {
    real = realpathSync(path)
  } catch (error) {
    throw fault('definition_invalid', `module ${file}: cannot be read in gateway.modules.path (${codeOf(error)})`)
  }
  if (real !== path) throw fault('definition_invalid', `module ${file}: must not be reached through a symbolic link`)
  if (!lstatSync(path).isFile()) throw fault('definition_invalid', `module ${file}: must be a file`)
  return path
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder)
  } catch (error) {
    throw fault('definition_invalid', `gateway.modules.path: the folder cannot be read (${codeOf(error)})`)
  }
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? 'no reason')
}
