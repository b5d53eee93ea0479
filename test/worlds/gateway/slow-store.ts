import { setImmediate as nextTurn } from 'node:timers/promises'
import { fault } from '../../../src/errors/fault.ts'
import type { Awaitable, Documents, Store, Tokens } from '../../../src/store/ports/ports.ts'

export type ReadName = 'get' | 'find' | 'list' | 'scan' | 'revision' | 'getSession' | 'getTicket'

/** The same store, but its reads answer some turns later, and fail while `away` names them: as a store on another machine. */
export class SlowStore implements Store {
  readonly away = new Set<ReadName>()
  /** Called at each read, before it is made; what it resolves to is waited for. */
  onRead: (name: ReadName) => Awaitable<void> = () => {}
  readonly documents: Documents
  readonly audit: Store['audit']
  readonly tokens: Tokens
  readonly outbox: Store['outbox']
  readonly counters: Store['counters']
  readonly feed: Store['feed']
  readonly hits: Store['hits']
  readonly records: Store['records']
  readonly #inner: Store
  readonly #turns: number

  constructor(inner: Store, turns = 3) {
    this.#inner = inner
    this.#turns = turns
    this.audit = inner.audit
    this.counters = inner.counters
    this.feed = inner.feed
    this.hits = inner.hits
    this.records = inner.records
    this.outbox = inner.outbox
    const { documents, tokens } = inner
    const later = <T>(name: ReadName, read: () => Awaitable<T>) => this.#later(name, read)
    const passes = (name: ReadName) => this.#passes(name)
    this.documents = {
      get: (kind, id) => later('get', () => documents.get(kind, id)),
      find: (kind, index, value) => later('find', () => documents.find(kind, index, value)),
      list: (kind, query) => later('list', () => documents.list(kind, query)),
      async *scan(kind) {
        await passes('scan')
        for await (const batch of documents.scan(kind)) {
          await passes('scan')
          yield batch
        }
      },
      each: (kind, query) => documents.each(kind, query),
      values: (kind, index, query) => documents.values(kind, index, query),
      valuesBy: (kind, by, index, query) => documents.valuesBy(kind, by, index, query),
      commit: (changes, audit) => documents.commit(changes, audit),
      note: (entry) => documents.note(entry),
      revision: () => later('revision', () => documents.revision()),
    }
    this.tokens = {
      getSession: (hash) => later('getSession', () => tokens.getSession(hash)),
      listSessions: (query) => tokens.listSessions(query),
      countSessions: (query) => tokens.countSessions(query),
      getTicket: (hash) => later('getTicket', () => tokens.getTicket(hash)),
      familyTickets: (family) => later('getTicket', () => tokens.familyTickets(family)),
    }
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /** A read returns the state when the question arrived, as with a real network: it may be old when the answer comes. */
  async #later<T>(name: ReadName, read: () => Awaitable<T>): Promise<T> {
    await this.#passes(name)
    const found = await read()
    for (let i = 0; i < this.#turns; i++) await nextTurn()
    return found
  }

  async #passes(name: ReadName): Promise<void> {
    await this.onRead(name)
    await nextTurn()
    if (this.away.has(name)) throw fault('store_away', `${name} fails`)
  }
}
