// Threads that pack without a pause, each ended at a random moment by who took the turn first: `uncut-kills.ts KILLS`.

import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { zstdCompressSync } from 'node:zlib'
import { ThreadEndGuard } from '../../../src/store/sqlite/hits/thread-end-guard.ts'

const MOST_WAIT_MS = 3

if (isMainThread) await kill(Number(process.argv[2]))
else pack(new ThreadEndGuard(workerData as Int32Array))

async function kill(times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const uncut = new ThreadEndGuard()
    const worker = new Worker(new URL(import.meta.url), { workerData: uncut.cell, execArgv: [] })
    await once(worker, 'message')
    await wait(Math.random() * MOST_WAIT_MS)
    uncut.take()
    await worker.terminate()
  }
}

function pack(uncut: ThreadEndGuard): void {
  const bytes = Buffer.alloc(600, 'abc')
  parentPort!.postMessage('ready')
  for (;;) uncut.do(() => zstdCompressSync(bytes))
}
