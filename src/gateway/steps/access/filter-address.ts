import { isIP } from 'node:net'
import { prebuilt } from '../../../errors/fault.ts'
import { addressList } from '../../../model/network/address.ts'
import type { Step } from '../../server/exchange.ts'

const REFUSED = prebuilt('ip_forbidden')

/** Refuses clients off the allow list, or on the block list. An empty list does nothing. */
export function filterAddress(
  rules: { readonly allow: readonly string[]; readonly block: readonly string[] } | undefined,
): Step | undefined {
  if (rules === undefined || (rules.allow.length === 0 && rules.block.length === 0)) return undefined
  const allow = rules.allow.length === 0 ? undefined : addressList(rules.allow)
  const block = rules.block.length === 0 ? undefined : addressList(rules.block)
  return function filterAddress(x) {
    // An address that could not be read may be one that is off the list, or on it.
    if (!x.clientProven) return REFUSED
    const family = isIP(x.clientAddress) === 6 ? 'ipv6' : 'ipv4'
    if (allow !== undefined && !allow.check(x.clientAddress, family)) return REFUSED
    if (block?.check(x.clientAddress, family)) return REFUSED
    return undefined
  }
}
