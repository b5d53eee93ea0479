import type { JsonObject } from '../../../model/json/json.ts'
import type { OAuthClient } from '../../../model/oauth-clients/oauth-client.ts'
import { DEVELOPER_ID } from '../../../model/portal/developers/developer.ts'
import { appsOf, withApp, withoutApp } from '../../../model/portal/developers/holdings.ts'
import type { Change, Documents } from '../../../store/ports/ports.ts'
import { developerById, developerChange } from './developer-change.ts'

/**
 * The changes that accompany the writing or deletion (`after` undefined) of an OAuth client that is an app of a developer: the record,
 * where something changes that it shows. None for other clients. @throws Fault `store_away`
 */
export async function changesWithClient(
  parts: { readonly documents: Pick<Documents, 'get'> },
  before: OAuthClient,
  after: OAuthClient | undefined,
): Promise<Change[]> {
  const id = before[DEVELOPER_ID]
  const developer = typeof id === 'string' ? await developerById(parts, id) : undefined
  if (developer === undefined) return []
  const body =
    after === undefined
      ? withoutApp(developer.body, before.client_id)
      : withApp(developer.body, appPolicyOf(after), appOf(after))
  const same = JSON.stringify([...appsOf(body)]) === JSON.stringify([...appsOf(developer.body)])
  return same ? [] : [developerChange(developer, body)]
}

/** The policy that an app is listed under. */
export function appPolicyOf(client: OAuthClient): string {
  return client.registered_by_policy || (client.policies[0] ?? '')
}

/** An OAuth client as the record of its developer shows it. */
export function appOf(client: OAuthClient): JsonObject {
  const { client_id, client_name, app_description, use_case, date_created } = client
  return {
    client_id,
    ...(typeof client_name === 'string' && client_name !== '' && { client_name }),
    redirect_uri: client.redirect_uris[0] ?? '',
    app_description: textOf(app_description),
    use_case: textOf(use_case),
    date_created,
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
