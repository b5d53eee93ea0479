import type { DatabaseSync } from 'node:sqlite'
import type { ResourceLimits } from 'node:worker_threads'
import { fault } from '../../../errors/fault.ts'
import { type RateAlgorithmName, rateAlgorithm } from '../../../model/limits/rate-algorithms.ts'
import { SLIDING_WINDOW } from '../../../model/limits/window.ts'
import { type Log, silentLog } from '../../../model/logs/log.ts'
import { DAY_MS } from '../../../model/time/calendar.ts'
import { type Clock, type Millis, systemClock } from '../../../model/time/clock.ts'
import { OwnTables } from '../../memory/count-tables.ts'
import { MemoryCounters } from '../../memory/counters.ts'
import { type OwnerCounters, ownSharedCounters } from '../../memory/shared-counters.ts'
import { reserveCounts } from '../../memory/shared-counts.ts'
import type { Store } from '../../ports/ports.ts'
import { ThreadFeed } from '../../prepare/feed.ts'
import { UsageLink } from '../hits/usage-link.ts'
import { QuotaKeeper, savedQuotas } from '../quotas/quota-journal.ts'
import { superviseWriter, WriterLink } from '../writer/link.ts'
import { MaintenanceSchedule } from '../writer/maintenance-schedule.ts'
import type { Write } from '../writer/messages.ts'
import { makeParts, type Parts } from '../writer/parts.ts'
import { StoreDamage, storeHealth } from './damage.ts'
import { checkReadable, openReadable } from './database.ts'
import { reading } from './faults.ts'
import { folderPaths, prepareFolder } from './folder.ts'
import { checkAtStart } from './integrity.ts'
import { lockFolder } from './lock.ts'
import { type SharedStore, Sharing } from './share-store.ts'

export interface SqliteOptions {
  /** The data folder, `storage.path`. Made when it is missing. */
  readonly path: string
  readonly clock?: Clock
  readonly log?: Log
  /** The database may not grow beyond this; then writes fail with `store_full`. 0, the default: no bound but the disk. */
  readonly limitBytes?: number
  /** Bounds of the writer thread's own memory. */
  readonly resourceLimits?: ResourceLimits
  /** True = threads that join count rates and quotas in memory that all share; else the owner counts for them. */
  readonly sharedCounts?: boolean
  /** By which rates are counted: sliding windows by default. */
  readonly rates?: RateAlgorithmName
  /** False: the owner calls `startWriter` after `onWriterEnd`. By default the store does it, after 1 s, doubling to 30 s. */
  readonly keepWriter?: boolean
}

/** The embedded store: one SQLite file, one thread that writes, reads that answer at once on the calling thread. */
export interface SqliteStore extends Store {
  readonly documents: Parts['documents']
  readonly damaged: () => boolean
  /** True while writes are accepted; reads work without. */
  readonly writerUp: boolean
  /** Calls the listener whenever the writer thread ends by itself. Answers the function that ends it. */
  onWriterEnd(listener: (cause: Error) => void): () => void
  /** Starts the writer thread again. @throws Fault as `openStore` */
  startWriter(): Promise<void>
  /** Ends the writer thread at once, as a crash would. */
  stopWriter(): Promise<void>
  /**
   * The input of `joinStore` for another thread of this process: hand it over with `port` in the transfer list. From now on the
   * other thread's feed misses nothing, and its commits resolve only after the listeners of this thread have run.
   */
  share(): SharedStore
  /** A thread that has joined has ended, and with it whatever it had locked. `countOwner`: as in what it was given. */
  ended(countOwner: number): void
  /**
   * Forgets all sessions and tickets that are due by now; answers how many. The store does it by itself as well, every second.
   * @throws Fault `store_full`, `store_away`
   */
  purge(): Promise<number>
  /** Adds the hits of months that are over to the sums of months. The store does it by itself as well. @throws Fault `store_full`, `store_away` */
  rollUpHits(): Promise<number>
  /** Saves the quota counts that changed so far. @throws Fault `store_full`, `store_away` */
  saveQuotas(): Promise<void>
}

const PURGE_EVERY_MS = 1_000
const ROLL_UP_EVERY_MS = 600_000
const WRITER_MEMORY: ResourceLimits = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 12 }

/**
 * Opens the store in a data folder, for this process alone. A damaged one opens for reading, if it can be read at all: see `StoreDamage`.
 * @throws Fault `data_folder_unwritable`, `data_folder_locked` (names the other process), `store_newer`, `store_damaged`, `store_full`
 */
