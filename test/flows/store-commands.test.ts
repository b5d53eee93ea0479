import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  cpSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { temporaryFolder } from '../contract/adapters.ts'
import { ROOT } from '../worlds/docs/printed.ts'
import { startProduct } from '../worlds/flows/product.ts'

const NOBODY = 65_534
const PAGE_BYTES = 4096

test('commands on a store refuse what they cannot do, say what to do, and leave nothing behind', async (t) => {
  const cwd = temporaryFolder(t)
  await (await startProduct(t, cwd)).stop()
  const data = join(cwd, 'data')
  const run = (words: readonly string[], env: Record<string, string> = {}, user?: number) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'src/main.ts'), ...words], {
      ...{ cwd, env: { ...process.env, SVC_STORAGE_PATH: data, ...env }, encoding: 'utf8' },
      ...(user !== undefined && { uid: user, gid: user }),
    })
    return { status, text: stdout + stderr }
  }
  const refused = (expected: RegExp, ...given: Parameters<typeof run>) => {
    const before = readdirSync(cwd, { recursive: true }).sort()
    const { status, text } = run(...given)
    assert.equal(status, 1, text)
    assert.match(text, expected)
    assert.doesNotMatch(text, /^\s+at /m, 'no stack trace')
    assert.deepEqual(readdirSync(cwd, { recursive: true }).sort(), before, given[0].join(' '))
  }

  await t.test('an address is no folder', () => {
    for (const to of ['mysql://u:p@h/d', 'POSTGRES://h/d'])
      refused(/--to: name a postgres:/, ['migrate-store', '--to', to])
    refused(/storage\.path/, ['restore', 'x.backup'], { SVC_STORAGE_PATH: 'mysql://h/d' })
  })

  await t.test('a folder without a store is not made', () => {
    for (const words of [
      ['migrate-store', '--to', 'new'],
      ['migrate-store', '--give-up'],
    ])
      refused(/holds no store/, words, { SVC_STORAGE_PATH: join(cwd, 'missing') })
  })

  await t.test('a move is given up where there is one', () => {
    const giveUp = () => run(['migrate-store', '--give-up'])
    assert.match(giveUp().text, /no move to give up/)
    const db = new DatabaseSync(join(data, 'gatehouse.db'))
    db.exec('PRAGMA user_version = 2')
    db.close()
    assert.match(giveUp().text, /takes writes again/)
  })

  await t.test('secrets are sealed for a public key', () => {
    const { privateKey, publicKey } = generateKeyPairSync('x25519')
    writeFileSync(join(cwd, 'private.pem'), privateKey.export({ format: 'pem', type: 'pkcs8' }))
    writeFileSync(join(cwd, 'public.pem'), publicKey.export({ format: 'pem', type: 'spki' }))
    refused(/--recipient: this is a private key.*-pubout/, ['backup', 'x.backup', '--recipient', 'private.pem'])
    const { status, text } = run(['backup', 'good.backup', '--recipient', 'public.pem'])
    assert.equal(status, 0, text)
  })

  await t.test('wherever a file is damaged, a backup says what to do', () => {
    const damaged = join(cwd, 'damaged')
    const file = join(damaged, 'gatehouse.db')
    let refusals = 0
    // Each in the tree of another table.
    for (const page of [2, 8]) {
      cpSync(data, damaged, { recursive: true })
      const handle = openSync(file, 'r+')
      writeSync(handle, Buffer.alloc(2 * PAGE_BYTES), 0, undefined, page * PAGE_BYTES)
      closeSync(handle)
      const { status, text } = run(['backup', `page-${page}.backup`], { SVC_STORAGE_PATH: damaged })
      assert.doesNotMatch(text, /^\s+at /m)
      if (status !== 0) {
        assert.match(text, /restore the last backup/)
        refusals++
      }
      rmSync(damaged, { recursive: true })
    }
    assert.ok(refusals > 0)
  })

  await t.test(
    'a user without rights on the data folder is told so',
    { skip: process.getuid?.() === undefined },
    () => {
      const user = process.getuid!() === 0 ? NOBODY : undefined
      const key = generateKeyPairSync('x25519').publicKey.export({ format: 'pem', type: 'spki' })
      writeFileSync(join(cwd, 'readable.pem'), key)
      chmodSync(cwd, 0o755)
      const denied = (path: string, ...commands: string[][]) => {
        const { mode } = statSync(path)
        chmodSync(path, 0)
        for (const words of commands) refused(/cannot read .*as the user of the server/s, words, {}, user)
        chmodSync(path, mode)
      }
      denied(data, ['doctor'], ['backup', '-', '--recipient', 'readable.pem'])
      chmodSync(data, 0o755)
      denied(join(data, 'gatehouse.db'), ['backup', '-'])
    },
  )
})
