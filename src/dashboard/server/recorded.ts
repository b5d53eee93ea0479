import { AsyncLocalStorage } from 'node:async_hooks'
import { forwardDocuments } from '../../store/ports/forward-documents.ts'
import type { AuditRequest, Change, Documents, Store } from '../../store/ports/ports.ts'
import type { ExpectedRevision } from '../routes/entity-version.ts'

interface Work {
  readonly request: AuditRequest
  /** Until it is written for the first time. */
  expected: ExpectedRevision | undefined
}

/** Module state: the context of a call, which Node carries from await to await; no value outlives its call. */
const current = new AsyncLocalStorage<Work>()

/**
 * Does the work of one request: every audit entry that it writes says which request it was. A document that is `expected` at a
 * revision is written at that revision or not at all: the commit fails with `revision_conflict`.
 */
export function duringRequest<T>(request: AuditRequest, work: () => T, expected?: ExpectedRevision): T {
  return current.run({ request, expected }, work)
}

/**
 * The store for routes: everything that they publish is recorded with the facts of the request, however deep
 * the publisher is. Callers need not pass them on, so none can forget to. `isOn` false: nothing is recorded.
 */
export function recordedStore(store: Store, isOn: boolean): Store {
  const documents = recordedDocuments(store.documents, isOn)
  const { audit, tokens, outbox, counters, feed, hits, records } = store
  return {
    ...store,
    ...{ documents, audit, tokens, outbox, counters, feed, hits, records },
    close: () => store.close(),
  }
}

function recordedDocuments(documents: Documents, isOn: boolean): Documents {
  const withRequest = <T extends object>(entry: T): T => {
    const request = current.getStore()?.request
    return request === undefined ? entry : { request, ...entry }
  }
  return forwardDocuments(documents, {
    commit: async (changes, entry) => {
      const audit = isOn && entry !== undefined ? withRequest(entry) : undefined
      const work = current.getStore()
      const expected = work?.expected
      if (work === undefined || expected === undefined || !changes.some((change) => isOf(expected, change)))
        return documents.commit(changes, audit)
      const { revision: ifRevision } = expected
      const held = changes.map((change) => (isOf(expected, change) ? { ...change, ifRevision } : change))
      const revision = await documents.commit(held, audit)
      work.expected = undefined
      return revision
    },
    note: async (entry) => (isOn ? documents.note(withRequest(entry)) : undefined),
  })
}

function isOf({ kind, id }: ExpectedRevision, change: Change): change is Extract<Change, { op: 'put' | 'delete' }> {
  return (change.op === 'put' || change.op === 'delete') && change.kind === kind && change.id === id
}
