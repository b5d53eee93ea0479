import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

/**
 * The word that a response uses for `svc`, undefined = ours. A call that names none (`?extension=`) comes from a
 * client of the incumbent where aliases are configured.
 */
export function aliasOf({ config }: Pick<DashboardParts, 'config'>, call: Pick<Call, 'query'>): string | undefined {
  const aliases = config.compat.vendor_aliases
  const asked = call.query('extension')
  if (asked === 'svc') return undefined
  return aliases.includes(asked) ? asked : aliases[0]
}
