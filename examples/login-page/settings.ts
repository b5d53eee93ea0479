import { readFileSync } from 'node:fs'

/** The settings of the login page for the gateway. */
export interface LoginSettings {
  /** Address of the gateway's port that answers `/svc/`: the traffic port, unless there is a control port. */
  readonly adminUrl: string
  /** Address of the API: the gateway and the listen path, ended by a slash. */
  readonly apiUrl: string
  readonly apiId: string
  /** The gateway's secret, for `X-Svc-Authorization`. */
  readonly secret: string
  /** Port of the login page; 0 = any free one. */
  readonly port: number
  /** Address that browsers reach the page under, where a proxy is in front; '' = as it listens. */
  readonly publicUrl: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the settings from the environment. @throws Error naming the variable that is missing */
export function readSettings(env: Environment): LoginSettings {
  const gatewayUrl = needed(env, 'GATEWAY_URL').replace(/\/+$/, '')
  const listenPath = needed(env, 'LISTEN_PATH').replace(/^\/*(.*?)\/*$/, '/$1/')
  return {
    adminUrl: (env.ADMIN_URL ?? gatewayUrl).replace(/\/+$/, ''),
    apiUrl: gatewayUrl + listenPath.replace(/^\/\/$/, '/'),
    apiId: needed(env, 'API_ID'),
    secret: env.GATEWAY_SECRET ?? secretInFile(needed(env, 'GATEWAY_SECRETS_FILE')),
    port: Number(env.PORT ?? 8091),
    publicUrl: env.PUBLIC_URL ?? '',
  }
}

/** The secret that a gateway made for itself: `secrets.json` in its data folder. @throws Error when it is not there */
export function secretInFile(path: string): string {
  const { gateway_secret: secret } = JSON.parse(readFileSync(path, 'utf8')) as { gateway_secret?: unknown }
  if (typeof secret !== 'string') throw new Error(`no "gateway_secret" in ${path}`)
  return secret
}

function needed(env: Environment, name: string): string {
  const value = env[name]
  if (value === undefined || value === '') throw new Error(`set ${name}; examples/login-page/README.md says how`)
  return value
}
