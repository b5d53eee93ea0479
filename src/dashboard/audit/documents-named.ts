import { fault } from '../../errors/fault.ts'
import { DOCUMENT_KINDS } from '../../model/documents/kinds.ts'
import { findByEitherId } from '../../publish/documents/own-ids.ts'
import { AUDITED_SESSION, type AuditQuery } from '../../store/ports/ports.ts'
import { apiNamed } from '../apis/api-document.ts'
import { clientsNamed } from '../oauth-clients/clients-named.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

type Asked = Pick<Call, 'query' | 'actor' | 'visibility'>
/** The storage ids of what an id of the API names, besides itself: deleted documents are found by their storage id only. */
type StorageIds = (parts: DashboardParts, call: Asked, id: string) => Promise<readonly string[]>

const NAMED: Readonly<Record<string, StorageIds>> = {
  async api({ documents }, { visibility }, id) {
    const api = await apiNamed(documents, visibility, id)
    return api === undefined ? [] : [api.id]
  },
  async policy({ documents }, { actor }, id) {
    const policy = await findByEitherId({ documents }, 'policy', actor?.orgId ?? '', id)
    return policy === undefined ? [] : [policy.id]
  },
  async oauth_client(parts, { visibility }, id) {
    const { own } = await clientsNamed(parts, visibility, id)
    return own.map((stored) => stored.id)
  },
}

/** Kinds that the installation writes about itself: no objects of an organisation. */
const OF_INSTALLATION: readonly string[] = ['tombstone', 'installation', 'order', 'node', 'addresses']

/** Kinds of documents whose entries can be asked for. */
export const ASKED_KINDS: readonly string[] = [...Object.keys(DOCUMENT_KINDS), AUDITED_SESSION].filter(
  (kind) => !OF_INSTALLATION.includes(kind),
)

/** The documents whose entries `kind` and `id` ask for. @throws Fault `query_invalid` (400) for one without the other */
export async function documentsAsked(parts: DashboardParts, call: Asked): Promise<AuditQuery['wrote']> {
  const [kind, id] = [call.query('kind'), call.query('id')]
  if (kind === '' && id === '') return undefined
  if (kind === '' || id === '')
    throw fault('query_invalid', 'kind and id belong together: name the kind of document and its id, or neither')
  return { kind, ids: [id, ...((await NAMED[kind]?.(parts, call, id)) ?? [])] }
}
