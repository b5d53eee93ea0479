import type { JsonObject } from '../../json/json.ts'

/** Where on the way of a request modules of users are called. */
export type ModulePhase = 'pre' | 'postAuthentication' | 'post' | 'response'

/** A function of a module: its file below the folder of modules, and the name under which it is exported. */
export interface ModuleRef {
  readonly file: string
  readonly name: string
  /** Longest body of a request that the function is shown; 0 = it is shown none. */
  readonly bodyLimitBytes: number
}

/** The modules that an API calls, in order, and what its definition tells them. */
export interface ModuleRules {
  readonly refs: Readonly<Record<ModulePhase, readonly ModuleRef[]>>
  readonly config: JsonObject
}

/** Longest body that a module may read or write. */
export const MAX_MODULE_BODY_BYTES = 1_048_576

const FILE = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.m?[jt]s$/
const NAME = /^[A-Za-z_$][\w$]*$/
const LONGEST = 200

/** Why a text cannot name the file of a module; undefined when it can. A name that fits cannot lead out of its folder. */
export function moduleFileFault(file: string): string | undefined {
  if (file.length <= LONGEST && FILE.test(file)) return undefined
  return 'must be a file below the folder of modules, such as "tenant.ts" or "shop/prices.ts"'
}

/** Why a text cannot name a function of a module; undefined when it can. */
export function moduleNameFault(name: string): string | undefined {
  return name.length <= LONGEST && NAME.test(name)
    ? undefined
    : 'must be the name of a function that the module exports'
}

/** Why a number cannot bound the bodies that a function is shown; undefined when it can. */
export function moduleBodyFault(bytes: number): string | undefined {
  const fits = Number.isInteger(bytes) && bytes >= 0 && bytes <= MAX_MODULE_BODY_BYTES
  return fits ? undefined : `must be a whole number of bytes, at most ${MAX_MODULE_BODY_BYTES}`
}
