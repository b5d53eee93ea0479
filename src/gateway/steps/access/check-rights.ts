import { prebuilt } from '../../../errors/fault.ts'
import { otherReadings, readablePath } from '../../../model/patterns/readable-path.ts'
import type { SessionAccess } from '../../../model/sessions/session-access.ts'
import type { Exchange, StepOutcome } from '../../server/exchange.ts'

const NO_API = prebuilt('api_not_in_rights')
const NO_PATH = prebuilt('path_not_in_rights')

/** Refuses a session without a right on the API, its version, or the method and path. */
export function checkRights(x: Exchange): StepOutcome {
  const session = x.session
  if (session === undefined) return undefined
  const plan = session.planFor(x.chain!)
  const access = plan.access
  if (access === undefined) return NO_API
  if (x.chain!.inlineVersion && !access.versions.has(x.chain!.version)) return NO_API
  if (!access.allowsAnyPath && !allows(access, x)) return NO_PATH
  x.plan = plan
  return undefined
}

/** Every path that the upstream may read must be allowed. */
function allows(access: SessionAccess, x: Exchange): boolean {
  const { method, apiPath: path } = x
  const readable = readablePath(path)
  if (!access.allows(method, readable, x)) return false
  return readable === path || otherReadings(readable).every((reading) => access.allows(method, reading, x))
}
