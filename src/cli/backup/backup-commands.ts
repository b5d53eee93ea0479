import type { Command } from '../commands/commands.ts'

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
    run: async (context) => (await import('./restore.ts')).restore(context),
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
    run: async (context) => (await import('./migrate-store.ts')).migrate(context),
  },
]
