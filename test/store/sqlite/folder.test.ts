import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { startChild } from '../../worlds/store/child.ts'

test('a folder that cannot be written is refused by path, user and setting', async (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'file'), '')
  const path = join(folder, 'file', 'data')
  await assert.rejects(openStore({ path }), (error: Error & { code: string }) => {
    assert.equal(error.code, 'data_folder_unwritable')
    for (const part of [path, 'user ', 'ENOTDIR', 'storage.path', 'SVC_STORAGE_PATH'])
      assert.ok(error.message.includes(part), part)
    return true
  })
})

test('a user without rights is refused, in a folder without and over a database of somebody else', async (t) => {
  // Modes mean nothing to root: then another user tries.
  const root = process.getuid?.() === 0
  const closed = temporaryFolder(t)
  chmodSync(closed, 0o555)
  const open = temporaryFolder(t)
  chmodSync(open, 0o777)
  await (await openStore({ path: open })).close()
  if (!root) chmodSync(join(open, 'gatehouse.db'), 0o400)
  for (const path of [closed, open]) {
    const child = startChild('open-once.ts', [path], root ? { uid: 65_534 } : {})
    const line = await child.line('refused')
    await child.ended
    assert.match(line, /^refused data_folder_unwritable user \S+ .*SVC_STORAGE_PATH/)
    assert.ok(line.includes(path))
  }
})

test('a new data folder belongs to its user alone, and so does every file', async (t) => {
  const path = join(temporaryFolder(t), 'a', 'data')
  const store = await openStore({ path })
  t.after(() => store.close())
  await store.documents.commit([{ op: 'put', kind: 'api', id: newDocumentId(), body: {} }], undefined)
  assert.equal(statSync(path).mode & 0o777, 0o700)
  const files = readdirSync(path)
  assert.ok(files.length >= 5, files.join())
  for (const file of files) assert.equal(statSync(join(path, file)).mode & 0o777, 0o600, file)
})

test('a second process is refused and told who has the folder', async (t) => {
  const path = temporaryFolder(t)
  const child = startChild('crash-writer.ts', [path])
  const pid = (await child.line('ready')).split(' ')[1]
  const refused = { code: 'data_folder_locked', message: new RegExp(`${path}.* process ${pid} `) }
  await assert.rejects(openStore({ path }), refused)
  await assert.rejects(openStore({ path }), refused)
  child.process.kill('SIGKILL')
  await child.ended
  assert.match(readFileSync(join(path, 'pid'), 'utf8'), new RegExp(`^${pid} `))
  const store = await openStore({ path })
  assert.match(readFileSync(join(path, 'pid'), 'utf8'), new RegExp(`^${process.pid} `))
  await assert.rejects(openStore({ path }), {
    code: 'data_folder_locked',
    message: new RegExp(`process ${process.pid} `),
  })
  const other = startChild('open-once.ts', [path])
  assert.match(await other.line('refused'), new RegExp(`^refused data_folder_locked .*process ${process.pid} `))
  await other.ended
  await store.close()
  assert.ok(!readdirSync(path).includes('pid'))
})

test('of two processes that open a folder at once, one has it', async (t) => {
  const path = temporaryFolder(t)
  const children = Array.from({ length: 3 }, () => startChild('open-once.ts', [path, 'hold']))
  const answers = await Promise.all(children.map((child) => Promise.any([child.line('opened'), child.line('refused')])))
  for (const child of children) child.process.kill('SIGKILL')
  await Promise.all(children.map(({ ended }) => ended))
  assert.equal(answers.filter((line) => line.startsWith('opened')).length, 1)
  assert.equal(answers.filter((line) => line.startsWith('refused data_folder_locked')).length, 2)
})

test('an open that fails lets the folder go', async (t) => {
  const path = temporaryFolder(t)
  mkdirSync(join(path, 'gatehouse.db'))
  for (let i = 0; i < 2; i++) await assert.rejects(openStore({ path }), { code: 'data_folder_unwritable' })
})
