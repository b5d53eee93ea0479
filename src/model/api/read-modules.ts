import type { JsonObject } from '../json.ts'
import {
  type ModulePhase,
  type ModuleRef,
  type ModuleRules,
  moduleFileFault,
  moduleNameFault,
} from '../module-rules.ts'
import { flagOf, objectOf, objectsOf, textOf } from './members.ts'
import type { Flaw } from './validate.ts'

/** Languages of modules that this gateway calls, as definitions name them. */
export const MODULE_DRIVER = 'typescript'

/** Lists of `custom_middleware`, and of the extension, by phase. */
export const MODULE_LISTS: Readonly<Record<ModulePhase, { readonly classic: string; readonly oas: string }>> = {
  pre: { classic: 'pre', oas: 'prePlugins' },
  postAuthentication: { classic: 'post_key_auth', oas: 'postAuthenticationPlugins' },
  post: { classic: 'post', oas: 'postPlugins' },
  response: { classic: 'response', oas: 'responsePlugins' },
}

const PHASES = Object.keys(MODULE_LISTS) as ModulePhase[]
const MAX_OF_PHASE = 20

/** Reads `custom_middleware`; undefined when no module is called. */
export function readModules(classic: JsonObject): ModuleRules | undefined {
  const held = objectOf(classic, 'custom_middleware')
  const refsOf = (phase: ModulePhase): ModuleRef[] =>
    objectsOf(held, MODULE_LISTS[phase].classic)
      .filter((entry) => !flagOf(entry, 'disabled'))
      .map((entry) => ({ file: textOf(entry, 'path'), name: textOf(entry, 'name') }))
  const refs = {
    pre: refsOf('pre'),
    postAuthentication: refsOf('postAuthentication'),
    post: refsOf('post'),
    response: refsOf('response'),
  }
  if (PHASES.every((phase) => refs[phase].length === 0)) return undefined
  return { refs, config: flagOf(classic, 'config_data_disabled') ? {} : objectOf(classic, 'config_data') }
}

/** What is wrong with the modules that a classic definition names. */
export function classicModuleFlaws(classic: JsonObject): Flaw[] {
  const held = objectOf(classic, 'custom_middleware')
  if (textOf(held, 'driver') !== MODULE_DRIVER) return []
  return flawsOfLists(held, 'classic', ['custom_middleware'], (entry) => flagOf(entry, 'disabled'))
}

/** The same for `middleware.global` of an extension. */
export function oasModuleFlaws(extension: JsonObject, root: readonly string[]): Flaw[] {
  const held = objectOf(objectOf(extension, 'middleware'), 'global')
  if (textOf(objectOf(held, 'pluginConfig'), 'driver') !== MODULE_DRIVER) return []
  return flawsOfLists(held, 'oas', [...root, 'middleware', 'global'], (entry) => !flagOf(entry, 'enabled'))
}

function flawsOfLists(
  held: JsonObject,
  format: 'classic' | 'oas',
  root: readonly string[],
  isOff: (entry: JsonObject) => boolean,
): Flaw[] {
  return PHASES.flatMap((phase) => {
    const list = MODULE_LISTS[phase][format]
    const entries = objectsOf(held, list)
    const flaws = entries.flatMap((entry, index): Flaw[] => {
      if (isOff(entry)) return []
      const name = format === 'classic' ? 'name' : 'functionName'
      const reasons = { path: moduleFileFault(textOf(entry, 'path')), [name]: moduleNameFault(textOf(entry, name)) }
      return Object.entries(reasons).flatMap(([member, reason]) =>
        reason === undefined ? [] : [{ at: [...root, list, String(index), member], reason }],
      )
    })
    if (entries.filter((entry) => !isOff(entry)).length <= MAX_OF_PHASE) return flaws
    return [...flaws, { at: [...root, list], reason: `must not hold more than ${MAX_OF_PHASE} that are enabled` }]
  })
}
