import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { provenClients } from '../../publish/oauth-clients/oauth-tokens.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { withAttemptLimit } from '../sign-in/second-factor.ts'

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
