import { parseArgs } from 'node:util'
import type { Environment } from '../config/environment.ts'
import { explainSettings, formatSettings } from '../config/explain.ts'
import { loadConfig } from '../config/load.ts'
import { nearest } from '../config/suggest.ts'
import { productVersion } from '../config/version.ts'
import { toFault } from '../errors/fault.ts'

/** What a command is given. Settings are read by the command, so that `--help` works with broken ones. */
export interface CommandContext {
  readonly env: Environment
  /** `--config`, the JSON file of settings. */
  readonly file: string | undefined
  readonly cwd: string
  /** Words after the name of the command. */
  readonly words: readonly string[]
  /** Writes a line for people or programs to standard output. */
  readonly print: (line: string) => void
}

/** One row of the table of commands. */
export interface Command {
  readonly name: string
  readonly summary: string
  /** Answers the exit status, or undefined when the process goes on by itself (a server). */
  run(context: CommandContext): Promise<number | undefined> | number | undefined
}

const SETTINGS_COMMAND: Command = {
  name: 'settings',
  summary: 'list every setting with its value, where it came from and its environment name; a word narrows the list',
  run({ env, file, cwd, words, print }) {
    const loaded = loadConfig({ env, file, cwd })
    const wanted = explainSettings(loaded).filter(({ path, env: name }) => {
      return words.every((word) => path.includes(word) || name.includes(word))
    })
    print(formatSettings(wanted))
    for (const warning of loaded.warnings) print(`warning: ${warning}`)
    return 0
  },
}

const USAGE_ERROR = 2

/**
 * Runs one command line. `rows` are the commands that need the server; the first of them runs when no command is named.
 * Answers the exit status, or undefined when a server now runs. Faults are printed to standard error, one line each.
 */
export async function runCommand(
  argv: readonly string[],
  env: Environment,
  rows: readonly Command[],
): Promise<number | undefined> {
  const table = [...rows, SETTINGS_COMMAND]
  const line = readLine(argv)
  if (typeof line === 'string') return refuse(line)
  if (line.version) return say(`gatehouse ${productVersion()} (Node ${process.version})`)
  if (line.help) return say(helpText(table))
  const [name = table[0]!.name, ...words] = line.words
  const command = table.find((row) => row.name === name)
  if (command === undefined) return refuse(unknownCommand(name, table))
  try {
    return await command.run({ env, file: line.config, cwd: process.cwd(), words, print: say })
  } catch (error) {
    const { code, message, cause, stack } = toFault(error)
    for (const part of message.split('\n')) console.error(`gatehouse: ${part}`)
    if (code === 'internal') console.error(cause instanceof Error ? cause.stack : stack)
    return 1
  }
}

interface Line {
  readonly config: string | undefined
  readonly help: boolean
  readonly version: boolean
  readonly words: readonly string[]
}

/** Reads options and words, or answers what is wrong with them. */
function readLine(argv: readonly string[]): Line | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        config: { type: 'string', short: 'c' },
        help: { type: 'boolean', short: 'h', default: false },
        version: { type: 'boolean', short: 'v', default: false },
      },
    })
    return { config: values.config, help: values.help, version: values.version, words: positionals }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function say(line: string): number {
  console.log(line)
  return 0
}

function refuse(reason: string): number {
  console.error(`gatehouse: ${reason}\nSee gatehouse --help.`)
  return USAGE_ERROR
}

function unknownCommand(name: string, table: readonly Command[]): string {
  const near = nearest(
    name,
    table.map((row) => row.name),
  )
  return `no such command: ${name}${near === undefined ? '' : `; did you mean ${near}?`}`
}

function helpText(table: readonly Command[]): string {
  const width = Math.max(...table.map(({ name }) => name.length))
  const commands = table.map(
    ({ name, summary }, i) => `  ${name.padEnd(width)}  ${summary}${i === 0 ? ' (default)' : ''}`,
  )
  return `Usage: gatehouse [command] [--config FILE]

Commands:
${commands.join('\n')}

Options:
  -c, --config FILE  JSON file of settings; else SVC_CONFIG, else gatehouse.json in this folder
  -h, --help         this text
  -v, --version      version of the product and of its runtime

Settings are described in docs/generated/config.md.`
}
