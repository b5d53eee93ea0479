import { hostname } from 'node:os'
import type { Config } from '../../config/schema.ts'
import type { Log } from '../../model/logs/log.ts'
import type { NodeShard } from '../../model/nodes/node.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { Store } from '../../store/ports/ports.ts'
import type { ApiCatalogue } from '../apis/catalogue.ts'
import type { LiveConfig } from '../apis/live.ts'
import type { LoadMeter } from '../record/load-meter.ts'
import { NodeReporter, type NodeStatusParts } from './node-status.ts'

interface ReporterParts {
  readonly clock: Clock
  readonly config: Config
  readonly log: Log
  readonly nodeName: string
  readonly store: Store
  readonly version: string
}

/** How the status of a node is stored: `publish/nodes/node-status.ts`. */
interface StatusWriter extends Pick<NodeStatusParts, 'write' | 'idOf'> {
  /** Deletes the statuses of nodes that are long gone. */
  readonly forget: () => Promise<unknown>
}

interface ReportedParts {
  readonly catalogue: ApiCatalogue
  readonly live: LiveConfig
  readonly shard: NodeShard
}

/** Reports the state of the APIs on this node to the dashboard. */
export function nodeReporter(
  { clock, config, log, nodeName, store, version }: ReporterParts,
  { catalogue, live, shard }: ReportedParts,
  port: number,
  load: LoadMeter,
  writer: StatusWriter,
): NodeReporter {
  const reporter = new NodeReporter({
    ...{ write: writer.write, idOf: writer.idOf, feed: store.feed },
    about: {
      name: nodeName,
      hostname: hostname(),
      version,
      ...shard,
      management: config.gateway.management_node,
      port,
      public_url: config.gateway.public_url,
    },
    look: () => ({
      states: catalogue.states(),
      revision: live.snapshot.revision,
      behind: live.behind || store.behind?.() === true,
      load: load.read(),
    }),
    clock,
    log,
  })
  live.onDefinitions(() => reporter.changed())
  reporter.changed()
  writer.forget().catch((error) => log.debug({ cause: error }, 'cannot delete old nodes'))
  return reporter
}
