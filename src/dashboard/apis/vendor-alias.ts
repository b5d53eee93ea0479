import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

/**
 * The word in the place of `svc` that an answer is to use, undefined = ours. A call that names none (`?extension=`) comes from a
 * client of the incumbent where there are any, which is what the aliases are set for.
 */
export function aliasOf({ config }: Pick<DashboardParts, 'config'>, call: Pick<Call, 'query'>): string | undefined {
  const aliases = config.compat.vendor_aliases
  const asked = call.query('extension')
  if (asked === 'svc') return undefined
  return aliases.includes(asked) ? asked : aliases[0]
}
