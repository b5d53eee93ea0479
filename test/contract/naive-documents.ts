import type { DocumentId } from '../../src/model/documents/ids.ts'
import { asJson, type JsonObject } from '../../src/model/json/json.ts'
import type { Change } from '../../src/store/ports/ports.ts'

interface Row {
  readonly id: DocumentId
  readonly revision: number
  readonly body: JsonObject
}

const UNDECIDED = -1

/** The rules of `Documents.commit` for kind `api`, as slowly and plainly as they can be said. */
export function naiveDocuments() {
  let rows = new Map<DocumentId, Row>()
  return {
    revisionOf: (id: DocumentId) => rows.get(id)?.revision ?? 0,
    all: () => [...rows.values()],
    /** Answers `committed` or the code of the fault; the revision of what was written follows by `keep`. */
    commit(changes: readonly Change[]): string {
      const draft = new Map(rows)
      for (const change of changes) {
        if (change.op !== 'put' && change.op !== 'delete') throw new Error('documents only')
        const revision = draft.get(change.id)?.revision ?? 0
        if (change.ifRevision !== undefined && change.ifRevision !== revision) return 'revision_conflict'
        if (change.op === 'delete') {
          draft.delete(change.id)
          continue
        }
        const { id } = change
        const body = asJson(change.body)
        for (const row of draft.values()) if (row.id !== id && row.body.api_id === body.api_id) return 'already_exists'
        draft.set(id, { id, body, revision: UNDECIDED })
      }
      rows = draft
      return 'committed'
    },
    keep(revision: number): void {
      for (const [id, row] of rows) if (row.revision === UNDECIDED) rows.set(id, { ...row, revision })
    },
  }
}
