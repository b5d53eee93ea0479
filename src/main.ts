import { BOOTSTRAP_COMMAND } from './cli/commands/bootstrap.ts'
import { type Command, runCommand } from './cli/commands/commands.ts'
import { importCommand } from './cli/import/row.ts'
import { MOVE_COMMANDS } from './cli/moves/rows.ts'
import { beginAgain, type Roles, type RunningProcess, start } from './compose.ts'
import { loadConfig } from './config/load.ts'
import { readIncumbent } from './process/import-source.ts'
import { startWorkers } from './process/workers.ts'

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
      for (const line of running.greeting) print(line)
      stopOnSignal(running)
      return undefined
    },
  }
}

function stopOnSignal(running: Pick<RunningProcess, 'stop'>): void {
  let stopping = false
  const stop = () => {
    if (stopping) return
    stopping = true
    running.stop().then(() => process.exit(0), endWith)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
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

const COMMANDS = [...SERVERS, BOOTSTRAP_COMMAND, ...MOVE_COMMANDS, importCommand(readIncumbent)]
const status = await runCommand(process.argv.slice(2), process.env, COMMANDS)
if (status !== undefined) process.exitCode = status
