import { lstatSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fault } from '../../errors/fault.ts'
import type { ModuleRules } from '../../model/apis/definition/api.ts'
import type { Log } from '../../model/logs/log.ts'
import { type ModuleBounds, ModuleSet } from './module-set.ts'

/** The limits that the administrator sets. */
export interface ModuleSettings extends ModuleBounds {
  /** '' = no modules. */
  readonly folder: string
}

/** The modules of all APIs of a gateway. */
export class Modules {
  readonly #settings: ModuleSettings
  readonly #log: Log
  readonly #open = new Set<ModuleSet>()

  constructor(settings: ModuleSettings, log: Log) {
    this.#settings = settings
    this.#log = log
  }

  /**
   * Starts the modules of an API.
   * @throws Fault `definition_invalid` where modules are not allowed, or one of these cannot be found in their folder
   */
  open(apiId: string, rules: ModuleRules): ModuleSet {
    const { folder } = this.#settings
    if (folder === '')
      throw fault(
        'definition_invalid',
        'it calls modules: set gateway.modules.path (SVC_GW_MODULES_PATH) to their folder',
      )
    const names = new Set(
      Object.values(rules.refs)
        .flat()
        .map(({ file }) => file),
    )
    const files = [...names].map((file) => [file, findModule(folder, file)] as const)
    const set = new ModuleSet(apiId, rules, files, this.#settings, this.#log)
    this.#open.add(set)
    return set
  }

  /** Lets the modules of an API go that is served no more, or was recompiled. */
  close(set: ModuleSet): void {
    this.#open.delete(set)
    set.close()
  }

  /** Reloads every module from its file. */
  reload(): void {
    for (const set of this.#open) set.reload()
  }
}

/**
 * The absolute path of a module's file. No symbolic link leads out of the folder; names that do are refused when a definition is saved (`moduleFileFault`).
 * @throws Fault `definition_invalid` where the file does not exist, or a link is on its path
 */
function findModule(folder: string, file: string): string {
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
