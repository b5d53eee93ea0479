import type { Choice, MoveKind } from './kind.ts'
import { APIS } from './kind-apis.ts'
import { CLIENTS } from './kind-clients.ts'
import { HOOKS } from './kind-hooks.ts'
import { KEYS } from './kind-keys.ts'
import { GROUPS, LABELS } from './kind-labels-groups.ts'
import { POLICIES } from './kind-policies.ts'
import { DOCUMENTATION, PAGES, PORTAL } from './kind-portal.ts'

/** All types of objects that are moved, in the order of creation: an object comes after those that it refers to. */
export const MOVE_KINDS: readonly MoveKind[] = [
  LABELS,
  GROUPS,
  HOOKS,
  APIS,
  POLICIES,
  CLIENTS,
  KEYS,
  DOCUMENTATION,
  PORTAL,
  PAGES,
]

/** The types that an option selects. */
export function kindsOf(choices: ReadonlySet<Choice>): MoveKind[] {
  return MOVE_KINDS.filter(({ choice }) => choices.has(choice))
}
