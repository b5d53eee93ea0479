import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import type { Environment } from '../../config/environment.ts'
import { productVersion } from '../../config/version.ts'
import { REMEDIES } from '../../errors/catalog.ts'
import { toFault } from '../../errors/fault.ts'
import { nearest } from '../../errors/suggest.ts'
import { COMMON_HELP, COMMON_OPTIONS, type Command, type CommandContext } from './command.ts'

const USAGE_ERROR = 2

/**
 * Runs one command line. `table` has the commands; the first of them runs when no command is named.
 * Answers the exit status, or undefined when a server now runs. Faults are printed to standard error, one line each.
 */
export async function runCommand(
  argv: readonly string[],
  env: Environment,
  table: readonly Command[],
): Promise<number | undefined> {
  const named = table.find((row) => row.name === firstWord(argv))
  const line = readLine(argv, named ?? table[0])
  if (typeof line === 'string') return refuse(line, named)
  if (line.version) return say(`gatehouse ${productVersion()} (Node ${process.version})`)
  if (line.help) return say(named === undefined ? helpText(table) : helpOf(named))
  const [name = table[0]!.name, ...words] = line.words
  const command = table.find((row) => row.name === name)
  if (command === undefined) return refuse(unknownCommand(name, table))
  if (command.options !== undefined && command.words === undefined && words.length > 0)
    return refuse(`not an option of ${name}: ${words[0]}`, command)
  try {
    const { config: file, options } = line
    return await command.run({ env, file, cwd: process.cwd(), words, options, print: say })
  } catch (error) {
    const { code, message, cause, stack } = toFault(error)
    for (const part of message.split('\n')) console.error(`gatehouse: ${part}`)
    if (code === 'store_damaged') console.error(`gatehouse: ${REMEDIES[code]}`)
    if (code === 'internal') console.error(cause instanceof Error ? cause.stack : stack)
    return 1
  }
}

interface Line {
  readonly config: string | undefined
  readonly help: boolean
  readonly version: boolean
  readonly words: readonly string[]
  readonly options: CommandContext['options']
}

/** Reads options and words, or answers what is wrong with them. */
function readLine(argv: readonly string[], command: Command | undefined): Line | string {
  const own: ParseArgsOptionsConfig = { ...command?.options, ...COMMON_OPTIONS }
  try {
    const args = withEmptyValues(argv, command?.mayStandAlone ?? new Set())
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options: own })
    const { config, help = false, version = false, ...options } = values
    return {
      config: typeof config === 'string' ? config : undefined,
      help: help === true,
      version: version === true,
      words: positionals,
      options: options as CommandContext['options'],
    }
  } catch (error) {
    return flawOf(error, own)
  }
}

/** A refusal of `parseArgs` in a sentence of ours: its own has advice that does not fit, and changes with Node. */
function flawOf(error: unknown, known: ParseArgsOptionsConfig): string {
  const { message } = toFault(error)
  const quoted = /'(-[^']*)'/.exec(message)?.[1] ?? ''
  const name = /--([\w-]+)/.exec(quoted)?.[1] ?? ''
  const option = Object.hasOwn(known, name) ? known[name] : undefined
  if (option !== undefined) return `--${name} ${option.type === 'string' ? 'needs a value' : 'takes no value'}`
  const near = name === '' ? undefined : nearest(name, Object.keys(known))
  return `no such option: ${quoted}${near === undefined ? '' : `; did you mean --${near}?`}`
}

/** The name of the command: the first word that is no option, nor the file of settings. */
function firstWord(argv: readonly string[]): string | undefined {
  return argv.find((word, at) => !word.startsWith('-') && !/^(?:-c|--config)$/.test(argv[at - 1] ?? ''))
}

/** `--apis` alone becomes `--apis=`: an option that is followed by another one, or by nothing, has no value. */
function withEmptyValues(argv: readonly string[], mayStandAlone: ReadonlySet<string>): string[] {
  return argv.map((word, at) => {
    const next = argv[at + 1]
    const alone =
      word.startsWith('--') && mayStandAlone.has(word.slice(2)) && (next === undefined || next.startsWith('-'))
    return alone ? `${word}=` : word
  })
}

/** The text of `--help` of a command. */
export function helpOf({ name, words, summary, help, examples, exits }: Command): string {
  const usage = ['bin/gatehouse', name, ...(words === undefined ? [] : [words]), '[options]'].join(' ')
  const options = [...(help === undefined ? [] : [help]), COMMON_HELP].join('\n')
  const lines = examples.map(([line, effect]) => `  bin/gatehouse ${line}\n      ${effect}`).join('\n')
  const statuses = Object.entries(exits).map(([status, meaning]) => `  ${status}  ${meaning}`)
  return `Usage: ${usage}\n\n${summary}\n\nOptions:\n${options}\n\nExamples:\n${lines}\n\nExit status:\n${statuses.join('\n')}`
}

function say(line: string): number {
  console.log(line)
  return 0
}

/** For commands that use exit status 2 for something else, a wrong command line ends with 1. */
function refuse(reason: string, command?: Command): number {
  console.error(`gatehouse: ${reason}\nSee bin/gatehouse ${command === undefined ? '' : `${command.name} `}--help.`)
  return command?.options === undefined ? USAGE_ERROR : 1
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
  return `Usage: bin/gatehouse [command] [--config FILE]

Commands:
${commands.join('\n')}

Options:
  -c, --config FILE  JSON file of settings; else SVC_CONFIG, else gatehouse.json in this folder
  --new              begin again with an empty store beside the secrets of an installation
  -h, --help         this text
  -v, --version      version of the product and of its runtime

\`bin/gatehouse COMMAND --help\` has the options, examples and exit statuses of a command. Settings are described in docs/generated/config.md.`
}
