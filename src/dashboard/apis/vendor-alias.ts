import { answeredWord, wordIn } from '../../model/apis/definition/vendor-words.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

/**
 * The word that a response uses for `svc`, undefined = ours. A call that names none (`?extension=`) comes from a
 * client of the incumbent where aliases are configured.
 */
export function aliasOf({ config }: Pick<DashboardParts, 'config'>, call: Pick<Call, 'query'>): string | undefined {
  return answeredWord(call.query('extension'), config.compat.vendor_aliases)
}

/** The word that the body of a call uses for `svc`; undefined = ours. */
export function sentWord({ config }: Pick<DashboardParts, 'config'>, body: unknown): string | undefined {
  return body instanceof Uint8Array ? wordIn(body, config.compat.vendor_aliases) : undefined
}
