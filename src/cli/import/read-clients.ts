import { isObject, type JsonObject } from '../../model/json/json.ts'
import { holdsSeveral } from '../../model/oauth-clients/redirect-uri.ts'
import { identityOf, textAt } from '../moves/kind.ts'
import { CLIENTS } from '../moves/kind-clients.ts'
import type { Read } from './candidate.ts'
import type { KeySpace } from './read-entries.ts'
import type { KnownIds } from './read-keys.ts'

/**
 * The OAuth clients of a key space, a registration for each API. One that is the same at several APIs is one registration. `separator`
 * parts addresses; '' = there is one.
 */
export function readClients({ clients }: KeySpace, known: KnownIds, separator: string): Read {
  const read: Read = { candidates: [], refused: [] }
  const registrations = new Map<string, Map<string, { apiIds: string[]; body: JsonObject }>>()
  for (const { apiId, clientId, body } of clients) {
    const from = `OAuth client ${clientId} at API ${apiId}`
    if (typeof body === 'string') read.refused.push({ from, why: body })
    else if (!known.apis.has(apiId)) read.refused.push({ from, why: 'is of an API that is not there' })
    else {
      const ofId = registrations.get(clientId) ?? new Map()
      registrations.set(clientId, ofId)
      const same = ofId.get(JSON.stringify(body))
      if (same === undefined) ofId.set(JSON.stringify(body), { apiIds: [apiId], body })
      else same.apiIds.push(apiId)
    }
  }
  for (const [clientId, ofId] of registrations)
    for (const { apiIds, body } of ofId.values()) readOne(read, known, separator, { clientId, apiIds, sent: body })
  return read
}

function readOne(
  read: Read,
  known: KnownIds,
  separator: string,
  { clientId, apiIds, sent }: { readonly clientId: string; readonly apiIds: string[]; readonly sent: JsonObject },
): void {
  const isFirst = !read.candidates.some(({ body }) => body.client_id === clientId)
  const from = isFirst ? `OAuth client ${clientId}` : `OAuth client ${clientId} at API ${apiIds[0]}`
  const changes: string[] = []
  const named = firstText(sent, 'policy_id', 'policyid')
  const policy = known.renamed.get(named) ?? named
  if (policy !== '' && !known.policies.has(policy)) {
    read.refused.push({ from, why: `names policy ${named}, which is not there` })
    return
  }
  if (policy !== named) changes.push(`policy ${named} is named ${policy}`)
  const redirect = firstText(sent, 'redirect_uri', 'redirecturi')
  const redirects = (separator === '' ? [redirect] : redirect.split(separator)).map((each) => each.trim())
  if (separator === '' && holdsSeveral(redirect)) {
    const why = 'has several redirect addresses in one field: name with --redirect-separator what parts them'
    read.refused.push({ from, why })
    return
  }
  const metadata = sent.meta_data ?? sent.metadata
  const body = CLIENTS.normal({
    client_id: clientId,
    ...(!isFirst && { registration_id: apiIds[0]! }),
    secret: firstText(sent, 'secret', 'client_secret'),
    api_ids: apiIds,
    policies: policy === '' ? [] : [policy],
    redirect_uris: redirects.filter((each) => each !== ''),
    description: textAt(sent, 'description'),
    metadata: isObject(metadata) ? metadata : {},
  })
  if (redirects.every((each) => each === '')) changes.push('has no redirect address, so no grant that needs one works')
  read.candidates.push({ kind: CLIENTS, identity: identityOf(CLIENTS, body), from, body, changes })
}

/** Stored and shown under different names. */
function firstText(body: JsonObject, ...names: readonly string[]): string {
  return names.map((name) => textAt(body, name)).find((text) => text !== '') ?? ''
}
