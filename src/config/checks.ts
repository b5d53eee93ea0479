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
    ...checkAddress('gateway.public_url', gateway.public_url),
    ...checkEdges(dashboard.edge_endpoints),
    ...checkAddress('opentelemetry.endpoint', config.opentelemetry.endpoint),
    ...checkOrigin('dashboard.public_url', dashboard.public_url),
    ...checkNetworks('gateway.trusted_proxies', gateway.trusted_proxies),
    ...checkNetworks('gateway.proxy_protocol_networks', gateway.proxy_protocol_networks),
    ...gateway.dns_servers.filter((entry) => !isServer(entry)).map(notServer),
    ...checkSockets(gateway),
    ...checkManagementNode(gateway),
    ...checkTls('gateway.tls', gateway.tls, cwd),
    ...checkFile('gateway.tls.client_crl_file', gateway.tls.client_crl_file, cwd),
    ...checkTls('dashboard.tls', dashboard.tls, cwd),
    ...checkFile('gateway.app_path', gateway.app_path, cwd),
    ...checkBuckets(config.metrics.duration_buckets_ms),
    ...checkCluster(config.storage),
    ...checkWorkers(config),
  ]
}

const MOST_BUCKETS = 50

function checkBuckets(buckets: readonly string[]): Problem[] {
  const path = 'metrics.duration_buckets_ms'
  if (buckets.length > MOST_BUCKETS) return [{ path, text: `has more than ${MOST_BUCKETS} bounds` }]
  const grow = buckets.every((bound, i) => Number(bound) > (i === 0 ? 0 : Number(buckets[i - 1])))
  return grow ? [] : [{ path, text: 'must grow from bound to bound, from above 0' }]
}

/** Documents of a cluster without its counters, or the other way round, would limit nobody, or each node by itself. */
function checkCluster({ postgres_url, postgres_listen_url, redis_url }: Config['storage']): Problem[] {
  const missing = (path: string, other: string, why: string): Problem => {
    return { path, text: `must be given, because ${other} is: ${why}` }
  }
  const postgres = 'storage.postgres_url'
  if (postgres_url !== '' && redis_url === '') {
    return [
      missing('storage.redis_url', postgres, 'nodes that share a PostgreSQL count rates and quotas together in Redis'),
    ]
  }
  if (redis_url !== '' && postgres_url === '') {
    return [missing(postgres, 'storage.redis_url', 'Redis holds counters alone; keys and documents are in PostgreSQL')]
  }
  if (postgres_listen_url === '' || postgres_url !== '') return []
  return [missing(postgres, 'storage.postgres_listen_url', 'notices announce what is read there')]
}

const LAST_PORT = 65_535

function checkWorkers({ gateway: { workers, control_port: control }, storage }: Config): Problem[] {
  // With the embedded store they are threads, which share the control port too.
  if (workers === 1 || storage.postgres_url === '') return []
  const path = 'gateway.workers'
  if (control === 0 || control + workers - 1 <= LAST_PORT) return []
  return [{ path, text: `is too many for gateway.control_port ${control}: each has its own, one after the other` }]
}

/** Longest path of a socket, in bytes, that systems take (`sun_path`, without its last byte). */
const MAX_SOCKET_PATH_BYTES = 103

