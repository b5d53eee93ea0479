import { BACKUP_COMMANDS } from './cli/backup/backup-commands.ts'
import { BOOTSTRAP_COMMAND } from './cli/commands/bootstrap.ts'
import { type Command, runCommand } from './cli/commands/commands.ts'
import { DOCTOR_COMMAND } from './cli/commands/doctor.ts'
import { ROTATE_SECRET_COMMAND } from './cli/commands/rotate-secret.ts'
import { importCommand } from './cli/import/import-command.ts'
import { MOVE_COMMANDS } from './cli/moves/move-commands.ts'
import { beginAgain, drainDelayMs, type Roles, type RunningProcess, start } from './compose.ts'
import { loadConfig } from './config/load.ts'
import { readIncumbent } from './process/import-source.ts'
import { startWorkers } from './process/workers.ts'

/** npm passes on a Ctrl-C that the terminal has sent already, and ends: what comes so soon is not meant as a second signal. */
const ECHO_MS = 1000

/** A command that serves until a signal comes. */
function serving(name: string, summary: string, roles: Roles): Command {
  return {
    name,
    summary,
    options: { new: { type: 'boolean' } },
    help: '  --new              start over: for an empty store next to the secrets of an installation, which are moved to a file next to them',
    async run({ env, file, cwd, options, print }) {
      const loaded = loadConfig({ env, file, cwd })
      if (options.new === true) {
        const kept = await beginAgain(loaded)
        if (kept !== undefined) print(`the secrets of before are kept in ${kept}`)
      }
      const several = roles.gateway && loaded.config.gateway.workers > 1
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

const SERVERS = [
  serving('all', 'run gateway and dashboard in one process', { gateway: true, dashboard: true }),
  serving('gateway', 'run a gateway alone', { gateway: true, dashboard: false }),
  serving('dashboard', 'run a dashboard alone', { gateway: false, dashboard: true }),
]

const COMMANDS = [
  ...SERVERS,
  BOOTSTRAP_COMMAND,
  DOCTOR_COMMAND,
  ROTATE_SECRET_COMMAND,
  ...BACKUP_COMMANDS,
  ...MOVE_COMMANDS,
  importCommand(readIncumbent),
]
const status = await runCommand(process.argv.slice(2), process.env, COMMANDS)
if (status !== undefined) process.exitCode = status
