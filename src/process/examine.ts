import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer, isIP } from 'node:net'
import { join, resolve } from 'node:path'
import type { LoadedConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { toFault } from '../errors/fault.ts'
import { readCertificate } from '../model/certificates/certificate.ts'
import type { Finding } from '../model/nodes/health.ts'
import { DAY_MS } from '../model/time/calendar.ts'
import type { Documents } from '../store/ports/ports.ts'
import { SECRETS_FILE } from '../store/secrets/secret-file.ts'
import { examineStore } from './examine-store.ts'

interface UnsafeSetting {
  readonly where: string
  readonly isUnsafe: (config: Config) => boolean
  readonly what: string
  readonly action: string
}

const UNSAFE: readonly UnsafeSetting[] = [
  {
    where: 'webhooks.allow_private',
    isUnsafe: ({ webhooks }) => webhooks.allow_private,
    what: 'webhooks may reach loopback and private networks',
    action: 'set it to false unless receivers are there on purpose',
  },
  {
    where: 'sso.allow_private',
    isUnsafe: ({ sso }) => sso.allow_private,
    what: 'identity providers may be on private networks and answer in clear',
    action: 'set it to false unless your provider is there on purpose',
  },
  {
    where: 'dashboard.import_url.allow_private',
    isUnsafe: ({ dashboard }) => dashboard.import_url.enabled && dashboard.import_url.allow_private,
    what: 'users can have the dashboard read documents from private networks',
    action: 'set it to false',
  },
  {
    where: 'portal.allow_unsafe_get',
    isUnsafe: ({ portal }) => portal.allow_unsafe_get,
    what: 'a GET changes state at the portal: any link can do it',
    action: 'have the portal use the replacement call, and set it to false',
  },
  {
    where: 'dashboard.email_backend.settings.smtp_tls',
    isUnsafe: ({ dashboard }) => isInClear(dashboard.email_backend.settings),
    what: 'mails, with their links for new passwords, leave in clear',
    action: 'set it to starttls or implicit',
  },
  {
    where: 'gateway.tls',
    isUnsafe: ({ gateway }) =>
      !gateway.tls.enabled && gateway.trusted_proxies.length === 0 && !isLocal(gateway.listen_host),
    what: 'keys and tokens cross the network in clear: there is neither TLS nor a proxy that ends it',
    action: 'set gateway.tls.enabled, or name the proxy in front in gateway.trusted_proxies',
  },
  {
    where: 'storage.redis_url',
    isUnsafe: ({ storage }) => /^redis:/.test(storage.redis_url) && !isLocal(hostOf(storage.redis_url)),
    what: 'the connection to Redis is in clear',
    action: 'use a rediss:// address',
  },
]

function isInClear({ smtp_host: host, smtp_tls: tls }: Config['dashboard']['email_backend']['settings']): boolean {
  return host !== '' && tls === 'none' && !isLocal(host)
}

/** Settings that are valid and unsafe, secrets that are too short, and files that others can read. */
function examineSettings({ config, warnings, origins }: LoadedConfig): Finding[] {
  const found = UNSAFE.filter(({ isUnsafe }) => isUnsafe(config)).map(({ where, what, action }): Finding => {
    return { severity: 'warning', check: 'settings', where, what, action }
  })
  const findings = warnings.map((what): Finding => {
    return { severity: 'warning', check: 'settings', where: 'settings', what, action: 'see docs/generated/config.md' }
  })
  const files = [...origins.values()].filter(({ from }) => from === 'file').map(({ name }) => name)
  const folder = resolve(config.storage.path)
  return [...found, ...findings, ...readableByOthers([...new Set(files), folder, join(folder, SECRETS_FILE)])]
}

function readableByOthers(paths: readonly string[]): Finding[] {
  if (process.platform === 'win32') return []
  return paths
    .filter((path) => existsSync(path) && (statSync(path).mode & 0o007) !== 0)
    .map((where) => ({
      ...{ severity: 'warning', check: 'settings', where, what: 'other users of this machine can read it' },
      action: `chmod o= ${where}`,
    }))
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}

function isLocal(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}

/** A certificate is to be renewed before its last days. */
const WARN_DAYS = 30
const HELLO_MS = 2_000

/**
 * Looks an installation over: settings, store, clock, ports, certificates. Changes nothing, and works beside a running server. `full`
 * reads every row of the store and tells `onRows` how many. Never rejects.
 */
export async function examine(
  load: () => LoadedConfig,
  full: boolean,
  onRows?: (rows: number) => void,
): Promise<Finding[]> {
  let loaded: LoadedConfig
  try {
    loaded = load()
  } catch (error) {
    const lines = toFault(error).message.split('\n')
    return lines.map((what) => {
      return { severity: 'error', check: 'configuration', where: 'settings', what, action: 'correct the setting' }
    })
  }
  const { config } = loaded
  const store = await examineStore(config, full, onRows)
  try {
    return [
      ...examineSettings(loaded),
      ...store.findings,
      ...(await examinePorts(config, store.running)),
      ...examineFiles(config),
      ...(store.documents === undefined ? [] : await examineCertificates(store.documents)),
    ]
  } finally {
    await store.close()
  }
}

async function examinePorts({ gateway, dashboard }: Config, running: boolean): Promise<Finding[]> {
  const ports = [
    { where: 'gateway.listen_port', host: gateway.listen_host, port: gateway.listen_port },
    { where: 'gateway.control_port', host: gateway.control_host, port: gateway.control_port },
    { where: 'dashboard.listen_port', host: dashboard.listen_host, port: dashboard.listen_port },
  ]
  const findings: Finding[] = []
  for (const { where, host, port } of ports) {
    if (port === 0) continue
    const code = await whyNotFree(host, port)
    if (code === undefined || (code === 'EADDRINUSE' && (running || (await isOurs(host, port))))) continue
    const what =
      code === 'EADDRINUSE' ? `another program uses port ${port}` : `port ${port} cannot be opened on ${host} (${code})`
    findings.push({
      severity: 'error',
      check: 'ports',
      where,
      what,
      action: 'end that program, or set another port or host',
    })
  }
  return findings
}

function whyNotFree(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.on('error', (error) => resolve('code' in error ? String(error.code) : error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

/** True where a Gatehouse answers. */
async function isOurs(host: string, port: number): Promise<boolean> {
  const named = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  try {
    const answer = await fetch(`http://${named}:${port}/hello`, { signal: AbortSignal.timeout(HELLO_MS) })
    return /Gatehouse/.test(await answer.text())
  } catch {
    return false
  }
}

function examineFiles({ gateway, dashboard }: Config): Finding[] {
  const files = [gateway.tls, dashboard.tls].filter((tls) => tls.enabled && tls.cert_file !== '')
  return files.flatMap(({ cert_file: file }): Finding[] => {
    try {
      return examineDates(file, readCertificate(readFileSync(file, 'utf8')).notAfter, 'replace the file')
    } catch (error) {
      const what = `cannot be read: ${toFault(error).message}`
      return [{ severity: 'error', check: 'certificates', where: file, what, action: 'replace the file' }]
    }
  })
}

async function examineCertificates(documents: Documents): Promise<Finding[]> {
  const findings: Finding[] = []
  try {
    for await (const batch of documents.scan('certificate'))
      for (const { body } of batch) {
        const { cert_id: id, subject, not_after: until } = body
        findings.push(
          ...examineDates(
            `certificate ${id} (${subject})`,
            Date.parse(String(until)),
            'add a new one, and name it in its place',
          ),
        )
      }
  } catch {
    // A store that cannot be read is a finding of its own.
  }
  return findings
}

function examineDates(where: string, until: number, action: string): Finding[] {
  const days = Math.floor((until - Date.now()) / DAY_MS)
  if (days >= WARN_DAYS) return []
  const date = new Date(until).toISOString().slice(0, 10)
  const expired = days < 0
  return [
    {
      ...{ severity: expired ? 'error' : 'warning', check: 'certificates', where, action },
      what: expired ? `expired on ${date}` : `expires in ${days} days, on ${date}`,
    },
  ]
}
