/** The settings of the portal. */
export interface PortalSettings {
  /** Address of the dashboard, without a slash at its end. */
  readonly dashboardUrl: string
  /** API credential of a user with `portal: write` and `analytics: read`. */
  readonly credential: string
  /** Name of the portal. */
  readonly brand: string
  /** Where it listens, on loopback; 0 = any free port. */
  readonly port: number
  /** Address that browsers reach it under, where a proxy is in front; '' = as it listens. */
  readonly publicUrl: string
  /** True: the last address in `X-Forwarded-For` is that of the browser. */
  readonly behindProxy: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the settings from the environment. @throws Error naming the variable that is missing */
export function readSettings(env: Environment): PortalSettings {
  return {
    dashboardUrl: needed(env, 'DASHBOARD_URL').replace(/\/+$/, ''),
    credential: needed(env, 'PORTAL_CREDENTIAL'),
    brand: env.BRAND ?? 'Developer portal',
    port: Number(env.PORT ?? 8094),
    publicUrl: (env.PUBLIC_URL ?? '').replace(/\/+$/, ''),
    behindProxy: env.BEHIND_PROXY === 'true',
  }
}

function needed(env: Environment, name: string): string {
  const value = env[name]
  if (value === undefined || value === '') throw new Error(`set ${name}; examples/portal/README.md says how`)
  return value
}
