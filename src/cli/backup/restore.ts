import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import { fault } from '../../errors/fault.ts'
import { openSealed } from '../../model/secrets/recipient-seal.ts'
import { SECRETS_PLACE } from '../../process/backup.ts'
import { restoreFile } from '../../process/restore.ts'
import type { CommandContext } from '../commands/command.ts'
import { openProgress, stoppable } from '../commands/progress.ts'
import { sealIdentityOf } from '../moves/options.ts'
import { archiveJson, archiveLines, fileOf } from './report.ts'

/** `gatehouse restore`: loads an archive into an empty store. */
export async function restore(context: CommandContext): Promise<number> {
  const { options, env, cwd, print } = context
  const file = fileOf(context, 'input')
  // Checked as a whole before anything is written, hence read twice.
  if (file === '-') throw fault('option_invalid', 'restore reads a file, not standard input: save the backup first')
  const { config } = loadConfig(context)
  const identity = options.identity === undefined ? undefined : sealIdentityOf(options, env)
  const dryRun = options['dry-run'] === true
  const json = options.json === true
  const units = { check: 'bytes', restore: 'rows' }
  let progress = openProgress({ unit: units.check, json })
  const { end, checksum, revision } = await stoppable('the restore was stopped; the store is empty', (stop) =>
    restoreFile(resolve(cwd, file), {
      storage: config.storage,
      ...(identity && { openSealed: (sealed) => openSealed(identity, SECRETS_PLACE, sealed) }),
      ...{ dryRun, stop },
      onStep(step, total) {
        progress.end()
        progress = openProgress({ unit: units[step], json })
        progress.begin(step, total)
      },
      onProgress: (done) => progress.advance(done),
    }),
  ).finally(() => progress.end())
  const { counts, kinds } = end
  const result = { file, counts, kinds, checksum, revision, dry_run: dryRun }
  if (json) print(archiveJson(result))
  else {
    const title = dryRun ? `${file} can be restored; nothing was written` : `restored ${file}; start the server`
    for (const line of archiveLines(title, result)) print(line)
  }
  return 0
}
