import { existsSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { resolve } from 'node:path'
import type { Config } from './schema.ts'

/** A value that its schema accepts and that is wrong all the same. */
export interface Problem {
  readonly path: string
  readonly text: string
}

/**
 * Checks what a schema cannot say: URLs, networks, and settings that contradict each other or name a file that is not there.
 * `cwd` is what relative paths are relative to.
 */
export function checkConfig(config: Config, cwd: string): Problem[] {
  const { gateway, dashboard } = config
  return [
    ...checkPublicUrl(gateway.public_url),
    ...checkOrigin('dashboard.public_url', dashboard.public_url),
    ...gateway.trusted_proxies.filter((entry) => !isNetwork(entry)).map(notNetwork),
    ...checkManagementNode(gateway),
    ...checkTls(gateway.tls, cwd),
    ...checkFile('gateway.app_path', gateway.app_path, cwd),
  ]
}

function checkPublicUrl(text: string): Problem[] {
  if (text === '') return []
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain = url !== undefined && url.search + url.hash + url.username + url.password === '' && !/[?#]/.test(text)
  if (plain && (url.protocol === 'http:' || url.protocol === 'https:')) return []
  const allowed = 'give an absolute http or https URL without query, fragment, user or password'
  return [{ path: 'gateway.public_url', text: `is no address that clients can use; ${allowed}` }]
}

/** Cookies, passkeys and links of mails belong to a whole host. */
function checkOrigin(path: string, text: string): Problem[] {
  if (text === '') return []
  const url = URL.canParse(text) ? new URL(text) : undefined
  const web = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (web && (text === url.origin || text === `${url.origin}/`)) return []
  return [{ path, text: 'is no address of a host; give one such as https://dashboard.example.org, in lower case' }]
}

/** True for an IPv4 or IPv6 address, or a network written as address/bits. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  if (bits === undefined) return true
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return false
  new BlockList().addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6')
  return true
}

function notNetwork(entry: string): Problem {
  const text = `"${entry.slice(0, 100)}" is neither an address nor a network; give entries such as 192.0.2.1 or 10.0.0.0/8`
  return { path: 'gateway.trusted_proxies', text }
}

function checkManagementNode(gateway: Config['gateway']): Problem[] {
  if (!gateway.management_node || !gateway.db_app_conf_options.node_is_segmented) return []
  const text =
    'cannot be true together with gateway.db_app_conf_options.node_is_segmented: a management node must load every API, ' +
    'and a segmented node loads only those of its tags'
  return [{ path: 'gateway.management_node', text }]
}

function checkTls(tls: Config['gateway']['tls'], cwd: string): Problem[] {
  const missing = (path: string, other: string): Problem => ({ path, text: `must be given, because ${other} is` })
  const pair: Problem[] = []
  if (tls.cert_file === '' && tls.key_file !== '') pair.push(missing('gateway.tls.cert_file', 'gateway.tls.key_file'))
  if (tls.key_file === '' && tls.cert_file !== '') pair.push(missing('gateway.tls.key_file', 'gateway.tls.cert_file'))
  return [
    ...pair,
    ...checkFile('gateway.tls.cert_file', tls.cert_file, cwd),
    ...checkFile('gateway.tls.key_file', tls.key_file, cwd),
  ]
}

function checkFile(path: string, value: string, cwd: string): Problem[] {
  if (value === '' || existsSync(resolve(cwd, value))) return []
  return [{ path, text: `"${value.slice(0, 200)}" does not exist (looked for in ${cwd})` }]
}
