import { BOOTSTRAP_COMMAND } from './cli/bootstrap.ts'
import { type Command, runCommand } from './cli/commands.ts'
import { startAll } from './compose.ts'
import { loadConfig } from './config/load.ts'

/** Serves until a signal comes. */
const SERVE: Command = {
  name: 'all',
  summary: 'run gateway and dashboard in one process',
  async run({ env, file, cwd, print }) {
    const running = await startAll(loadConfig({ env, file, cwd }))
    for (const line of running.greeting) print(line)
    let stopping = false
    const stop = () => {
      if (stopping) return
      stopping = true
      running.stop().then(
        () => process.exit(0),
        (error) => {
          console.error(`gatehouse: ${error instanceof Error ? error.message : error}`)
          process.exit(1)
        },
      )
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
    return undefined
  },
}

const status = await runCommand(process.argv.slice(2), process.env, [SERVE, BOOTSTRAP_COMMAND])
if (status !== undefined) process.exitCode = status
