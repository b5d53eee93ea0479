import type { Config } from '../../config/schema.ts'
import type { Log } from '../../model/logs/log.ts'
import type { Clock } from '../../model/time/clock.ts'
import { scheduleMinuteRetention } from '../../runtime/minute-retention.ts'
import type { Store } from '../../store/ports/ports.ts'
import { Geography } from './geography.ts'
import { HitBook } from './hit-book.ts'
import { RecordBook } from './record-book.ts'

/** The counters and records of this node's requests. */
export interface Recording {
  /** undefined on a node that counts nothing. */
  readonly book: HitBook | undefined
  /** undefined where no single requests are kept. */
  readonly records: RecordBook | undefined
  /** undefined where countries are not recorded. */
  readonly geography: Geography | undefined
  /** Reads what must be there before the first request, and begins to forget old counts by minute: a gateway may run without a dashboard. */
  start(): Promise<void>
  /** Stores what is counted. */
  close(): Promise<void>
}

/** Opens what the settings enable. An administration node counts no traffic. */
export function openRecording(parts: {
  readonly config: Config
  readonly store: Pick<Store, 'hits' | 'records'>
  readonly clock: Clock
  readonly log: Log
}): Recording {
  const { config, store, clock, log } = parts
  const { analytics } = config
  const counts = !config.gateway.management_node
  const file = analytics.geo_ip.file
  const geography = counts && file !== '' ? new Geography(file, log) : undefined
  const book = counts ? new HitBook(store.hits, { log }) : undefined
  const placeOf = geography && { placeOf: (address: string) => geography.placeOf(address) }
  const keeps = counts && analytics.records_enabled
  const records = keeps
    ? new RecordBook({ records: store.records, settings: analytics, clock, log, ...placeOf })
    : undefined
  let retention: { close(): void } | undefined
  return {
    ...{ book, records, geography },
    async start() {
      await geography?.look()
      if (counts) retention = scheduleMinuteRetention({ store, clock, log })
    },
    async close() {
      retention?.close()
      geography?.close()
      await Promise.all([book?.close(), records?.close()])
    },
  }
}
