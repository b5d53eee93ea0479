import { AsyncLocalStorage } from 'node:async_hooks'
import type { AuditRequest, Documents, Store } from '../store/ports.ts'

const current = new AsyncLocalStorage<AuditRequest>()

/** Does the work of one request: every audit entry that it writes says which request it was. */
export function duringRequest<T>(request: AuditRequest, work: () => T): T {
  return current.run(request, work)
}

/**
 * The store as routes see it: whatever they publish is recorded with the facts of the request that asked for it, however deep
 * the publisher stands. Nobody has to carry them there, so nobody can forget to. `isOn` false: nothing is recorded.
 */
export function recordedStore(store: Store, isOn: boolean): Store {
  const documents = recordedDocuments(store.documents, isOn)
  const { audit, tokens, outbox, counters, feed, hits, records } = store
  return { ...{ documents, audit, tokens, outbox, counters, feed, hits, records }, close: () => store.close() }
}

function recordedDocuments(documents: Documents, isOn: boolean): Documents {
  const withRequest = <T extends object>(entry: T): T => {
    const request = current.getStore()
    return request === undefined ? entry : { request, ...entry }
  }
  return {
    get: (kind, id) => documents.get(kind, id),
    find: (kind, index, value) => documents.find(kind, index, value),
    list: (kind, query) => documents.list(kind, query),
    scan: (kind) => documents.scan(kind),
    each: (kind, query) => documents.each(kind, query),
    values: (kind, index, query) => documents.values(kind, index, query),
    commit: (changes, entry) => documents.commit(changes, isOn && entry !== undefined ? withRequest(entry) : undefined),
    note: async (entry) => (isOn ? documents.note(withRequest(entry)) : undefined),
    revision: () => documents.revision(),
  }
}
