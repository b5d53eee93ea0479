import { toFault } from '../../errors/fault.ts'
import { DurationHistogram, type MetricSample } from '../../model/metrics/metric-registry.ts'
import type { BackupStatus } from '../../model/nodes/health.ts'
import { forwardDocuments } from '../ports/forward-documents.ts'
import type { Store } from '../ports/ports.ts'

const BOUNDS_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000]
const KINDS = ['changes', 'hits', 'records'] as const

/** Faults of the store itself: others say that a change may not be made. */
const STORE_FAULT = /^store_/

/**
 * The same store, whose writes are measured from the call to their end: all that waits on the way counts, whatever the store is.
 * Reads and counters are left as they are: the path of a request pays nothing. `backups`: those that the process makes by itself.
 */
export function measuredStore(store: Store, backups?: BackupStatus): Store {
  const writes = Object.fromEntries(KINDS.map((kind) => [kind, new MeasuredWrites(kind)])) as Writes
  const { documents, hits, records } = store
  return {
    ...store,
    ...(backups && { health: () => [...(store.health?.() ?? []), backups.health(Date.now())] }),
    documents: forwardDocuments(documents, {
      commit: (changes, audit) => writes.changes.measure(documents.commit(changes, audit)),
      note: (entry) => writes.changes.measure(documents.note(entry)),
    }),
    hits: {
      number: (dimensions) => hits.number(dimensions),
      append: (samples, batch) => writes.hits.measure(hits.append(samples, batch)),
      add: (rows, batch) => writes.hits.measure(hits.add(rows, batch)),
      sum: (query) => hits.sum(query),
      usage: (query) => hits.usage(query),
      eachUsage: (query) => hits.eachUsage(query),
      knows: (orgId, name, value) => hits.knows(orgId, name, value),
      purgeHits: (beforeDay) => hits.purgeHits(beforeDay),
      purgeMinutes: (beforeMinute) => hits.purgeMinutes(beforeMinute),
      minutesFrom: () => hits.minutesFrom(),
    },
    records: {
      append: (rows, dropped) => writes.records.measure(records.append(rows, dropped)),
      list: (query) => records.list(query),
      scan: (query) => records.scan(query),
      after: (query) => records.after(query),
      last: () => records.last(),
      dropped: (query) => records.dropped(query),
      purgeRecords: (limits) => records.purgeRecords(limits),
    },
    offerMetrics(metrics) {
      const all = Object.values(writes)
      metrics.offer('svc_store_write_duration_seconds', () => all.map((each) => each.durations.sample(each.labels)))
      metrics.offer('svc_store_write_failures_total', () => all.map((each) => each.sample(each.failed)))
      metrics.offer('svc_store_writes_in_flight', () => all.map((each) => each.sample(each.inFlight)))
      backups?.offerMetrics(metrics)
      store.offerMetrics?.(metrics)
    },
  }
}

type Writes = Readonly<Record<(typeof KINDS)[number], MeasuredWrites>>

class MeasuredWrites {
  readonly durations = new DurationHistogram(BOUNDS_MS)
  readonly labels: { readonly kind: string }
  inFlight = 0
  failed = 0

  constructor(kind: string) {
    this.labels = { kind }
  }

  measure<Result>(write: Promise<Result>): Promise<Result> {
    const beganAt = performance.now()
    this.inFlight++
    write.then(
      () => this.#ended(beganAt),
      (error) => this.#ended(beganAt, error),
    )
    return write
  }

  sample(value: number): MetricSample {
    return { labels: this.labels, value }
  }

  #ended(beganAt: number, error?: unknown): void {
    this.inFlight--
    if (error === undefined) this.durations.add((performance.now() - beganAt) / 1000)
    else if (STORE_FAULT.test(toFault(error).code)) this.failed++
  }
}
