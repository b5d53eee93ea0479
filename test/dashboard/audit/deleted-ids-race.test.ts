import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DocumentId, toDocumentId } from '../../../src/model/documents/ids.ts'
import { DOCUMENT_KINDS } from '../../../src/model/documents/kinds.ts'
import { TOMBSTONE } from '../../../src/model/documents/tombstone.ts'
import { withEvents } from '../../../src/publish/events/domain-events.ts'
import { forwardDocuments } from '../../../src/store/ports/forward-documents.ts'
import { definition, openUndoWorld } from '../../worlds/dashboard/undo-world.ts'

const IDS = ['65a00000000000000000aaaa', '65a00000000000000000bbbb'] as const

/** A body of any kind whose ids are those of the installation. */
const bodyOf = (orgId: string, id: string, which: string) => ({
  ...{ org_id: orgId, OrgID: orgId, id: which, ID: id, api_id: id, name: which, Name: which },
  ...{ client_id: id, api_ids: [], format: 'classic', definition: definition(id, orgId), access_rights: {} },
})

for (const [kind, { sharedIds }] of Object.entries(DOCUMENT_KINDS)) {
  if (sharedIds === undefined) continue
  for (const sameStorageId of [true, false]) {
    if (sameStorageId ? sharedIds.storage !== true : sharedIds.index === undefined) continue
    const which = sameStorageId ? 'storage id' : 'own id'
    test(`${kind}: an object that is deleted meanwhile keeps its ${which}, as one deleted before`, async (t) => {
      const w = await openUndoWorld(t)
      const orgId = await w.organisation()
      const { documents } = w.store
      const [first, second] = [toDocumentId(IDS[0]), toDocumentId(IDS[sameStorageId ? 0 : 1])]
      const put = (id: DocumentId, org: string, named: string) =>
        ({ op: 'put', kind, id, body: bodyOf(org, named, org), ifRevision: 0 }) as const
      const entryOf = (org: string) => ({ actor: 'ann', action: 'test', orgId: org, at: w.clock.wall(), detail: {} })
      const kept = { ...w.parts, keepsDeletedIds: true, notesDeletedIds: true }
      await documents.commit([put(first, w.orgId, 'taken')], undefined)
      let raced = false
      const racing = forwardDocuments(documents, {
        async commit(changes, entry) {
          raced = true
          await withEvents({ ...kept, documents }).commit([{ op: 'delete', kind, id: first }], entryOf(w.orgId))
          return documents.commit(changes, entry)
        },
      })
      const take = (through: typeof documents) =>
        withEvents({ ...kept, documents: through }).commit(
          [put(second, orgId, sameStorageId ? 'other' : 'taken')],
          entryOf(orgId),
        )
      await assert.rejects(take(racing), { code: 'revision_conflict' })
      assert.ok(raced)
      await assert.rejects(take(documents))
      // Its own organisation takes it, and the note goes.
      await withEvents({ ...kept, documents }).commit([put(first, w.orgId, 'taken')], entryOf(w.orgId))
      assert.deepEqual((await documents.list(TOMBSTONE, { limit: 5 })).rows, [])
    })
  }
}
