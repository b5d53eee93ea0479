import type { Command } from '../commands/command.ts'
import {
  APPLY_OPTIONS,
  DIFF_OPTIONS,
  DUMP_OPTIONS,
  OPTIONAL_VALUE_OPTIONS,
  SYNC_OPTIONS,
  VALIDATE_OPTIONS,
} from './options.ts'

const CHOOSING = `  --apis, --policies, --clients, --keys, --labels, --groups, --hooks, --portal [IDS]
                     these sorts, of each all or the named ones; everything but keys when none is given
  --tag, --label     only APIs with one of these tags, with these labels (key:value), and what belongs to them`
const ASKING = `  -d, --dashboard URL      the dashboard; else SVC_SYNC_DASHBOARD
  -s, --secret CREDENTIAL  API credential of one of its users; better in SVC_SYNC_SECRET`
const READING = `  -p, --path DIR     the folder of files
  --identity FILE    X25519 private key that opens sealed secrets; else SVC_SYNC_IDENTITY
  --env-file FILE    values for \${env:NAME} in files, besides the environment
  --json             for programs`
const KEEPING = '  --no-delete        leaves what is not in the files'
const COMPARING = '  --allow-missing    lets objects name others that are not there'
const DOING = '  -y, --yes          does it'

/** The commands that move objects between installations. Their modules are loaded when one runs. */
export const MOVE_COMMANDS: readonly Command[] = [
  {
    name: 'dump',
    summary: 'export APIs, policies and more of a dashboard into files, one object each',
    options: DUMP_OPTIONS,
    mayStandAlone: OPTIONAL_VALUE_OPTIONS,
    help: `${ASKING}\n  -t, --target DIR   the folder to write to\n${CHOOSING}
  --secrets          secrets too, sealed for the recipient
  --recipient FILE   X25519 public key; else SVC_SYNC_RECIPIENT
  --env-file FILE    values of \${env:NAME} in files that are there: they stay as long as they say the same
  --json             for programs`,
    examples: [
      ['dump -t environments/staging', 'all but keys, with SVC_SYNC_DASHBOARD and SVC_SYNC_SECRET set'],
      ['dump -t files --apis orders,billing', 'two APIs'],
    ],
    exits: { 0: 'written', 1: 'failed, with the reason' },
    run: async (context) => (await import('./commands.ts')).dump(context),
  },
  {
    name: 'diff',
    summary: 'show what sync would change; exit status 2 if anything',
    options: DIFF_OPTIONS,
    mayStandAlone: OPTIONAL_VALUE_OPTIONS,
    help: `${ASKING}\n${READING}\n${CHOOSING}\n${KEEPING}\n${COMPARING}`,
    examples: [
      ['diff -p environments/staging', 'the differences between files and dashboard'],
      ['diff -p files --policies --json', 'policies only, for a script'],
    ],
    exits: { 0: 'no difference', 1: 'failed, with the reason', 2: 'there are differences' },
    run: async (context) => (await import('./commands.ts')).diff(context),
  },
  {
    name: 'sync',
    summary: 'make a dashboard match the files: create, change and delete; shows the plan, --yes applies it',
    options: SYNC_OPTIONS,
    mayStandAlone: OPTIONAL_VALUE_OPTIONS,
    help: `${ASKING}\n${READING}\n${CHOOSING}\n${KEEPING}\n${COMPARING}\n${DOING}`,
    examples: [
      ['sync -p environments/staging', 'the plan'],
      ['sync -p environments/staging --yes', 'applies it'],
    ],
    exits: {
      0: 'done, or nothing to do',
      1: 'failed, refused, or not served by a node, with the reason',
      2: 'without --yes: there is something to do',
    },
    run: async (context) => (await import('./commands.ts')).change(context, 'sync'),
  },
  {
    name: 'apply',
    summary: 'as sync, without deletions',
    options: APPLY_OPTIONS,
    mayStandAlone: OPTIONAL_VALUE_OPTIONS,
    help: `${ASKING}\n${READING}\n${CHOOSING}\n${COMPARING}\n${DOING}`,
    examples: [['apply -p environments/staging --yes', 'creates and changes, deletes nothing']],
    exits: {
      0: 'done, or nothing to do',
      1: 'failed, refused, or not served by a node, with the reason',
      2: 'without --yes: there is something to do',
    },
    run: async (context) => (await import('./commands.ts')).change(context, 'apply'),
  },
  {
    name: 'publish',
    summary: 'create only new objects: refuses when one exists and differs',
    options: APPLY_OPTIONS,
    mayStandAlone: OPTIONAL_VALUE_OPTIONS,
    help: `${ASKING}\n${READING}\n${CHOOSING}\n${COMPARING}\n${DOING}`,
    examples: [['publish -p files --apis new-api --yes', 'creates an API that is not there yet']],
    exits: {
      0: 'done, or nothing to do',
      1: 'failed, refused, or not served by a node, with the reason',
      2: 'without --yes: there is something to do',
    },
    run: async (context) => (await import('./commands.ts')).change(context, 'publish'),
  },
  {
    name: 'validate',
    summary: 'check files: every mistake with file, line and field',
    options: VALIDATE_OPTIONS,
    mayStandAlone: OPTIONAL_VALUE_OPTIONS,
    help: `${READING}\n${CHOOSING}`,
    examples: [['validate -p environments/staging', 'before a merge: needs no dashboard']],
    exits: { 0: 'no mistakes', 1: 'mistakes, or the files cannot be read' },
    run: async (context) => (await import('./commands.ts')).validate(context),
  },
]
