import { readFileSync } from 'node:fs'

/** How the file descriptors that a process may open are shared out. What is in no share is for files, threads and the store. */
export interface DescriptorShares {
  /** Connections of clients to the traffic and TLS ports. */
  readonly clients: number
  readonly upstreams: number
  /** Connections to the control port. */
  readonly control: number
  /** Connections to the dashboard. */
  readonly dashboard: number
}

const UNLIMITED = 2 ** 40
/** A quarter is kept back for files, threads and the store, but no more than these need. */
const MOST_KEPT = 1024
const MOST_CONTROL = 256
const MOST_DASHBOARD = 4096

/**
 * Shares descriptors out. Every client may need an upstream at the same time, so the two get equal parts; `wantedClients` (0 = nothing is
 * wanted) moves the border up to three quarters.
 */
export function shareDescriptors(limit: number, wantedClients: number): DescriptorShares {
  const kept = Math.min(Math.ceil(limit / 4), MOST_KEPT)
  const control = Math.min(Math.ceil(limit / 16), MOST_CONTROL)
  const dashboard = Math.min(Math.ceil(limit / 8), MOST_DASHBOARD)
  const rest = limit - kept - control - dashboard
  const clients =
    wantedClients === 0 ? Math.ceil(rest / 2) : Math.min(wantedClients, Math.max(1, Math.floor(rest * 0.75)))
  return { clients, upstreams: Math.max(1, rest - clients), control, dashboard }
}

/** File descriptors that this process may have open at once; a number that is never reached where the system does not say (it does on Linux). */
export function descriptorLimit(): number {
  const limits = process.platform === 'linux' ? readFileSync('/proc/self/limits', 'utf8') : ''
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
  return soft === undefined ? UNLIMITED : Number(soft)
}

/** Why the dashboard drops connections: too many in all, no file descriptors for so many, too many of one address. */
const DROP_REASONS = ['max_connections', 'descriptors', 'address'] as const
export type DropReason = (typeof DROP_REASONS)[number]

/** Counts connections that the dashboard dropped, for the metrics of the gateway on another thread. */
export class DroppedConnections {
  /** Shared between threads: one number for each reason. */
  readonly cells: Int32Array<SharedArrayBuffer>

  constructor(cells = new Int32Array(new SharedArrayBuffer(DROP_REASONS.length * Int32Array.BYTES_PER_ELEMENT))) {
    this.cells = cells
  }

  dropped(reason: DropReason): void {
    Atomics.add(this.cells, DROP_REASONS.indexOf(reason), 1)
  }

  /** Reasons that there were, with how often. */
  counts(): readonly (readonly [DropReason, number])[] {
    return DROP_REASONS.map((reason, i) => [reason, Atomics.load(this.cells, i)] as const).filter(([, n]) => n > 0)
  }
}
