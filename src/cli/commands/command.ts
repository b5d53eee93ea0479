import type { ParseArgsOptionsConfig } from 'node:util'
import type { Environment } from '../../config/environment.ts'

/** The input of a command. The command itself reads the settings, so that `--help` works with broken ones. */
export interface CommandContext {
  readonly env: Environment
  /** `--config`, the JSON file of settings. */
  readonly file: string | undefined
  readonly cwd: string
  /** Words after the name of the command. */
  readonly words: readonly string[]
  /** Options of the command's own, by their long names. */
  readonly options: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>
  /** Writes a line for people or programs to standard output. */
  readonly print: (line: string) => void
}

/** One row of the table of commands. */
export interface Command {
  readonly name: string
  readonly summary: string
  /** Options besides those of every command. */
  readonly options?: ParseArgsOptionsConfig
  /** The words that may follow the name, as its usage shows them: `FILE`. Absent: none. */
  readonly words?: string
  /** The values that such a word can have, for completion; a function where they are many. */
  readonly wordValues?: () => readonly string[]
  /** Those of the options whose value may be left out: it is empty then. */
  readonly mayStandAlone?: ReadonlySet<string>
  /** The text of `--help` about these options, a line each that begins with its names. */
  readonly help?: string
  /** Command lines without the program's name, each with what it does. */
  readonly examples: readonly (readonly [line: string, effect: string])[]
  /** Meaning of each exit status, by number; absent = the process serves until a signal comes. */
  readonly exits: Readonly<Record<number, string>>
  /** Returns the exit status, or undefined when the process keeps running (a server). */
  run(context: CommandContext): Promise<number | undefined> | number | undefined
}

/** Options that every command takes. */
export const COMMON_OPTIONS = {
  config: { type: 'string', short: 'c' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const satisfies ParseArgsOptionsConfig

/** The text of `--help` about them. */
export const COMMON_HELP = `  -c, --config FILE  JSON file of settings; else SVC_CONFIG, else gatehouse.json in this folder
  -h, --help         this text`
