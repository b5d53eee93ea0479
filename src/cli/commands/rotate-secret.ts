import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import { fault } from '../../errors/fault.ts'
import { rotateStoredSecret } from '../../process/live-secrets.ts'
import { requireOldSealKeyUnused } from '../../process/old-seal-key.ts'
import type { Command } from './command.ts'

/** Secrets of `secrets.json`, by the words of the command, with the setting that replaces each. */
const SECRETS = {
  gateway: { name: 'gateway_secret', setting: 'gateway.secret' },
  admin: { name: 'admin_secret', setting: 'dashboard.admin_secret' },
  seal: { name: 'seal_key', setting: 'storage.seal_key' },
} as const

/**
 * `gatehouse rotate-secret`: makes a new secret in the data folder, beside the one before. Running processes of the folder accept both
 * within a second, and with `--end` only the new one; a seal key they take at their next start.
 */
export const ROTATE_SECRET_COMMAND: Command = {
  name: 'rotate-secret',
  summary: 'make a new secret in secrets.json: the one before is accepted until --end',
  words: 'gateway|admin|seal',
  wordValues: () => Object.keys(SECRETS),
  options: { end: { type: 'boolean' }, force: { type: 'boolean' } },
  help: `  --end              no longer accept the secret from before the last rotation
  --force            with seal --end: even while something needs the old key; it cannot be read any more`,
  examples: [
    ['rotate-secret gateway', 'a new secret for X-Svc-Authorization; the old one works too'],
    ['rotate-secret gateway --end', 'the old one is refused from now on'],
  ],
  exits: { 0: 'done', 1: 'refused, with the reason' },
  async run(context) {
    const loaded = loadConfig(context)
    const [which = '', ...more] = context.words
    if (!Object.hasOwn(SECRETS, which) || more.length > 0)
      throw fault('setting_invalid', 'usage: bin/gatehouse rotate-secret gateway|admin|seal [--end [--force]]')
    const { name, setting } = SECRETS[which as keyof typeof SECRETS]
    const origin = loaded.origins.get(setting)
    if (origin?.from !== 'default')
      throw fault(
        'setting_invalid',
        `${setting} is given by ${origin?.name}: change it there, with ${setting}_previous`,
      )
    const end = context.options.end === true
    const checked = end && name === 'seal_key' && context.options.force !== true
    const left = checked ? await requireOldSealKeyUnused(loaded.config) : undefined
    const path = await rotateStoredSecret(resolve(loaded.config.storage.path), name, end)
    context.print(
      end
        ? `Only the ${name} of ${path} is accepted now.`
        : `The new ${name} is in ${path}; the old one is accepted too.`,
    )
    if (left !== undefined && left.auditChanges + left.deadMessages > 0)
      context.print(
        `Without the old one, these cannot be read: changes of the audit log, which cannot be undone any more: ${left.auditChanges}; messages that were given up: ${left.deadMessages}.`,
      )
    return 0
  },
}
