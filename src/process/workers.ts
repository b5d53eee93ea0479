import { availableParallelism, hostname } from 'node:os'
import type { Roles, RunningProcess } from '../compose.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { Fault } from '../errors/fault.ts'
import { LineMerger } from '../runtime/line-merger.ts'
import { choosePorts, type SharedPorts } from '../wire/listen/shared-ports.ts'
import { openLog } from './log.ts'
import { type SupervisedWorker, superviseWorker, type WorkerCommand } from './supervise-worker.ts'

/** Beyond the time for requests in flight: what a worker has counted is still to be written. */
const STOP_BEYOND_MS = 10_000
const STDOUT = 1
/** As many threads of V8 as Node starts by itself. */
const MOST_HELPERS = 4

/**
 * Starts `gateway.workers` processes that share the ports for traffic, each a node; the first runs the dashboard too
 * where configured. One that ends is restarted. `giveUp` is called, with everything stopped, when that is pointless.
 * @throws Fault as `start`, of the first worker that cannot start; `setting_invalid` when the system cannot share a port
 */
export async function startWorkers(
  loaded: LoadedConfig,
  roles: Roles,
  giveUp: (error: Fault) => void,
): Promise<Pick<RunningProcess, 'greeting' | 'stop'>> {
  const { workers: count, drain_timeout_ms: drainMs } = loaded.config.gateway
  const ports = await choosePorts(loaded.config.gateway)
  const log = openLog(loaded.config, 'workers')
  const output = new LineMerger(STDOUT)
  // Workers share the cores: so must what works beside them (scripts/launch.mjs).
  const helpers = Math.max(1, Math.min(MOST_HELPERS, Math.floor(availableParallelism() / count)))
  const workers: SupervisedWorker[] = []
  let stopped: Promise<void> | undefined
  const stopAll = async (delayMs: number) => {
    await Promise.all(workers.map((worker) => worker.stop(delayMs)))
    await log.close()
  }
  const stop = (delayMs = 0) => {
    stopped ??= stopAll(delayMs)
    return stopped
  }
  const begin = (worker: number) =>
    superviseWorker({
      ...{ log, output, helpers },
      order: orderFor(loaded, roles, worker, ports),
      stopWithinMs: drainMs + STOP_BEYOND_MS,
      giveUp(error) {
        log.error({ cause: error }, 'gateway worker keeps failing, stopping')
        void stop().then(() => giveUp(error))
      },
    })
  try {
    for (let worker = 1; worker <= count; worker++) {
      workers.push(begin(worker))
      // None answers /ready on the shared port before the dashboard of the first listens.
      if (worker === 1 && roles.dashboard) await workers[0]!.serving
    }
    const [greeting = []] = await Promise.all(workers.map(({ serving }) => serving))
    const why = loaded.workersReason === undefined ? '' : ` (${loaded.workersReason})`
    return { greeting: [`workers    ${count}${why}`, ...greeting], stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The settings of one worker: its name and control port. */
function orderFor(loaded: LoadedConfig, roles: Roles, worker: number, ports: SharedPorts): WorkerCommand {
  const { config } = loaded
  const { node_name: name, control_port: control, tls } = config.gateway
  const gateway = {
    ...config.gateway,
    listen_port: ports.traffic,
    tls: { ...tls, listen_port: ports.tls },
    control_port: control === 0 ? 0 : control + worker - 1,
    node_name: `${name === '' ? hostname() : name}-${worker}`,
  }
  return {
    worker,
    roles: { gateway: true, dashboard: roles.dashboard && worker === 1 },
    loaded: {
      ...loaded,
      config: { ...config, gateway },
      // They are about the whole and are said once.
      warnings: worker === 1 ? loaded.warnings : [],
    },
  }
}
