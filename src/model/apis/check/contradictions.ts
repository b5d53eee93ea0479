import { isMethodOn } from '../../authentication/scheme.ts'
import type { JsonObject } from '../../json/json.ts'
import type { ApiDocument } from '../definition/api.ts'
import { EXTENSION } from '../definition/extension.ts'
import type { Flaw } from '../definition/flaw.ts'
import { flagOf, numberOf } from '../definition/members.ts'
import { getAt, pathOf, type TreePath } from '../definition/tree.ts'
import { AUTH_SWITCHES } from '../read/read-auth.ts'

/** Two switches of which one turns off what the other turns on, and which of them counts. */
export interface Contradiction {
  readonly format: ApiDocument['format']
  readonly off: TreePath
  readonly on: TreePath
  /** True where the protection holds all the same. */
  readonly closed: boolean
  /** True where `on` asks for something. */
  readonly asks: (definition: JsonObject) => boolean
}

const flag = (path: TreePath) => (definition: JsonObject) => flagOf(getAt(definition, path.slice(0, -1)), path.at(-1)!)

function row(
  format: Contradiction['format'],
  off: string,
  on: string,
  more: Partial<Pick<Contradiction, 'closed' | 'asks'>> = {},
): Contradiction {
  const at = (path: string) => (format === 'oas' ? [EXTENSION, ...pathOf(path)] : pathOf(path))
  return { format, off: at(off), on: at(on), closed: false, asks: flag(at(on)), ...more }
}

/** True for a limit that is not switched off itself. */
const limits = (path: string, isOn: (limit: JsonObject) => boolean) => (definition: JsonObject) => {
  const limit = (getAt(definition, pathOf(path)) ?? {}) as JsonObject
  return isOn(limit) && numberOf(limit, 'rate') > 0
}

/** All pairs of such switches. A section that is switched off by its own member is none: what it holds is kept for later. */
export const CONTRADICTIONS: readonly Contradiction[] = [
  ...AUTH_SWITCHES.map((each) =>
    row('classic', 'use_keyless', each.on, { asks: (classic) => isMethodOn(classic, each) }),
  ),
  row('classic', 'ip_access_control_disabled', 'enable_ip_whitelisting', { closed: true }),
  row('classic', 'ip_access_control_disabled', 'enable_ip_blacklisting', { closed: true }),
  row('classic', 'disable_rate_limit', 'global_rate_limit', {
    asks: limits('global_rate_limit', (limit) => !flagOf(limit, 'disabled')),
  }),
  row('oas', 'middleware.global.skipRateLimit', 'upstream.rateLimit', {
    asks: limits(`${EXTENSION}.upstream.rateLimit`, (limit) => flagOf(limit, 'enabled')),
  }),
]

/** Says of switches that contradict each other which one counts. Whether a document without authentication is open is said elsewhere. */
export function contradictionWarnings({ format, definition }: Pick<ApiDocument, 'format' | 'definition'>): Flaw[] {
  return CONTRADICTIONS.flatMap((each): Flaw[] => {
    if (each.format !== format || !flag(each.off)(definition) || !each.asks(definition)) return []
    const [off, on] = [each.off.at(-1)!, each.on.at(-1)!]
    return each.closed
      ? [{ at: each.off, reason: `has no effect: "${on}" is on` }]
      : [{ at: each.on, reason: `has no effect: "${off}" is on` }]
  })
}