function checkSockets({ listen_socket, upstream_sockets, workers }: Config['gateway']): Problem[] {
  const problems: Problem[] = []
  const isSocket = (path: string) => /^\/[^\s:?#\\]+$/.test(path) && Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES
  for (const socket of upstream_sockets)
    if (!isSocket(socket))
      problems.push({ path: 'gateway.upstream_sockets', text: `has ${socket}, which is no absolute path of a socket` })
  if (listen_socket === '') return problems
  const path = 'gateway.listen_socket'
  if (!listen_socket.startsWith('unix:') || !isSocket(listen_socket.slice('unix:'.length)))
    problems.push({ path, text: `must be unix: and an absolute path of at most ${MAX_SOCKET_PATH_BYTES} bytes` })
  else if (workers > 1)
    problems.push({ path, text: 'must be empty with several gateway.workers: one process owns a socket' })
  return problems
}

function checkAddress(path: string, text: string): Problem[] {
  if (text === '') return []
  const url = URL.canParse(text) ? new URL(text) : undefined
  const plain = url !== undefined && url.search + url.hash + url.username + url.password === '' && !/[?#]/.test(text)
  if (plain && (url.protocol === 'http:' || url.protocol === 'https:')) return []
  const allowed = 'give an absolute http or https URL without query, fragment, user or password'
  return [{ path, text: `is no address that clients can use; ${allowed}` }]
}

function checkEdges(edges: Config['dashboard']['edge_endpoints']): Problem[] {
  const path = 'dashboard.edge_endpoints'
  const wrong = edges.flatMap(({ name, endpoint }) =>
    checkAddress(path, endpoint).map((problem) => ({ path, text: `endpoint of "${name}" ${problem.text}` })),
  )
  const twice = edges.find(({ name }, at) => edges.findIndex((edge) => edge.name === name) !== at)
  return twice === undefined
    ? wrong
    : [...wrong, { path, text: `"${twice.name}" is there twice; give each its own name` }]
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
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  if (bits === undefined) return true
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return false
  new BlockList().addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6')
  return true
}

function checkNetworks(path: string, entries: readonly string[]): Problem[] {
  return entries
    .filter((entry) => !isNetwork(entry))
    .map((entry) => {
      const shown = entry.slice(0, 100)
      const text = `"${shown}" is neither an address nor a network; give entries such as 192.0.2.1 or 10.0.0.0/8`
      return { path, text }
    })
}

/** A host, optionally with a port; an IPv6 address is in brackets. */
function isServer(entry: string): boolean {
  if (isIP(entry) !== 0) return true
  const [, bare, bracketed, port] = /^(?:([^:[\]]+)|\[([^[\]]+)\]):(\d{1,5})$/.exec(entry) ?? []
  return (isIP(bare ?? '') === 4 || isIP(bracketed ?? '') === 6) && Number(port) > 0 && Number(port) <= LAST_PORT
}

function notServer(entry: string): Problem {
  const text = `"${entry.slice(0, 100)}" is no address of a DNS server; give entries such as 192.0.2.53 or 192.0.2.53:5353`
  return { path: 'gateway.dns_servers', text }
}

function checkManagementNode(gateway: Config['gateway']): Problem[] {
  if (!gateway.management_node || !gateway.db_app_conf_options.node_is_segmented) return []
  const text =
    'cannot be true together with gateway.db_app_conf_options.node_is_segmented: a management node must load every API, ' +
    'and a segmented node loads only those of its tags'
  return [{ path: 'gateway.management_node', text }]
}

function checkTls(
  at: 'gateway.tls' | 'dashboard.tls',
  tls: Config['dashboard' | 'gateway']['tls'],
  cwd: string,
): Problem[] {
  const { cert_file: cert, key_file: key } = tls
  const missing = (name: string, other: string): Problem => ({
    path: `${at}.${name}`,
    text: `must be given, because ${at}.${other} is`,
  })
  const problems: Problem[] = []
  if (cert === '' && key !== '') problems.push(missing('cert_file', 'key_file'))
  if (key === '' && cert !== '') problems.push(missing('key_file', 'cert_file'))
  // Custom domains of APIs may have all certificates of the gateway.
  if (at === 'dashboard.tls' && tls.enabled && cert === '') problems.push(missing('cert_file', 'enabled'))
  if (tls.min_version === '1.3' && !tls.cipher_suites.some((name) => name.startsWith('TLS_'))) {
    const text = `must hold a suite of TLS 1.3 (TLS_...), because ${at}.min_version is 1.3`
    problems.push({ path: `${at}.cipher_suites`, text })
  }
  return [...problems, ...checkFile(`${at}.cert_file`, cert, cwd), ...checkFile(`${at}.key_file`, key, cwd)]
}

function checkFile(path: string, value: string, cwd: string): Problem[] {
  if (value === '' || existsSync(resolve(cwd, value))) return []
  return [{ path, text: `"${value.slice(0, 200)}" does not exist (looked for in ${cwd})` }]
}
