import { toFault } from '../../errors/fault.ts'
import { readTombstone, TOMBSTONE, type Tombstone, tombstoneBody } from '../../model/documents/tombstone.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { entriesOf } from '../../model/portal/catalogue/catalogue.ts'
import { WorkSlice } from '../../runtime/turns.ts'
import type { Change, Documents, Kind, StoredDocument, Tokens, Where } from '../../store/ports/ports.ts'

const DAY_MS = 86_400_000
/** Most ids that are kept for one organisation, and most notes about owners on which nothing is based. */
const MOST_TOMBSTONES = 10_000
/** Notes a commit: other writers get their turn in between. */
const BATCH = 200

export interface TombstoneRules {
  readonly now: number
  /** Days that undoing needs them, 0 = for ever. */
  readonly auditDays: number
  /** Days that anything of a deleted organisation is kept, 0 = for ever. */
  readonly recordDays: number
  readonly most?: number
}

type Parts = { readonly documents: Documents; readonly tokens: Pick<Tokens, 'listSessions'> }

interface Note {
  readonly id: StoredDocument['id']
  readonly revision: StoredDocument['revision']
  readonly by: string
  readonly at: number
  /** Dated by this run: its revision is another one now, so it is left for the next run. */
  readonly isNew: boolean
}

interface OwnerNote extends Note {
  readonly tombstone: Tombstone
}

/**
 * Forgets notes about deleted objects whose time is over: ids can be taken by others once the audit log does not undo the deletion any more;
 * owners are known for as long as something is based on what they owned besides. Of an organisation with too many kept ids, or too many notes
 * about owners on which nothing is based, the oldest of those go who have deleted most. Pauses between its parts. Answers how many went.
 * @throws Fault `store_full`, `store_away`
 */
export async function purgeTombstones(parts: Parts, rules: TombstoneRules): Promise<number> {
  const { most = MOST_TOMBSTONES } = rules
  const ids = new Map<string, Note[]>()
  const owners = new Map<string, OwnerNote[]>()
  /** Of APIs whose time is over: a deleted policy may still name them. */
  const oldApis: OwnerNote[] = []
  const namedByPolicies = new Set<string>()
  const slice = new WorkSlice()
  const changes: Change[] = []
  let gone = 0
  const flush = async () => {
    const all = changes.splice(0)
    for (let from = 0; from < all.length; from += BATCH) gone += await commitNotes(parts, all.slice(from, from + BATCH))
  }
  const forget = ({ id, revision, isNew }: Note) => {
    if (!isNew) changes.push({ op: 'delete', kind: TOMBSTONE, id, ifRevision: revision })
  }
  const isNeeded = async ({ tombstone }: OwnerNote) => {
    if (slice.isOver) await slice.next()
    const isNamed = tombstone.noun === 'api' && namedByPolicies.has(keyOf(tombstone.org_id, tombstone.named))
    return isNamed || isBasedOn(parts, tombstone)
  }
  const keepOwners = (note: OwnerNote) => {
    const { org_id: orgId, api_ids: apiIds = [] } = note.tombstone
    for (const apiId of apiIds) namedByPolicies.add(keyOf(orgId, apiId))
    addTo(owners, orgId, note)
  }
  for await (const batch of parts.documents.scan(TOMBSTONE)) {
    for (const { id, revision, body } of batch) {
      const tombstone = body as unknown as Tombstone
      const { by = '', at } = tombstone
      const note: Note = { id, revision, by, at: at ?? rules.now, isNew: at === undefined }
      if (at === undefined) {
        const dated = tombstoneBody({ ...tombstone, at: rules.now })
        changes.push({ op: 'put', kind: TOMBSTONE, id, body: dated, ifRevision: revision })
      }
      const old = isOld(tombstone, note, rules)
      if (!isOwnerNote(tombstone)) {
        if (old) forget(note)
        else if (tombstone.org_id !== '') addTo(ids, tombstone.org_id, note)
        continue
      }
      const owned = { ...note, tombstone }
      if (!old) keepOwners(owned)
      else if (tombstone.noun === 'api') oldApis.push(owned)
      else if (await isNeeded(owned)) keepOwners(owned)
      else forget(note)
    }
    await flush()
  }
  for (const note of oldApis) {
    if (await isNeeded(note)) keepOwners(note)
    else forget(note)
  }
  for (const notes of ids.values()) for (const note of surplus(notes, most)) forget(note)
  for (const notes of owners.values()) {
    if (notes.length <= most) continue
    const unused: OwnerNote[] = []
    for (const note of notes) if (!(await isNeeded(note))) unused.push(note)
    for (const note of surplus(unused, most)) forget(note)
  }
  await flush()
  return gone
}

