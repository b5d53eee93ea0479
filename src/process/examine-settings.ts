import { existsSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import type { LoadedConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import type { Finding } from '../model/nodes/finding.ts'
import { SECRETS_FILE } from '../store/secrets/secret-file.ts'

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
export function examineSettings({ config, warnings, origins }: LoadedConfig): Finding[] {
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
