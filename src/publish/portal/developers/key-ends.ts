import { toFault } from '../../../errors/fault.ts'
import { DEVELOPER_ID } from '../../../model/portal/developers/developer.ts'
import type { Change, StoredDocument } from '../../../store/ports/ports.ts'
import { auditOf, clockOf, type SecretParts } from '../../documents/parts.ts'
import { withHolder } from './developer-change.ts'
import { changesWithDeletion, isFormerKey } from './keys-of-developer.ts'

const BATCH = 100
/** Whom the audit names. */
const ACTOR = 'gatehouse'

/**
 * Deletes the keys of developers whose time to be forgotten has come, each together with its place in the developer's record;
 * answers how many. A key that cannot be deleted now is left for the next time. @throws Fault `store_away`
 */
export async function forgetEndedKeys(parts: SecretParts): Promise<number> {
  let forgotten = 0
  for (;;) {
    const { rows } = await parts.documents.list('key_end', { order: 'at', limit: BATCH })
    const due = rows.filter((end) => isDue(parts, end))
    let done = 0
    for (const end of due) done += (await forget(parts, end).catch(refused)) ? 1 : 0
    forgotten += done
    if (due.length < BATCH || done === 0) return forgotten
  }
}

function forget(parts: SecretParts, { id, body: { developer_id: developerId } }: StoredDocument): Promise<boolean> {
  return withHolder(parts, { [DEVELOPER_ID]: developerId ?? '' }, async (developer) => {
    // Read after the developer, without whom nothing about the key changes.
    const end = await parts.documents.get('key_end', id)
    if (end === undefined || !isDue(parts, end)) return false
    const hash = Buffer.from(String(end.body.key_hash), 'hex')
    const row = await parts.tokens.getSession(hash)
    const held = row !== undefined && row.body[DEVELOPER_ID] === developerId && !isFormerKey(row.body)
    const changes: Change[] = held
      ? [{ op: 'deleteSession', hash }, ...(await changesWithDeletion(parts.tokens, developer, row))]
      : [{ op: 'delete', kind: 'key_end', id, ifRevision: end.revision }]
    const detail = { key_hash: end.body.key_hash ?? '', developer: developerId ?? '' }
    await parts.documents.commit(changes, auditOf(parts, ACTOR, 'key.forget', String(end.body.org_id ?? ''), detail))
    return true
  })
}

function isDue(parts: SecretParts, { body }: StoredDocument): boolean {
  return Date.parse(String(body.at)) <= clockOf(parts).wall()
}

/** Others kept changing the developer: the next run retries. @throws all other faults */
function refused(error: unknown): boolean {
  if (toFault(error).code === 'revision_conflict') return false
  throw error
}
