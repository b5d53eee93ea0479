import type { Config } from '../config/schema.ts'
import type { Clock } from '../model/clock.ts'
import type { Log } from '../model/log.ts'
import type { SecretParts } from '../publish/parts.ts'
import type { Store } from '../store/ports.ts'

/** What the dashboard stands on; one object for all routes. */
export interface DashboardParts extends SecretParts {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly config: SecretParts['config'] & Config
  /** What `admin-auth` must hold. */
  readonly adminSecret: string
  readonly version: string
  /** Resolves once the gateway of this process serves what was committed under the revision (decision 8); at once without one. */
  readonly settled: (revision: number) => Promise<void>
}
