import { DEVELOPER_ID } from '../../model/portal/developers/developer.ts'
import { apisOfRegistration } from '../../publish/oauth-clients/oauth-client-lists.ts'
import { type ClientParts, registrationsOf } from '../../publish/oauth-clients/oauth-client-parts.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import type { Visibility } from '../access/visibility.ts'

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
