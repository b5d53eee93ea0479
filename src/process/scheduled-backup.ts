import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Config } from '../config/schema.ts'
import type { Log } from '../model/logs/log.ts'
import type { BackupStatus } from '../model/nodes/health.ts'
import { type Clock, systemClock } from '../model/time/clock.ts'
import { PeriodicJob } from '../runtime/periodic-job.ts'
import type { BackupMessage, BackupThreadData } from './backup-thread.ts'

/** How often it is looked whether one is due. */
const LOOK_EVERY_MS = 30_000
const RETRY_MS = 600_000
const OLD_SPACE_MB = 512
/** `gatehouse-20261126T221500Z-1a2b.backup`, and what a process that was killed has left of one. */
const NAME = /^gatehouse-\d{8}T\d{6}Z-[0-9a-f]{4}\.backup(?<partial>\..*\.partial)?$/

interface ScheduleOptions {
  readonly config: Pick<Config, 'backup' | 'storage'>
  readonly status: BackupStatus
  readonly log: Log
  readonly clock?: Clock
}

/**
 * Makes backups of the store into `backup.folder`, each on a thread of its own, and deletes the oldest. A failure is logged at error
 * level and tried again. Answers what ends it, with the backup under way.
 */
export function scheduleBackups({ config, status, log, clock = systemClock }: ScheduleOptions): {
  close(): Promise<void>
} {
  const { keep, without, recipient } = config.backup
  const folder = resolve(config.backup.folder)
  const closing = new AbortController()
  let nextAt = 0
  let isOpen = false
  const run = async () => {
    if (clock.wall() < nextAt || closing.signal.aborted) return
    // Where it fails.
    nextAt = clock.wall() + Math.min(RETRY_MS, status.intervalMs)
    if (!isOpen) {
      const dueAt = (await openFolder(folder, status)) + status.intervalMs
      isOpen = true
      if (clock.wall() < dueAt) {
        nextAt = dueAt
        return
      }
    }
    await deletePartial(folder)
    const startedAt = clock.wall()
    const file = join(folder, nameAt(startedAt))
    const { bytes, checksum, revision } = await onThread(
      { file, storage: config.storage, without, recipient },
      closing.signal,
    )
    status.succeeded(startedAt)
    nextAt = startedAt + status.intervalMs
    log.info({ file, bytes, checksum, revision, took_ms: clock.wall() - startedAt }, 'backup made')
    await deleteOldest(folder, keep)
  }
  const onError = (error: unknown) => {
    if (closing.signal.aborted) return
    status.failed()
    log.error({ err: error, folder }, 'the backup failed; it is tried again')
  }
  const job = new PeriodicJob({ everyMs: LOOK_EVERY_MS, run, onError, atOnce: true })
  return {
    async close() {
      closing.abort()
      await job.close()
    },
  }
}

/** Makes the folder, and answers when the newest backup in it was made; 0 = there is none. */
async function openFolder(folder: string, status: BackupStatus): Promise<number> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const newest = (await backupsIn(folder)).at(-1)
  if (newest === undefined) return 0
  const at = (await stat(join(folder, newest))).mtimeMs
  status.succeeded(at)
  return at
}

/** The oldest first. */
async function backupsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder)
  return names.filter((name) => NAME.test(name) && !name.endsWith('.partial')).sort()
}

async function deletePartial(folder: string): Promise<void> {
  const names = await readdir(folder)
  for (const name of names) if (NAME.exec(name)?.groups?.partial) await rm(join(folder, name), { force: true })
}

async function deleteOldest(folder: string, keep: number): Promise<void> {
  const names = await backupsIn(folder)
  for (const name of names.slice(0, Math.max(0, names.length - keep))) await rm(join(folder, name), { force: true })
}

function nameAt(at: number): string {
  const stamp = new Date(at).toISOString().replace(/[-:]|\.\d+/g, '')
  return `gatehouse-${stamp}-${randomBytes(2).toString('hex')}.backup`
}

function onThread(seed: BackupThreadData, stop: AbortSignal): Promise<Extract<BackupMessage, { news: 'made' }>> {
  const worker = new Worker(new URL('./backup-thread.ts', import.meta.url), {
    workerData: seed,
    name: 'backup',
    resourceLimits: { maxOldGenerationSizeMb: OLD_SPACE_MB },
  })
  const onStop = () => worker.postMessage('stop')
  stop.addEventListener('abort', onStop, { once: true })
  return new Promise<Extract<BackupMessage, { news: 'made' }>>((resolve, reject) => {
    worker.on('message', (news: BackupMessage) => {
      if (news.news === 'made') resolve(news)
      else reject(new Error(`${news.message} (${news.code})`))
    })
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the backup thread has ended')))
  }).finally(() => stop.removeEventListener('abort', onStop))
}
