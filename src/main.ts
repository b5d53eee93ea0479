import { runCommand } from './cli/commands/commands.ts'
import { COMMANDS } from './cli/commands/table.ts'

const status = await runCommand(process.argv.slice(2), process.env, COMMANDS)
if (status !== undefined) process.exitCode = status
