import { fault } from '../errors/fault.ts'
import type { JsonObject } from '../model/json.ts'
import { newReferences, type Reference } from '../model/references.ts'
import type { Call } from './call.ts'
import type { DashboardParts } from './parts.ts'
import { policyApisFor } from './policy-apis.ts'

type Writer = Pick<Call, 'sight' | 'actor'>

/**
 * Refuses a document that refers to what its writer does not see, unless it did so before in the same place and words. What others
 * own, what another organisation has and what is not there are refused alike: it may come to be there. `made` are APIs and policies
 * that are about to be made by the same writer.
 * @throws Fault `reference_unknown` (400) naming the place
 */
export async function checkReferences(
  parts: Pick<DashboardParts, 'documents' | 'store'>,
  writer: Writer,
  kind: string,
  body: JsonObject,
  before?: JsonObject,
  made: { readonly [Kind in Reference['kind']]?: readonly string[] } = {},
): Promise<void> {
  if (writer.sight.everything) return
  for (const reference of newReferences(kind, body, before))
    if (!made[reference.kind]?.includes(reference.id) && !(await isSeen(parts, writer, reference)))
      throw fault('reference_unknown', `${reference.at}: there is no such ${NOUN[reference.kind]}`)
}

const NOUN: Readonly<Record<Reference['kind'], string>> = { api: 'API', policy: 'policy' }

async function isSeen(
  { documents, store }: Pick<DashboardParts, 'documents' | 'store'>,
  { sight, actor }: Writer,
  { kind, id }: Reference,
): Promise<boolean> {
  if (kind === 'api') return sight.apiId(id)
  const policies = await policyApisFor(documents, store.feed).fresh()
  const orgId = actor?.orgId ?? ''
  return policies.has(orgId, id) && sight.hidden(policies.of(orgId, id)) === 0
}
