import { beginAgain, drainDelayMs, type Roles, type RunningProcess, runsThreads, start } from '../../compose.ts'
import { loadConfig } from '../../config/load.ts'
import { startWorkers } from '../../process/workers.ts'
import type { Command } from './command.ts'

/** npm passes on a Ctrl-C that the terminal has sent already, and ends: what comes so soon is not meant as a second signal. */
const ECHO_MS = 1000

/** A command that serves until a signal comes. */
function serving(name: string, summary: string, roles: Roles): Command {
  return {
    name,
    summary,
    options: { new: { type: 'boolean' } },
    help: '  --new              start over: for an empty store next to the secrets of an installation, which are moved to a file next to them',
    examples: [
      [name, `${summary.replace(/^run /, 'runs ')}, with the settings of this folder`],
      [`${name} -c /etc/gatehouse/gatehouse.json`, 'with another file of settings'],
    ],
    exits: { 0: 'stopped by a signal', 1: 'did not start, or was ended by a second signal' },
    async run({ env, file, cwd, options, print }) {
      const loaded = loadConfig({ env, file, cwd, dashboard: roles.dashboard })
      if (options.new === true) {
        const kept = await beginAgain(loaded)
        if (kept !== undefined) print(`the secrets of before are kept in ${kept}`)
      }
      const several = roles.gateway && loaded.config.gateway.workers > 1 && !runsThreads(loaded.config)
      const running = several ? await startWorkers(loaded, roles, endWith) : await start(loaded, roles)
      // Who reads the greeting may send a signal.
      stopOnSignal(running, drainDelayMs(loaded))
      for (const line of running.greeting) print(line)
      return undefined
    },
  }
}

/** The first signal ends it in order, a second one at once. */
function stopOnSignal(running: Pick<RunningProcess, 'stop'>, delayMs: number): void {
  let stoppingAt: number | undefined
  const stop = (acceptMs: number) => {
    if (stoppingAt !== undefined) {
      if (performance.now() - stoppingAt >= ECHO_MS) endWith('ended at once by a second signal')
      return
    }
    stoppingAt = performance.now()
    running.stop(acceptMs).then(() => process.exit(0), endWith)
  }
  process.on('SIGTERM', () => stop(delayMs))
  // A person at a terminal does not want to wait.
  process.on('SIGINT', () => stop(0))
}

function endWith(error: unknown): never {
  console.error(`gatehouse: ${error instanceof Error ? error.message : error}`)
  process.exit(1)
}

/** The commands that serve; the first of them runs where none is named. */
export const SERVING_COMMANDS: readonly Command[] = [
  serving('all', 'run gateway and dashboard in one process', { gateway: true, dashboard: true }),
  serving('gateway', 'run a gateway alone', { gateway: true, dashboard: false }),
  serving('dashboard', 'run a dashboard alone', { gateway: false, dashboard: true }),
]
