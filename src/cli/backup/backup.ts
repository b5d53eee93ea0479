import { fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import { fault } from '../../errors/fault.ts'
import { openSealed } from '../../model/secrets/recipient-seal.ts'
import { type BackupOptions, backupTo, backupToFile, SECRETS_PLACE, sealedSecrets } from '../../process/backup.ts'
import { restoreFile } from '../../process/restore.ts'
import { yieldToTraffic } from '../../runtime/background-priority.ts'
import { TRANSFER_PARTS } from '../../store/ports/transfer.ts'
import type { CommandContext } from '../commands/command.ts'
import { openProgress, stoppable } from '../commands/progress.ts'
import { recipientOf, sealIdentityOf } from '../moves/options.ts'

const STDOUT = 1
/** `gatehouse backup`: writes all data of the installation into one archive. */
export async function backup(context: CommandContext): Promise<number> {
  const { options, env, cwd, print } = context
  const file = fileOf(context, 'output')
  yieldToTraffic()
  const { config } = loadConfig(context)
  const secrets =
    options.recipient === undefined
      ? undefined
      : sealedSecrets(config.storage, recipientOf(options, env), '--recipient')
  const json = options.json === true
  const progress = openProgress({ unit: 'rows', json })
  const written = await stoppable('the backup was stopped; nothing was written', async (stop) => {
    const asked: BackupOptions = {
      storage: config.storage,
      without: TRANSFER_PARTS.filter((part) => options[`without-${part}`] === true),
      ...(secrets !== undefined && { secrets }),
      onTotal: (rows) => progress.begin('backup', rows),
      onRows: (rows) => progress.advance(rows),
      stop,
    }
    return file === '-' ? backupTo(standardOutput(stop), asked) : backupToFile(resolve(cwd, file), asked)
  }).finally(() => progress.end())
  const result = { file, ...written, revision: written.head.revision }
  // Standard output holds the archive.
  const say = file === '-' ? (line: string) => void process.stderr.write(`${line}\n`) : print
  if (json) say(archiveJson(result))
  else for (const line of archiveLines(`backup in ${file}`, result)) say(line)
  return 0
}

/**
 * Writes to standard output without blocking the thread, as Node does where that is a pipe: a reader that reads nothing must not keep a
 * command that is stopped.
 */
function standardOutput(stop: AbortSignal): (bytes: Uint8Array) => Promise<void> {
  const isFile = !fstatSync(STDOUT).isFIFO() && !fstatSync(STDOUT).isSocket()
  const stream = isFile ? process.stdout : new Socket({ fd: STDOUT, readable: false, writable: true })
  stop.addEventListener('abort', () => stream.destroy(), { once: true })
  let failure: Error | undefined
  stream.on('error', (error) => {
    failure = error
  })
  return (bytes) =>
    new Promise((done, failed) => {
      const fail = (error: Error) => {
        failed(stop.aborted ? stop.reason : fault('files_unwritable', `standard output: ${error.message}`, error))
      }
      if (failure !== undefined) return fail(failure)
      stream.write(bytes, (error) => (error ? fail(error) : done()))
    })
}

/** The result of a backup or a restore. */
interface ArchiveReport {
  readonly file: string
  readonly counts: Readonly<Record<string, number>>
  readonly kinds: Readonly<Record<string, number>>
  readonly revision: number
  readonly checksum: string
  readonly bytes?: number
  readonly dry_run?: boolean
}

/** For programs. */
function archiveJson({ file, counts, kinds, revision, checksum, bytes, dry_run }: ArchiveReport): string {
  return JSON.stringify({ file, revision, checksum, bytes, dry_run, counts, kinds })
}

/** For people: what is in it, and what to compare it by. */
function archiveLines(title: string, { counts, kinds, revision, checksum, bytes }: ArchiveReport): string[] {
  const rows = Object.entries({ ...kinds, ...omit(counts, 'document') })
  const width = Math.max(0, ...rows.map(([name]) => name.length))
  return [
    ...rows.map(([name, count]) => `  ${name.padEnd(width)}  ${count.toLocaleString('en-US')}`),
    `${title}: revision ${revision}${bytes === undefined ? '' : `, ${bytes.toLocaleString('en-US')} bytes`}, checksum ${checksum}`,
  ]
}

function omit(counts: Readonly<Record<string, number>>, name: string): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([table]) => table !== name))
}

/** The file that a command names, by an option or alone. @throws Fault `option_invalid` */
function fileOf({ options, words }: CommandContext, option: 'input' | 'output'): string {
  const named = options[option]
  const [file = '', ...more] = [...(typeof named === 'string' ? [named] : []), ...words]
  if (file === '' || more.length > 0) throw fault('option_invalid', 'name one file')
  return file
}

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
