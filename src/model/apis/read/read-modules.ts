import type { JsonObject } from '../../json/json.ts'
import {
  type ModulePhase,
  type ModuleRef,
  type ModuleRules,
  moduleBodyFault,
  moduleFileFault,
  moduleNameFault,
} from '../definition/api.ts'
import { flagOf, numberOf, objectOf, objectsOf, textOf } from '../definition/members.ts'
import type { Flaw } from '../definition/tree.ts'

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
/** The function's name in both formats, and the longest body that it gets. */
const NAMES = { classic: ['name', 'body_limit_bytes'], oas: ['functionName', 'bodyLimitBytes'] } as const
const NO_REQUEST = 'is for functions that see the request: those of answers get the body of the answer'

/** Reads `custom_middleware`; undefined when no module is called. */
export function readModules(classic: JsonObject): ModuleRules | undefined {
  const held = objectOf(classic, 'custom_middleware')
  const refsOf = (phase: ModulePhase): ModuleRef[] =>
    objectsOf(held, MODULE_LISTS[phase].classic)
      .filter((entry) => !flagOf(entry, 'disabled'))
      .map((entry) => ({
        file: textOf(entry, 'path'),
        name: textOf(entry, 'name'),
        bodyLimitBytes: numberOf(entry, 'body_limit_bytes'),
      }))
  const refs = {
    pre: refsOf('pre'),
    postAuthentication: refsOf('postAuthentication'),
    post: refsOf('post'),
    response: refsOf('response'),
  }
  if (PHASES.every((phase) => refs[phase].length === 0)) return undefined
  return { refs, config: flagOf(classic, 'config_data_disabled') ? {} : objectOf(classic, 'config_data') }
}

/** The errors of a classic definition's modules. */
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
      const [name, bound] = NAMES[format]
      const bytes = numberOf(entry, bound)
      const reasons = {
        path: moduleFileFault(textOf(entry, 'path')),
        [name]: moduleNameFault(textOf(entry, name)),
        [bound]: phase === 'response' && bytes !== 0 ? NO_REQUEST : moduleBodyFault(bytes),
      }
      return Object.entries(reasons).flatMap(([member, reason]) =>
        reason === undefined ? [] : [{ at: [...root, list, String(index), member], reason }],
      )
    })
    if (entries.filter((entry) => !isOff(entry)).length <= MAX_OF_PHASE) return flaws
    return [...flaws, { at: [...root, list], reason: `must not hold more than ${MAX_OF_PHASE} that are enabled` }]
  })
}
