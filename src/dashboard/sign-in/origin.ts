import { fault } from '../../errors/fault.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

/**
 * Refuses calls that a page of another site made a browser send. Needed where no session and so no CSRF token is there yet: else
 * that page could sign its visitor in as another user. Programs send neither `Origin` nor `Sec-Fetch-Site`.
 * @throws Fault `origin_foreign` (403)
 */
export function checkOrigin({ config }: DashboardParts, call: Pick<Call, 'header'>): void {
  const site = call.header('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw fault('origin_foreign')
  const origin = call.header('origin')
  if (origin === undefined) return
  const own = [hostOf(config.dashboard.public_url), call.header('host')?.toLowerCase()]
  const host = hostOf(origin)
  if (host === undefined || !own.includes(host)) throw fault('origin_foreign')
}

/** True where browsers reach the dashboard by TLS, as the settings say. */
export function usesTls({ config }: Pick<DashboardParts, 'config'>): boolean {
  const { public_url: url, tls } = config.dashboard
  return tls.enabled || url.startsWith('https:')
}

/** True when the browser used TLS, as far as the headers show. A false header harms only its sender. */
export function cameByTls({ config }: DashboardParts, call: Pick<Call, 'header'>): boolean {
  return usesTls({ config }) || call.header('x-forwarded-proto') === 'https'
}

/** The relying party of passkeys (WebAuthn): the host, and the address that the browser shows. */
export interface RelyingParty {
  readonly id: string
  readonly origin: string
}

/**
 * The relying party ID of passkeys: the host of `dashboard.public_url`, or without it localhost on any port, where
 * browsers allow it. @throws Fault `passkeys_unavailable` (409)
 */
export function relyingParty({ config }: DashboardParts, call: Pick<Call, 'header'>): RelyingParty {
  const { public_url: configured } = config.dashboard
  const text =
    configured === '' ? `${usesTls({ config }) ? 'https' : 'http'}://${call.header('host') ?? ''}` : configured
  if (!URL.canParse(text)) throw fault('passkeys_unavailable')
  const { hostname, origin } = new URL(text)
  if (configured === '' && hostname !== 'localhost') throw fault('passkeys_unavailable')
  return { id: hostname, origin }
}

function hostOf(text: string): string | undefined {
  return URL.canParse(text) ? new URL(text).host : undefined
}
