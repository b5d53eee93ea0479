import type { Hit } from '../../model/analytics/hit.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import type { UsageQuery } from '../../store/ports/ports.ts'
import type { DashboardParts } from '../server/parts.ts'

/** Names of the APIs of some rows by `api_id`; of those that are gone there is none. */
export async function apiNames({ documents }: DashboardParts, rows: readonly Hit[]): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (const apiId of new Set(rows.map((row) => row.apiId))) {
    const found = apiId === '' ? undefined : await documents.find('api', 'api_id', apiId)
    if (typeof found?.body.name === 'string') names.set(apiId, found.body.name)
  }
  return names
}

/** Aliases of the keys of some rows by hash: as the key has it now, else as it had it when it was counted last. */
export async function aliases(
  { tokens, store }: DashboardParts,
  rows: readonly Hit[],
  { fromDay, toDay, where }: UsageQuery,
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const gone: string[] = []
  for (const { keyHash } of rows) {
    if (keyHash === '') continue
    const session = /^[0-9a-f]{64}$/.test(keyHash) ? await tokens.getSession(Buffer.from(keyHash, 'hex')) : undefined
    if (session === undefined) gone.push(keyHash)
    else if (typeof session.body.alias === 'string') found.set(keyHash, session.body.alias)
  }
  if (gone.length === 0) return found
  const asked: UsageQuery = {
    ...{ fromDay, toDay, per: 'all', by: ['keyHash', 'alias'], where: { ...where, keyHash: gone } },
    ...{ sort: 'lastAt', descending: false },
  }
  for await (const batch of store.hits.eachUsage(asked))
    for (const { keyHash, alias } of batch) found.set(keyHash, alias)
  return found
}

/** The tag that a developer's requests carry, without the id. */
export const DEVELOPER_TAG = 'dev-'

/** Email addresses of the developers of some rows by id; of those that are gone there is none. */
export async function developerEmails(
  { documents }: DashboardParts,
  rows: readonly Hit[],
): Promise<Map<string, string>> {
  const emails = new Map<string, string>()
  for (const { tags } of rows) {
    const id = tags.slice(DEVELOPER_TAG.length)
    const found = isDocumentId(id) ? await documents.get('developer', id) : undefined
    if (typeof found?.body.email === 'string') emails.set(id, found.body.email)
  }
  return emails
}
