import { isObject } from '../../model/json/json.ts'
import { seal, unseal } from '../../model/secrets/secret.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { cameByTls } from '../sign-in/origin.ts'

const COOKIE = 'gatehouse_sso'
/** How long a sign-in elsewhere may take. */
export const FLOW_MS = 600_000

/** A sign-in on its way to an identity provider and back, as the browser that began it keeps it. */
export interface Flow {
  /** The value that the response must name: the state of OpenID Connect, the request id of SAML. */
  readonly id: string
  readonly nonce: string
  readonly verifier: string
}

/**
 * `Set-Cookie` that binds a sign-in to the browser that began it. Sealed, so that nothing need be stored for strangers who begin
 * and never come back. `Lax` reaches us when the identity provider sends the browser back by GET.
 */
export function flowCookie(parts: DashboardParts, call: Call, profileId: string, flow: Flow): string {
  const kept = { ...flow, until: parts.clock.wall() + FLOW_MS }
  const value = seal(parts.sealKey, JSON.stringify(kept), contextOf(profileId)).toString('base64url')
  const secure = cameByTls(parts, call) ? '; Secure' : ''
  return `${COOKIE}=${value}; Path=/auth/${profileId}; Max-Age=${FLOW_MS / 1000}; HttpOnly; SameSite=Lax${secure}`
}

/** The sign-in that the browser is on; undefined when it has begun none by this profile, or it has expired. */
export function flowOf(parts: DashboardParts, call: Call, profileId: string): Flow | undefined {
  for (const pair of (call.header('cookie') ?? '').split(';')) {
    const [name = '', value = ''] = pair.split('=', 2)
    if (name.trim() !== COOKIE) continue
    const flow = read(parts, value.trim(), contextOf(profileId))
    if (flow !== undefined) return flow
  }
  return undefined
}

function read(parts: DashboardParts, value: string, context: string): Flow | undefined {
  if (!/^[A-Za-z0-9_-]{40,1000}$/.test(value)) return undefined
  let kept: unknown
  try {
    kept = JSON.parse(unseal(parts.sealKey, Buffer.from(value, 'base64url'), context).toString('utf8'))
  } catch {
    // Of another user or another profile.
    return undefined
  }
  if (!isObject(kept) || Number(kept.until) <= parts.clock.wall()) return undefined
  return { id: String(kept.id), nonce: String(kept.nonce), verifier: String(kept.verifier) }
}

const contextOf = (profileId: string) => `sso_flow:${profileId}`
