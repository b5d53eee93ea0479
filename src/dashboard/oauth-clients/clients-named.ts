import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { DEVELOPER_ID } from '../../model/portal/developers/developer.ts'
import { apisOfRegistration } from '../../publish/oauth-clients/oauth-client-lists.ts'
import { type ClientParts, registrationsOf } from '../../publish/oauth-clients/oauth-client-parts.ts'
import { provenClients } from '../../publish/oauth-clients/oauth-tokens.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import type { Visibility } from '../access/visibility.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { withAttemptLimit } from '../sign-in/second-factor.ts'

/** The registrations of a client id in the caller's organisation, and those of them that the caller sees. @throws Fault `store_away` */
export async function clientsNamed(
  parts: ClientParts,
  visibility: Visibility,
  clientId: string,
): Promise<{
  readonly own: readonly StoredDocument<'oauth_client'>[]
  readonly seen: readonly StoredDocument<'oauth_client'>[]
}> {
  const own = (await registrationsOf(parts, clientId)).filter((stored) => visibility.org(stored))
  if (visibility.everything) return { own, seen: own }
  const seen: StoredDocument<'oauth_client'>[] = []
  for (const stored of own) if (visibility.anyApi(await apisOfRegistration(parts, stored.body))) seen.push(stored)
  return { own, seen }
}

/**
 * The registration of a client id that is the app of a developer of the caller's organisation. Registrations of the same id at other APIs
 * have nothing to do with it. @throws Fault `store_away`
 */
export async function developerAppNamed(
  parts: ClientParts,
  visibility: Visibility,
  clientId: string,
): Promise<StoredDocument<'oauth_client'> | undefined> {
  const all = await registrationsOf(parts, clientId)
  return all.find((stored) => stored.body[DEVELOPER_ID] !== undefined && visibility.org(stored))
}

/**
 * Those of the registrations of a client whose secret the caller knows, with a limit of attempts: secrets may be short ones that people choose.
 * @throws Fault as `provenClients`, `sign_in_throttled` (429)
 */
export function clientsOfSecret(
  parts: DashboardParts,
  call: Call,
  clients: readonly OAuthClient[],
  secret: string,
): Promise<readonly OAuthClient[]> {
  const name = `client:${clients[0]?.org_id}/${clients[0]?.client_id}`
  return withAttemptLimit(parts, name, call, async () => provenClients(parts, clients, secret))
}
