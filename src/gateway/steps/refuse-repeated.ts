import { prebuilt } from '../../errors/fault.ts'
import type { AuthRules } from '../../model/api.ts'
import type { Step } from '../exchange.ts'

/** Lower-case names of the headers that any scheme of an API reads a credential from. */
export function credentialHeaders(auth: AuthRules | undefined): readonly string[] {
  if (auth === undefined) return []
  const schemes = [auth, ...(auth.alternatives ?? []).flat()]
  return [...new Set(schemes.flatMap(({ header }) => (header === undefined ? [] : [header])))]
}

/**
 * Refuses a request that gives a credential twice, even the same one: gateway and upstream could each read another.
 * undefined where only `Authorization` is read, of which the wire takes one.
 */
export function refuseRepeated(auth: AuthRules): Step | undefined {
  const names = credentialHeaders(auth).filter((name) => name !== 'authorization')
  if (names.length === 0) return undefined
  const refusals = names.map((name) => ({
    name,
    refusal: prebuilt('request_malformed', `${name} given twice: send one credential`),
  }))
  return function refuseRepeated(x) {
    if (x.skipAuthentication) return undefined
    const repeated = refusals.find(({ name }) => x.request.repeats(name))
    return repeated?.refusal
  }
}
