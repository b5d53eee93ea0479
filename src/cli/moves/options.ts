import { readFileSync } from 'node:fs'
import { type ParseArgsOptionsConfig, parseEnv } from 'node:util'
import { fault } from '../../errors/fault.ts'
import { type Recipient, readIdentity, readRecipient, type SealIdentity } from '../../model/secrets/recipient-seal.ts'
import { CHOICES, type Choice } from './kind.ts'
import type { MoveSelection } from './selection.ts'

/** The given options, by their long names. */
export type GivenOptions = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>

/** Without IDs it means all: `cli/commands/commands.ts` passes an empty text then. */
const CHOSEN = { type: 'string', multiple: true } as const
const FLAG = { type: 'boolean' } as const
const WHERE = { dashboard: { type: 'string', short: 'd' }, secret: { type: 'string', short: 's' } } as const
const WHAT = {
  ...Object.fromEntries(CHOICES.map((choice) => [choice, CHOSEN])),
  tag: CHOSEN,
  label: CHOSEN,
} satisfies ParseArgsOptionsConfig
const READING = { identity: { type: 'string' }, 'env-file': { type: 'string' } } as const

export const DUMP_OPTIONS = {
  ...WHERE,
  ...WHAT,
  target: { type: 'string', short: 't' },
  secrets: FLAG,
  recipient: { type: 'string' },
  'env-file': { type: 'string' },
  json: FLAG,
} as const satisfies ParseArgsOptionsConfig

export const VALIDATE_OPTIONS = {
  ...WHAT,
  ...READING,
  path: { type: 'string', short: 'p' },
  json: FLAG,
} as const satisfies ParseArgsOptionsConfig

/** Of commands that write and never delete. */
export const APPLY_OPTIONS = {
  ...WHERE,
  ...VALIDATE_OPTIONS,
  'allow-missing': FLAG,
  yes: { type: 'boolean', short: 'y' },
} as const satisfies ParseArgsOptionsConfig

export const SYNC_OPTIONS = { ...APPLY_OPTIONS, 'no-delete': FLAG } as const satisfies ParseArgsOptionsConfig

export const DIFF_OPTIONS = {
  ...WHERE,
  ...VALIDATE_OPTIONS,
  'no-delete': FLAG,
  'allow-missing': FLAG,
} as const satisfies ParseArgsOptionsConfig

/** Options whose value may be left out. */
export const OPTIONAL_VALUE_OPTIONS: ReadonlySet<string> = new Set<string>(CHOICES)

/** The text of an option, or of the environment; '' when neither is there. */
export function textOption(given: GivenOptions, name: string, fromEnv?: string): string {
  const value = given[name]
  return typeof value === 'string' ? value : (fromEnv ?? '')
}

/** The same where there must be one. @throws Fault `option_invalid` naming how to give it */
export function neededOption(given: GivenOptions, name: string, how: string, fromEnv?: string): string {
  const text = textOption(given, name, fromEnv)
  if (text === '') throw fault('option_invalid', `--${name} is missing (${how})`)
  return text
}

/** The selection of the options; no kinds at all when they choose none. */
export function selectionOf(given: GivenOptions): MoveSelection {
  const kinds = new Map<Choice, 'all' | readonly string[]>()
  for (const choice of CHOICES) {
    const value = given[choice]
    if (value === undefined) continue
    const ids = wordsIn(value)
    kinds.set(choice, ids.length === 0 ? 'all' : ids)
  }
  return { kinds, tags: wordsIn(given.tag), labels: wordsIn(given.label) }
}

/** Whose key secrets are sealed for. @throws Fault `option_invalid` */
export function recipientOf(
  given: GivenOptions,
  env: NodeJS.ProcessEnv | Readonly<Record<string, string | undefined>>,
): Recipient {
  const file = neededOption(
    given,
    'recipient',
    'a PEM file with an X25519 public key, or SVC_SYNC_RECIPIENT',
    env.SVC_SYNC_RECIPIENT,
  )
  return readRecipient(fileText(file, '--recipient'), '--recipient')
}

/** Who opens sealed values; undefined when nobody was named. @throws Fault `option_invalid` */
export function sealIdentityOf(
  given: GivenOptions,
  env: Readonly<Record<string, string | undefined>>,
): SealIdentity | undefined {
  const file = textOption(given, 'identity', env.SVC_SYNC_IDENTITY)
  return file === '' ? undefined : readIdentity(fileText(file, '--identity'), '--identity')
}

/** The environment that files take values from: that of the process, and what `--env-file` adds to it. @throws Fault `option_invalid` */
export function variablesOf(
  given: GivenOptions,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  const file = textOption(given, 'env-file')
  return file === '' ? env : { ...parseEnv(fileText(file, '--env-file')), ...env }
}

function fileText(file: string, option: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw fault('option_invalid', `${option}: ${file} cannot be read`, error)
  }
}

function wordsIn(value: GivenOptions[string]): string[] {
  const texts = Array.isArray(value) ? value : [value]
  return texts
    .flatMap((text) => (typeof text === 'string' ? text.split(',') : []))
    .map((word) => word.trim())
    .filter((word) => word !== '')
}
