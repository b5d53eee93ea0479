import type { KeyObject } from 'node:crypto'
import type { MonoMillis } from '../../model/time/clock.ts'
import type { Revision } from '../../store/ports/ports.ts'
import type { StoredRing } from './key-ring.ts'

/** A ring as it was read. */
export interface Ring {
  readonly revision: Revision
  readonly stored: StoredRing
  readonly privateKeys: Map<string, KeyObject>
}

/** The rings of signing keys as one process has read them from its store. */
export class RingCache {
  readonly rings = new Map<string, { readonly ring: Ring; readonly readAt: MonoMillis }>()
  /** First keys that are being made: callers of this process wait for the same one. */
  readonly making = new Map<string, Promise<Ring>>()
  /** Grows when rings were forgotten: what was read before may be the old state. */
  generation = 0

  /** Has all rings read again before they are used: they were changed. */
  forget(): void {
    this.generation++
    this.rings.clear()
  }
}
