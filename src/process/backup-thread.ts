import { setPriority } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { fault, toFault } from '../errors/fault.ts'
import type { TransferPart } from '../store/ports/transfer.ts'
import { backupToFile } from './backup.ts'
import type { StoreSettings } from './open-transfer.ts'

/** The input of the thread that makes one backup. */
export interface BackupThreadData {
  readonly file: string
  readonly storage: StoreSettings
  readonly without: readonly string[]
}

/** The one message of the thread. */
export type BackupMessage =
  | { readonly news: 'made'; readonly bytes: number; readonly checksum: string; readonly revision: number }
  | { readonly news: 'failed'; readonly code: string; readonly message: string }

const port = parentPort
if (port === null) throw new Error('the backup thread is started by the server, not by hand')

/** As the dashboard's: traffic comes first. */
const PRIORITY = 10

if (process.platform === 'linux') setPriority(0, PRIORITY)
await makeBackup(port, workerData as BackupThreadData)

async function makeBackup(owner: MessagePort, { file, storage, without }: BackupThreadData): Promise<void> {
  const stop = new AbortController()
  owner.on('message', () => stop.abort(fault('command_stopped', 'the server stops')))
  try {
    const parts = without as readonly TransferPart[]
    const { bytes, checksum, head } = await backupToFile(file, { storage, without: parts, stop: stop.signal })
    owner.postMessage({ news: 'made', bytes, checksum, revision: head.revision } satisfies BackupMessage)
  } catch (error) {
    const { code, message } = toFault(error)
    owner.postMessage({ news: 'failed', code, message } satisfies BackupMessage)
  } finally {
    owner.close()
  }
}
