import type { FaultCode } from '../../errors/catalog.ts'
import { toFault } from '../../errors/fault.ts'
import type { MetricName } from '../../model/metrics/catalog.ts'
import type { MetricRegistry } from '../../model/metrics/metric-registry.ts'
import type { Part, PartHealth } from '../../model/nodes/health.ts'
import type { Store } from '../../store/ports/ports.ts'

const MS = 1000
/** Beyond this the clock of a node is warned of. */
const AHEAD_WARNED_MS = 2_000
/** A node whose clock is this wrong has something wrong with it, though dates are judged by the clock of the database. */
const MOST_AHEAD_MS = 30_000

const REFUSING: Partial<Record<FaultCode, string>> = {
  store_full: 'The store is full: nothing new is kept',
  store_damaged: 'The store is damaged and takes no writes: restore the last backup',
  store_read_only: 'The store takes no changes',
}
const NO_WRITES = 'The last write was not taken in time'

/** The state of every part that a store depends on; answers within half a second, whatever hangs. */
export async function healthOf(store: Store): Promise<readonly PartHealth[]> {
  const parts = store.health?.() ?? []
  const isSeen = parts.some(({ part }) => part === 'store')
  const refused = damageOf(store) ?? (await store.refusing?.()) ?? (isSeen ? undefined : await unread(store))
  return withStore(store, parts, refused)
}

/** The same as it was last looked at, at once; a store that does not answer shows in writes. */
function seenHealth(store: Store): readonly PartHealth[] {
  return withStore(store, store.health?.() ?? [], damageOf(store) ?? store.refused?.())
}

/** Where a cluster is away, full or read-only a dashboard has no store to read, or still shows what there is. */
const READABLE: ReadonlySet<FaultCode> = new Set(['store_full', 'store_read_only'])

/**
 * Why a process cannot do its work; undefined where it can. With the embedded store it needs all of it. In a cluster a gateway serves what it has
 * while the store is away: taking it out of service would help nobody; a dashboard needs a store that can be read. Of a store that was emptied
 * nothing comes back by itself.
 */
export function refusalOf(
  parts: readonly PartHealth[],
  { clustered, role }: { readonly clustered: boolean; readonly role: 'gateway' | 'dashboard' },
): FaultCode | undefined {
  const refuses = ({ part, status, fault }: PartHealth) => {
    if (status !== 'fail' || fault === undefined) return false
    if (part === 'clock' || fault === 'store_damaged' || fault === 'store_emptied') return true
    if (part !== 'store') return false
    return !clustered || (role === 'dashboard' && !READABLE.has(fault))
  }
  return parts.find(refuses)?.fault
}

/** Adds the state of the parts to the metrics of a process. `beside`: parts of the process that its store knows nothing of. */
export function offerHealthMetrics(
  metrics: MetricRegistry,
  store: Store,
  role: 'gateway' | 'dashboard',
  more: () => readonly PartHealth[] = () => [],
): void {
  const parts = () => [...seenHealth(store), ...more()]
  metrics.offer('svc_part_up', () =>
    parts().map(({ part, status }) => ({ labels: { part }, value: Number(status !== 'fail') })),
  )
  const offer = (name: MetricName, part: Part) =>
    metrics.offer(name, () =>
      parts().flatMap((each) =>
        each.part === part && each.value !== undefined ? [{ labels: {}, value: each.value }] : [],
      ),
    )
  offer('svc_outbox_age_seconds', 'outbox')
  offer('svc_disk_free_bytes', 'disk')
  // The embedded store has neither feed nor copy, and no clock of its own.
  if (store.clock === undefined) return
  offer('svc_feed_lag_seconds', 'feed')
  if (role === 'gateway') offer('svc_copy_age_seconds', 'copy')
}

function withStore(store: Store, parts: readonly PartHealth[], refused: FaultCode | undefined): PartHealth[] {
  const others = parts.filter(({ part }) => part !== 'store')
  const clock = clockHealth(store)
  const seen = parts.find(({ part }) => part === 'store')
  return [storeHealth(seen, refused), ...others, ...(clock === undefined ? [] : [clock])]
}

function storeHealth(seen: PartHealth | undefined, refused: FaultCode | undefined): PartHealth {
  if (seen?.status === 'fail' || refused === undefined) return seen ?? { part: 'store', status: 'pass' }
  return { part: 'store', status: 'fail', output: REFUSING[refused] ?? NO_WRITES, fault: refused }
}

const damageOf = (store: Store): FaultCode | undefined => (store.damaged?.() === true ? 'store_damaged' : undefined)

/** Why a store that tells nothing of itself cannot be read. */
async function unread(store: Store): Promise<FaultCode | undefined> {
  try {
    await store.documents.revision()
    return undefined
  } catch (error) {
    return toFault(error).code
  }
}

function clockHealth({ clock }: Store): PartHealth | undefined {
  if (clock === undefined) return undefined
  const { aheadMs } = clock
  const seen = { part: 'clock', value: aheadMs / MS, unit: 's' } as const
  if (Math.abs(aheadMs) > MOST_AHEAD_MS)
    return { ...seen, status: 'fail', output: 'The clock of this node is wrong', fault: 'clock_wrong' }
  if (Math.abs(aheadMs) > AHEAD_WARNED_MS)
    return { ...seen, status: 'warn', output: 'The clock of this node is not that of the database' }
  return { ...seen, status: 'pass' }
}
