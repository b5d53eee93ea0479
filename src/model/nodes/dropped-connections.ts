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
