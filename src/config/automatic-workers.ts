import type { Config } from './schema.ts'
import { type SystemView, THIS_SYSTEM, usableCores } from './usable-cores.ts'

const MIB = 2 ** 20
/** Memory that each gateway finds beyond that of the dashboard and the store: more of them would end each other. */
const MEMORY_EACH = 256 * MIB
const MEMORY_OF_OTHERS = 256 * MIB
/** With fewer cores each serves, and the dashboard runs beside them; from here on it has one of its own. */
const DASHBOARD_FROM_CORES = 3

/** The number of gateways that `gateway.workers: auto` comes to. */
export interface AutomaticWorkers {
  readonly count: number
  /** Why so many, for the person who starts them; undefined = there is nothing to choose. */
  readonly why: string | undefined
}

export interface AutomaticWorkersInputs {
  readonly most: number
  /** True = the process runs a dashboard too. */
  readonly dashboard: boolean
  readonly system?: SystemView
}

/**
 * Chooses the number of gateways: one for each core that the process may use, less one for the dashboard from three cores on, and no
 * more than memory has room for. One where a socket is listened on, which one process owns.
 */
export function automaticWorkers(
  { gateway }: Config,
  { most, dashboard, system = THIS_SYSTEM }: AutomaticWorkersInputs,
): AutomaticWorkers {
  if (gateway.listen_socket !== '') return { count: 1, why: undefined }
  const cores = usableCores(system)
  const spares = dashboard && cores >= DASHBOARD_FROM_CORES
  const wanted = Math.min(most, spares ? cores - 1 : cores)
  const room = Math.max(1, Math.floor((system.memory() - MEMORY_OF_OTHERS) / MEMORY_EACH))
  const shown = `${cores} ${cores === 1 ? 'core' : 'cores'}`
  if (room < wanted) {
    const mebibytes = Math.floor(system.memory() / MIB)
    return { count: room, why: `auto: room in ${mebibytes} MiB of memory; ${shown}` }
  }
  return { count: wanted, why: `auto: ${shown}${spares ? ', one of them for the dashboard' : ''}` }
}
