import { BlockList, isIP, isIPv4 } from 'node:net'
import { fault } from '../../errors/fault.ts'

/** IPv4 networks that are not part of the public internet (IANA special-purpose registry), and what clouds keep inside. */
const PRIVATE_V4 = [
  '0.0.0.0/8', // this network: reaches the own host
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT, and metadata of a cloud
  '127.0.0.0/8',
  '168.63.129.16/32', // a public address that a cloud answers on inside
  '169.254.0.0/16', // link-local, and the metadata of most clouds
  '172.16.0.0/12',
  '192.0.0.0/24', // protocol assignments, and metadata of a cloud
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/3', // multicast, reserved, broadcast
]
/** Global unicast is `2000::/3`; these parts of it are not, or hide an IPv4 address. */
const PRIVATE_V6 = [
  '2001::/23', // protocol assignments, Teredo
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
]
const GLOBAL_V6 = listOf(['2000::/3'])
const PRIVATE = listOf([...PRIVATE_V4, ...PRIVATE_V6])
/** IPv4-mapped, and NAT64 by the well-known prefix: the IPv4 address in the last 32 bits is the one that counts. */
const CARRIES_V4 = listOf(['::ffff:0:0/96', '64:ff9b::/96'])

/**
 * True for an address of the public internet. False for loopback, link-local, private, unique-local, shared, multicast, reserved,
 * documentation and metadata addresses, whether IPv4, IPv6, or IPv4 within IPv6, and for text that is no address.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  // with a zone it belongs to one link
  if (family === 0 || address.includes('%')) return false
  if (family === 4) return !PRIVATE.check(address, 'ipv4')
  if (CARRIES_V4.check(address, 'ipv6')) return isPublicAddress(lastAsV4(address))
  return GLOBAL_V6.check(address, 'ipv6') && !PRIVATE.check(address, 'ipv6')
}

/**
 * Reads the address of a webhook: http or https, no user and no password in it. A host that is an address is judged here, a name
 * when it is resolved. @throws Fault `webhook_target_refused` (400)
 */
export function readWebhookTarget(text: string, { allowPrivate }: { readonly allowPrivate: boolean }): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw fault('webhook_target_refused', 'a webhook target must be an absolute http or https URL')
  if (url.username !== '' || url.password !== '')
    throw fault('webhook_target_refused', 'a webhook target must not hold a user name or password')
  // URL has turned numbers such as 0x7f.1 or 2130706433 into ordinary addresses
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) !== 0) refusePrivate([host], allowPrivate)
  return url
}

/** Those of the addresses that may be connected to. @throws Fault `webhook_target_refused` (400) when none may */
export function refusePrivate(addresses: readonly string[], allowPrivate: boolean): readonly string[] {
  const open = allowPrivate ? addresses : addresses.filter(isPublicAddress)
  if (open.length > 0) return open
  throw fault(
    'webhook_target_refused',
    'the target is on a loopback, link-local, private or reserved network, which webhooks may not reach',
  )
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6')
  }
  return list
}

/** The last 32 bits of an IPv6 address as an IPv4 one. */
function lastAsV4(address: string): string {
  const dotted = address.includes('.') ? address.slice(address.lastIndexOf(':') + 1) : undefined
  if (dotted !== undefined) return dotted
  const [high = 0, low = 0] = address
    .replace(/::$/, '::0:0')
    .replace('::', ':0:0:')
    .split(':')
    .slice(-2)
    .map((group) => Number.parseInt(group, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
