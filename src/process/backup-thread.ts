import { readFileSync } from 'node:fs'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Config } from '../config/schema.ts'
import { fault, toFault } from '../errors/fault.ts'
import { type Recipient, readRecipient } from '../model/secrets/recipient-seal.ts'
import { yieldToTraffic } from '../runtime/background-priority.ts'
import type { TransferPart } from '../store/ports/transfer.ts'
import { backupToFile, sealedSecrets } from './backup.ts'

/** The input of the thread that makes one backup. */
export interface BackupThreadData {
  readonly file: string
  readonly storage: Config['storage']
  /** `backup.recipient`: '' = the secrets are left out. */
  readonly recipient: string
  readonly without: readonly string[]
}

/** The one message of the thread. */
export type BackupMessage =
  | { readonly news: 'made'; readonly bytes: number; readonly checksum: string; readonly revision: number }
  | { readonly news: 'failed'; readonly code: string; readonly message: string }

const port = parentPort
if (port === null) throw new Error('the backup thread is started by the server, not by hand')

const SETTING = 'backup.recipient'

yieldToTraffic()
await makeBackup(port, workerData as BackupThreadData)

async function makeBackup(owner: MessagePort, { file, storage, without, recipient }: BackupThreadData): Promise<void> {
  const stop = new AbortController()
  owner.on('message', () => stop.abort(fault('command_stopped', 'the server stops')))
  try {
    const parts = without as readonly TransferPart[]
    const secrets = recipient === '' ? undefined : sealedSecrets(storage, recipientIn(recipient), SETTING)
    const { bytes, checksum, head } = await backupToFile(file, {
      ...{ storage, without: parts, stop: stop.signal },
      ...(secrets !== undefined && { secrets }),
    })
    owner.postMessage({ news: 'made', bytes, checksum, revision: head.revision } satisfies BackupMessage)
  } catch (error) {
    const { code, message } = toFault(error)
    owner.postMessage({ news: 'failed', code, message } satisfies BackupMessage)
  } finally {
    owner.close()
  }
}

/** Read for each backup: the file may have been replaced. @throws Fault `option_invalid` */
function recipientIn(file: string): Recipient {
  let pem: string
  try {
    pem = readFileSync(file, 'utf8')
  } catch (error) {
    throw fault('option_invalid', `${SETTING}: ${file} cannot be read`, error)
  }
  return readRecipient(pem, SETTING)
}
