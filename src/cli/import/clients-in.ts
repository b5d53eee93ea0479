import { isObject, type JsonObject } from '../../model/json/json.ts'
import { textAt } from '../moves/kind.ts'
import { CLIENTS } from '../moves/kind-clients.ts'
import type { Read } from './candidate.ts'
import type { KnownIds } from './keys-in.ts'
import type { KeySpace } from './read-entries.ts'

/** The OAuth clients of a key space, each once, registered wherever it was. `separator` parts addresses; '' = there is one. */
export function clientsIn({ clients }: KeySpace, known: KnownIds, separator: string): Read {
  const read: Read = { candidates: [], refused: [] }
  const apisOf = new Map<string, string[]>()
  const bodies = new Map<string, JsonObject>()
  for (const { apiId, clientId, body } of clients) {
    const from = `OAuth client ${clientId} at API ${apiId}`
    if (body === undefined) read.refused.push({ from, why: 'is no JSON object' })
    else if (!known.apis.has(apiId)) read.refused.push({ from, why: 'is of an API that is not there' })
    else {
      apisOf.set(clientId, [...(apisOf.get(clientId) ?? []), apiId])
      if (!bodies.has(clientId)) bodies.set(clientId, body)
    }
  }
  for (const [clientId, sent] of bodies) {
    const from = `OAuth client ${clientId}`
    const changes: string[] = []
    const named = firstText(sent, 'policy_id', 'policyid')
    const policy = known.renamed.get(named) ?? named
    if (policy !== '' && !known.policies.has(policy)) {
      read.refused.push({ from, why: `names policy ${named}, which is not there` })
      continue
    }
    if (policy !== named) changes.push(`policy ${named} is named ${policy}`)
    const redirect = firstText(sent, 'redirect_uri', 'redirecturi')
    const redirects = (separator === '' ? [redirect] : redirect.split(separator)).map((each) => each.trim())
    const metadata = sent.meta_data ?? sent.metadata
    const body = CLIENTS.normal({
      client_id: clientId,
      secret: firstText(sent, 'secret', 'client_secret'),
      api_ids: apisOf.get(clientId)!,
      policies: policy === '' ? [] : [policy],
      redirect_uris: redirects.filter((each) => each !== ''),
      description: textAt(sent, 'description'),
      metadata: isObject(metadata) ? metadata : {},
    })
    if (redirects.every((each) => each === ''))
      changes.push('has no redirect address, so no grant that needs one works')
    read.candidates.push({ kind: CLIENTS, identity: clientId, from, body, changes })
  }
  return read
}

/** Stored and shown under different names. */
function firstText(body: JsonObject, ...names: readonly string[]): string {
  return names.map((name) => textAt(body, name)).find((text) => text !== '') ?? ''
}
