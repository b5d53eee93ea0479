import { BlockList, isIP } from 'node:net'
import { fault } from '../../errors/fault.ts'

/** True for `10.0.0.1`, `10.0.0.0/8`, `::1`, `fd00::/8`. */
export function isAddressOrRange(text: string): boolean {
  const slash = text.indexOf('/')
  const family = isIP(slash === -1 ? text : text.slice(0, slash))
  if (family === 0) return false
  if (slash === -1) return true
  const bits = text.slice(slash + 1)
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
}

/**
 * Compiles addresses and CIDR ranges into one list; requests only ask it.
 * @throws Fault `definition_invalid` naming an entry that is neither
 */
export function addressList(entries: readonly string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries) {
    if (!isAddressOrRange(entry))
      throw fault('definition_invalid', `"${entry}" is neither an IP address nor a CIDR range`)
    const slash = entry.indexOf('/')
    const address = slash === -1 ? entry : entry.slice(0, slash)
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (slash === -1) list.addAddress(address, family)
    else list.addSubnet(address, Number(entry.slice(slash + 1)), family)
  }
  return list
}
