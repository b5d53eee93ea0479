import { prebuilt } from '../../errors/fault.ts'
import type { AuthRules } from '../../model/api.ts'
import type { Step } from '../exchange.ts'

const REPEATED = prebuilt('credential_repeated')

/** Lower-case names of the headers that any scheme of an API reads a credential from. */
export function credentialHeaders(auth: AuthRules | undefined): readonly string[] {
  if (auth === undefined) return []
  const schemes = [auth, ...(auth.alternatives ?? []).flat()]
  return [...new Set(schemes.flatMap(({ header }) => (header === undefined ? [] : [header])))]
}

/**
 * Refuses a request that has a credential's header twice, even with the same value: gateway and upstream could each read another.
 * undefined where only `Authorization` is read, of which the wire takes one.
 */
export function refuseRepeated(auth: AuthRules): Step | undefined {
  const names = credentialHeaders(auth).filter((name) => name !== 'authorization')
  if (names.length === 0) return undefined
  return function refuseRepeated(x) {
    if (x.skipAuthentication) return undefined
    return names.some((name) => x.request.repeats(name)) ? REPEATED : undefined
  }
}
