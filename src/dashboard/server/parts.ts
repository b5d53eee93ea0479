import type { ExplainedSetting } from '../../config/explain.ts'
import type { Config } from '../../config/schema.ts'
import type { Flaw } from '../../model/apis/definition/tree.ts'
import type { Trial, TrialRequest } from '../../model/apis/definition/trial.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { Log } from '../../model/logs/log.ts'
import type { DroppedConnections } from '../../model/nodes/descriptors.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { SecretParts } from '../../publish/documents/parts.ts'
import type { Store } from '../../store/ports/ports.ts'
import type { DashboardServices } from './compose-services.ts'

/** The inputs of a dashboard: the store, the settings, and the way to the gateway of this process. */
export interface DashboardInputs extends SecretParts {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly config: SecretParts['config'] & Config
  /** The values of `admin-auth` that are accepted now. */
  readonly adminSecrets: () => readonly string[]
  /** The secrets of scrapers that are accepted now; absent = that of the settings. */
  readonly scraperSecrets?: () => readonly string[]
  /** The password at the mail server as it is now; absent = that of the settings. */
  readonly mailPassword?: () => string
  readonly version: string
  /** Makes the OpenAPI document of the administration API of the gateway; absent = it is not served here. */
  readonly adminDocument?: () => Promise<JsonObject>
  /** Every setting with where its value comes from, secrets masked. */
  readonly settings: readonly ExplainedSetting[]
  /** Resolves once the gateway of this process serves what was committed under the revision (decision 8); at once without one. */
  readonly settled: (revision: number) => Promise<void>
  /**
   * The flaws of the API under a storage id that the gateway of this process adds, once it serves what was committed under the revision;
   * none where it is behind. Absent = there is no gateway.
   */
  readonly nodeFlaws?: (revision: number, id: string) => Promise<readonly Flaw[]>
  /** Longest wait for that, in milliseconds; absent = five seconds. */
  readonly settleWithinMs?: number
  /** The time that a public body may take besides the time for its bytes, in milliseconds; absent = five seconds. */
  readonly publicBodyMs?: number
  /** Has the gateway of this process send a request to itself; absent = there is none. @throws Fault `try_elsewhere` and others */
  readonly tryRequest?: (trial: TrialRequest) => Promise<Trial>
  /** Counts connections that are dropped, for the metrics of the gateway of this process; absent = there is none. */
  readonly drops?: DroppedConnections
  /** Aborted when the dashboard begins to close: ends endless tasks. */
  readonly closing?: AbortSignal
  /** True from the signal to stop on. */
  readonly draining?: () => boolean
}

/** The dependencies of the dashboard; one object for all routes. */
export interface DashboardParts extends DashboardInputs, DashboardServices {}
