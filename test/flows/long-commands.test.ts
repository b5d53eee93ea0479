import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { openProgress } from '../../src/cli/commands/progress.ts'
import { newDocumentId } from '../../src/model/documents/ids.ts'
import { openStore } from '../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../contract/adapters.ts'
import { ROOT } from '../worlds/docs/printed.ts'

/** Shows 1,000 things of which 100 are done each second, and what that writes. */
function shown(options: { json: boolean; isTTY: boolean; seconds: number; total?: number }): string {
  const written: string[] = []
  let at = 0
  const stream = { isTTY: options.isTTY, write: (more: string) => written.push(more) }
  const progress = openProgress({ unit: 'rows', json: options.json, stream, now: () => at })
  progress.begin('backup', options.total ?? 1000)
  for (let n = 0; n < options.seconds * 10; n++) {
    at += 100
    progress.advance(10)
  }
  progress.end()
  return written.join('')
}

test('progress is a bar on a terminal, a line every 10 s elsewhere, and JSON for programs', () => {
  const bar = shown({ json: false, isTTY: true, seconds: 5 })
  assert.match(bar, /\r\[#{12} {12}\] backup: 500 of 1,000 rows, 50 %, 100\/s, 0:05 left\u001b\[K\n$/)
  assert.equal(bar.match(/\n/g)!.length, 1, 'one line')
  assert.equal(shown({ json: false, isTTY: false, seconds: 9 }), '')
  const lines = shown({ json: false, isTTY: false, seconds: 20, total: 100_000 })
  assert.equal(
    lines,
    'backup: 1,000 of 100,000 rows, 1 %, 100/s, 16:30 left\nbackup: 2,000 of 100,000 rows, 2 %, 100/s, 16:20 left\n',
  )
  assert.equal(shown({ json: false, isTTY: false, seconds: 10, total: 0 }), 'backup: 1,000 rows, 100/s\n')
  assert.deepEqual(JSON.parse(shown({ json: true, isTTY: true, seconds: 10, total: 720_000 })), {
    ...{ step: 'backup', done: 1000, total: 720_000, rate: 100, left_s: 7190 },
  })
})

test('a signal ends a backup cleanly, also one whose reader reads nothing', async (t) => {
  const path = temporaryFolder(t)
  const store = await openStore({ path })
  for (let n = 0; n < 40; n++) {
    const body = { text: randomBytes(100_000).toString('base64') }
    await store.documents.commit([{ op: 'put', kind: 'order', id: newDocumentId(), body }], undefined)
  }
  await store.close()
  for (const [signal, options] of [
    ['SIGINT', []],
    ['SIGTERM', ['--json']],
  ] as const) {
    const child = spawn(process.execPath, [join(ROOT, 'src/main.ts'), 'backup', '-', ...options], {
      env: { ...process.env, SVC_STORAGE_PATH: path },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.after(() => child.kill('SIGKILL'))
    const errors: Buffer[] = []
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
    // The first bytes are there; no more are read.
    await new Promise((resolve) => child.stdout.once('readable', resolve))
    child.kill(signal)
    assert.equal(await ended, 1)
    assert.match(Buffer.concat(errors).toString(), /gatehouse: the backup was stopped; nothing was written\n$/)
  }
})
