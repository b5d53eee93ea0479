import { fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import { fault } from '../../errors/fault.ts'
import { type BackupOptions, backupTo, backupToFile, sealedSecrets } from '../../process/backup.ts'
import { yieldToTraffic } from '../../runtime/background-priority.ts'
import { TRANSFER_PARTS } from '../../store/ports/transfer.ts'
import type { CommandContext } from '../commands/command.ts'
import { openProgress, stoppable } from '../commands/progress.ts'
import { recipientOf } from '../moves/options.ts'
import { archiveJson, archiveLines, fileOf } from './report.ts'

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