export async function openStore(options: SqliteOptions): Promise<SqliteStore> {
  const { clock = systemClock, log = silentLog } = options
  const paths = folderPaths(options.path)
  prepareFolder(paths.folder)
  const lock = lockFolder(paths)
  const feed = new ThreadFeed()
  const sharing = new Sharing()
  const damage = new StoreDamage(log)
  const link = new WriterLink({
    file: paths.database,
    limitBytes: options.limitBytes ?? 0,
    resourceLimits: options.resourceLimits ?? WRITER_MEMORY,
    onEvents(events) {
      for (const event of events) feed.publish(event)
      sharing.tell(events)
    },
  })
  let check: { close(): Promise<void> } | undefined
  let reader: DatabaseSync | undefined
  try {
    check = await startChecked(paths.database, link, damage)
    // Only now is the file sure to be there and in the newest form.
    const db = openReadable(paths.database)
    reader = db
    if (damage.found) checkReadable(paths.database, db)
    const rates = options.rates ?? SLIDING_WINDOW.name
    const counts = options.sharedCounts ? reserveCounts(rates) : undefined
    const { kept, counters, nextOwner, ended } =
      counts === undefined ? ownCounters(clock, rates) : ownSharedCounters(counts, clock)
    reading(() => kept.loadQuotas(savedQuotas(db)))
    const write = (what: Write) => damage.guard(() => link.write(what))
    const quotas = new QuotaKeeper(kept, write)
    const steady = steadyTime(clock)
    const purge = new MaintenanceSchedule(PURGE_EVERY_MS, () => write({ sort: 'purge', now: steady() }))
    const usage = new UsageLink(paths.database)
    // Until then readers add up days.
    const rollUp = new MaintenanceSchedule(ROLL_UP_EVERY_MS, () =>
      write({ sort: 'rollUpHits', beforeDay: today(clock) }),
    )
    const stopKeeping = options.keepWriter === false || damage.found ? () => {} : superviseWriter(link, log)
    let closing: Promise<void> | undefined
    const close = async () => {
      stopKeeping()
      purge.close()
      rollUp.close()
      sharing.close()
      try {
        await quotas.close()
      } catch (error) {
        log.error({ err: error }, 'cannot save the last quota counts')
      }
      await check?.close()
      // The readers go before the writer, which as the last one folds the log of changes into the file.
      await usage.close()
      await link.close(() => db.close())
      lock.release()
    }
    return {
      ...damage.watch(makeParts(db, clock, write, usage)),
      counters,
      feed,
      damaged: () => damage.found,
      health: storeHealth(db, clock),
      threads: [{ name: 'store-writer', utilization: () => link.utilization() }],
      get writerUp() {
        return link.up
      },
      onWriterEnd: (listener) => link.onEnd(listener),
      startWriter: () => link.start(),
      stopWriter: () => link.terminate(),
      share() {
        if (closing !== undefined) throw fault('store_away', 'the store is closed')
        return sharing.open({ file: paths.database, damage: damage.cell, write, counters, counts, nextOwner, clock })
      },
      ended,
      purge: () => purge.run(),
      rollUpHits: () => rollUp.run(),
      saveQuotas: () => quotas.save(),
      close() {
        closing ??= close()
        return closing
      },
    }
  } catch (error) {
    await check?.close()
    reader?.close()
    await link.close()
    lock.release()
    throw error
  }
}

/** Counters of this thread alone, which others ask. */
function ownCounters(clock: Clock, rates: RateAlgorithmName): OwnerCounters {
  const counters = new MemoryCounters(clock, new OwnTables(rateAlgorithm(rates)))
  return { kept: counters, counters, nextOwner: () => 0, ended() {} }
}

/** Starts the writer, unless the file is found damaged first: then nothing is written to it. */
async function startChecked(file: string, link: WriterLink, damage: StoreDamage): Promise<{ close(): Promise<void> }> {
  const check = await checkAtStart(file, (detail) => damage.report(detail))
  if (check.damage === undefined) await link.start()
  else damage.report(check.damage)
  return check
}

/** Expiry follows the wall clock and the time since the start: a wall clock that jumps ahead deletes nothing early. */
function steadyTime(clock: Clock): () => Millis {
  const [wall, mono] = [clock.wall(), clock.mono()]
  return () => Math.min(clock.wall(), wall + clock.mono() - mono)
}

function today(clock: Clock): number {
  return Math.max(0, Math.floor(clock.wall() / DAY_MS))
}