/** Commits changes of notes, each alone where one was written meanwhile: the next run looks at that one. Answers how many were deleted. */
async function commitNotes(parts: Parts, changes: readonly Change[]): Promise<number> {
  try {
    await parts.documents.commit(changes, undefined)
    return changes.filter(({ op }) => op === 'delete').length
  } catch (error) {
    if (toFault(error).code !== 'revision_conflict') throw error
  }
  if (changes.length === 1) return 0
  let gone = 0
  for (const change of changes) gone += await commitNotes(parts, [change])
  return gone
}

function isOwnerNote({ noun }: Tombstone): boolean {
  return noun === 'api' || noun === 'policy'
}

function isOld({ noun }: Tombstone, { at }: Note, { now, auditDays, recordDays }: TombstoneRules): boolean {
  const days = noun === 'organisation' ? recordDays : auditDays
  return days !== 0 && at <= now - days * DAY_MS
}

/** True where something is still based on a deleted API or policy: its owners are those of what was deleted. */
async function isBasedOn({ documents, tokens }: Parts, tombstone: Tombstone): Promise<boolean> {
  const { org_id: orgId, named, storage_id: storageId } = tombstone
  const has = async (kind: Kind, where: Where) => (await documents.list(kind, { where, limit: 1 })).rows.length > 0
  if (readTombstone('api', tombstone as unknown as JsonObject) !== undefined) {
    if ((await tokens.listSessions({ orgId, apiId: named, limit: 1 })).rows.length > 0) return true
    if (await has('policy', { org_id: orgId, api_id: named })) return true
    if (await has('oauth_client', { org_id: orgId, api_ids: named })) return true
    return has('portal_documentation', { org_id: orgId, api_id: named })
  }
  if (readTombstone('policy', tombstone as unknown as JsonObject) === undefined) return false
  const ids = [named, storageId ?? named]
  for (const id of new Set(ids)) {
    if ((await tokens.listSessions({ orgId, policyId: id, limit: 1 })).rows.length > 0) return true
    if (await has('oauth_client', { org_id: orgId, policies: id })) return true
    if (await has('key_request', { org_id: orgId, policy: id })) return true
    if (await has('developer', { org_policy: `${orgId}/${id}` })) return true
  }
  const catalogue = await documents.find('catalogue', 'org_id', orgId)
  return entriesOf(catalogue?.body).some(({ policy_id: id }) => ids.includes(String(id ?? '')))
}

/** The notes beyond the bound: of each who deletes, the oldest beyond a share that is the same for all. */
function surplus(notes: readonly Note[], most: number): Note[] {
  if (notes.length <= most) return []
  const byActor = [...Map.groupBy(notes, ({ by }) => by).values()]
  const keptWith = (share: number) => byActor.reduce((sum, all) => sum + Math.min(all.length, share), 0)
  let [share, tooMuch] = [0, most + 1]
  while (tooMuch - share > 1) {
    const middle = Math.floor((share + tooMuch) / 2)
    if (keptWith(middle) <= most) share = middle
    else tooMuch = middle
  }
  return byActor.flatMap((all) => all.toSorted((one, other) => other.at - one.at).slice(share))
}

function addTo<T>(lists: Map<string, T[]>, name: string, entry: T): void {
  const list = lists.get(name) ?? []
  lists.set(name, list)
  list.push(entry)
}

const keyOf = (orgId: string, apiId: string) => JSON.stringify([orgId, apiId])
