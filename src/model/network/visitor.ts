import { isIPv6 } from 'node:net'

/** The addresses that count as one visitor: an IPv4 address, or the first 64 bits of an IPv6 address, whose rest costs nothing. */
export function visitorOf(address: string): string {
  if (!isIPv6(address)) return address
  const [front = '', back] = address.split('%')[0]!.split('::')
  const groups = front === '' ? [] : front.split(':')
  const rest = back === undefined || back === '' ? [] : back.split(':')
  const missing = back === undefined ? 0 : 8 - groups.length - rest.length - (address.includes('.') ? 1 : 0)
  const all = [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...rest]
  if (address.includes('.')) return all.at(-1)!
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
