import { fault, toFault } from '../../errors/fault.ts'
import type { Log } from '../../model/logs/log.ts'
import type { PartHealth } from '../../model/nodes/health.ts'
import type { Counters, Store } from '../ports/ports.ts'
import { ThreadFeed } from '../prepare/feed.ts'

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000
/** Members that answer batches rather than a promise. */
const IN_BATCHES: ReadonlySet<string> = new Set(['scan', 'each', 'eachUsage'])

export interface DeferredOptions {
  readonly open: () => Promise<Store>
  readonly counters: Counters
  readonly log: Log
}

/**
 * A store that is not there yet: every call fails with `store_away` until it could be opened, which is tried for ever. Then the
 * feed says that everything must be reloaded.
 */
export function deferredStore({ open, counters, log }: DeferredOptions): Store {
  const feed = new ThreadFeed()
  let opened: Store | undefined
  let closed = false
  let timer: NodeJS.Timeout | undefined

  const tryAgain = (waitMs: number) => {
    timer = setTimeout(
      () => {
        open().then(arrived, (error) => {
          log.debug({ cause: toFault(error) }, 'the store is still unavailable')
          if (!closed) tryAgain(Math.min(waitMs * 2, LONGEST_WAIT_MS))
        })
      },
      waitMs * (0.5 + Math.random()),
    )
    timer.unref()
  }
  const arrived = async (store: Store) => {
    if (closed) return store.close()
    opened = store
    store.feed.subscribe((event) => feed.publish(event))
    log.info({}, 'the store is back, reloading everything')
    const revision = await Promise.resolve(store.documents.revision()).catch(() => 0)
    feed.publish({ revision, changes: [], sessions: [], missed: true })
  }
  tryAgain(FIRST_WAIT_MS)

  const part = <Name extends 'documents' | 'audit' | 'tokens' | 'outbox' | 'hits' | 'records'>(
    name: Name,
  ): Store[Name] =>
    new Proxy({} as Store[Name], {
      get:
        (_, member) =>
        (...words: unknown[]) => {
          const there = opened?.[name] as unknown as Record<string, (...words: unknown[]) => unknown> | undefined
          if (there !== undefined) return there[String(member)]!(...words)
          return IN_BATCHES.has(String(member)) ? noBatches() : Promise.reject(away())
        },
    })
  return {
    documents: part('documents'),
    audit: part('audit'),
    tokens: part('tokens'),
    outbox: part('outbox'),
    hits: part('hits'),
    records: part('records'),
    counters,
    feed,
    health: () => opened?.health?.() ?? [NOT_OPENED],
    async close() {
      closed = true
      clearTimeout(timer)
      await opened?.close()
    },
  }
}

const NOT_OPENED: PartHealth = {
  ...{ part: 'store', status: 'fail', fault: 'store_away' },
  output: 'The store could not be opened yet',
}

const away = () => fault('store_away', 'the store could not be opened yet')

// biome-ignore lint/correctness/useYield: it fails before there is a batch
async function* noBatches(): AsyncIterable<never> {
  throw away()
}
