import type { Store } from '../../../src/store/ports/ports.ts'

/**
 * The methods that only read, in all parts of a store. One that is missing here counts as a write, so that a new method is watched from its
 * first day.
 */
const READS: ReadonlySet<string> = new Set([
  ...['get', 'find', 'list', 'listIds', 'scan', 'each', 'values', 'valuesBy', 'revision', 'standing'],
  ...['getSession', 'listSessions', 'countSessions', 'getTicket', 'familyTickets'],
  ...['due', 'nextAt', 'peek', 'subscribe', 'sum', 'usage', 'eachUsage', 'knows', 'after', 'last', 'dropped'],
])

/** The periodic work of a gateway: purging old records, reporting its state. */
function isPeriodic(method: string, sent: readonly unknown[]): boolean {
  if (method === 'purgeRecords') return true
  const [changes] = sent
  return method === 'commit' && Array.isArray(changes) && changes.every((change) => change.kind === 'node')
}

/** A store that reports every call that writes: documents, sessions, tickets, messages to send, audit entries, counts. */
export function watchedStore(store: Store, onWrite: (call: string) => void): Store {
  const watched = <T extends object>(name: string, part: T): T =>
    new Proxy(part, {
      get(target, member) {
        const value = Reflect.get(target, member)
        if (typeof value !== 'function') return value
        return (...sent: unknown[]) => {
          const method = String(member)
          if (!READS.has(method) && !isPeriodic(method, sent))
            onWrite(`${name}.${method} ${JSON.stringify(sent).slice(0, 300)}`)
          return Reflect.apply(value, target, sent)
        }
      },
    })
  return {
    documents: watched('documents', store.documents),
    audit: watched('audit', store.audit),
    tokens: watched('tokens', store.tokens),
    outbox: watched('outbox', store.outbox),
    counters: watched('counters', store.counters),
    feed: watched('feed', store.feed),
    hits: watched('hits', store.hits),
    records: watched('records', store.records),
    close: () => store.close(),
  }
}
