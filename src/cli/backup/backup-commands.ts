import type { Command } from '../commands/command.ts'

/** The commands that save and restore the whole store of an installation. Their modules are loaded when one runs. */
export const BACKUP_COMMANDS: readonly Command[] = [
  {
    name: 'backup',
    summary: 'save all data of the installation into one file, while it serves or not',
    options: {
      output: { type: 'string', short: 'o' },
      'without-analytics': { type: 'boolean' },
      'without-audit': { type: 'boolean' },
      'without-records': { type: 'boolean' },
      recipient: { type: 'string' },
      json: { type: 'boolean' },
    },
    words: 'FILE',
    help: `  -o, --output FILE    the file to write, which must not exist; - is standard output. FILE alone means the same
  --without-analytics  leaves out counted requests
  --without-audit      leaves out the audit log
  --without-records    leaves out recorded requests
  --recipient FILE     adds the secrets of the installation, sealed for this X25519 public key (PEM)
  --json               for programs`,
    examples: [
      ['backup gatehouse.backup', 'all data, into a file'],
      ['backup --output - --recipient backup.pub', 'with the secrets, to standard output'],
    ],
    exits: { 0: 'the backup is complete', 1: 'failed, with the reason' },
    run: async (context) => (await import('./backup.ts')).backup(context),
  },
  {
    name: 'restore',
    summary: 'load a backup into an empty store',
    options: {
      input: { type: 'string', short: 'i' },
      identity: { type: 'string' },
      'dry-run': { type: 'boolean' },
      json: { type: 'boolean' },
    },
    words: 'FILE',
    help: `  -i, --input FILE     the backup, a file: it is read twice, so no pipe. FILE alone means the same
  --identity FILE      X25519 private key (PEM) that opens the secrets in the backup
  --dry-run            checks everything and writes nothing
  --json               for programs`,
    examples: [
      ['restore gatehouse.backup --dry-run', 'checks the backup'],
      ['restore gatehouse.backup --identity backup.key', 'loads it with its secrets'],
    ],
    exits: { 0: 'restored, or with --dry-run: it could be', 1: 'refused or failed, with the reason' },
    run: async (context) => (await import('./backup.ts')).restore(context),
  },
  {
    name: 'migrate-store',
    summary: 'move the store of a running installation into an empty one: PostgreSQL and Redis, or a data folder',
    options: {
      to: { type: 'string' },
      redis: { type: 'string' },
      'give-up': { type: 'boolean' },
      json: { type: 'boolean' },
    },
    help: `  --to ADDRESS         postgres://user:password@host:5432/database, or a new data folder
  --redis ADDRESS      redis://user:password@host:6379, for a cluster
  --give-up            has a store whose move was cut short take writes again; empty the other one before you repeat the move
  --json               for programs`,
    examples: [
      ['migrate-store --to postgres://gatehouse@db.example/gatehouse --redis redis://cache.example', 'to a cluster'],
      ['migrate-store --to /var/lib/gatehouse-new', 'back into a data folder'],
    ],
    exits: { 0: 'moved', 1: 'refused or failed, with the reason' },
    run: async (context) => (await import('./migrate-store.ts')).migrate(context),
  },
]
