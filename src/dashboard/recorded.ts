import { AsyncLocalStorage } from 'node:async_hooks'
import type { AuditRequest, Change, Documents, Store } from '../store/ports.ts'

/** What goes with whatever is committed for a request. */
export interface Recording {
  /** False: nothing is recorded. */
  readonly audit: boolean
  /** The messages about changes, for the same commit. */
  readonly messages: (changes: readonly Change[]) => Promise<readonly Change[]>
}

const current = new AsyncLocalStorage<AuditRequest>()

/** Does the work of one request: every audit entry that it writes says which request it was. */
export function duringRequest<T>(request: AuditRequest, work: () => T): T {
  return current.run(request, work)
}

/**
 * The store as routes see it: whatever they publish is recorded with the facts of the request that asked for it, however deep
 * the publisher stands. Nobody has to carry them there, so nobody can forget to. */
export function recordedStore(store: Store, recording: Recording): Store {
  const documents = recordedDocuments(store.documents, recording)
  const { audit, tokens, outbox, counters, feed, hits } = store
  return { ...{ documents, audit, tokens, outbox, counters, feed, hits }, close: () => store.close() }
}

function recordedDocuments(documents: Documents, { audit, messages }: Recording): Documents {
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
    async commit(changes, entry) {
      if (entry === undefined) return documents.commit(changes, undefined)
      const all = [...changes, ...(await messages(changes))]
      return documents.commit(all, audit ? withRequest(entry) : undefined)
    },
    note: async (entry) => (audit ? documents.note(withRequest(entry)) : undefined),
    revision: () => documents.revision(),
  }
}
