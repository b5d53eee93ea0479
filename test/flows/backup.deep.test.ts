import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newDocumentId } from '../../src/model/documents/ids.ts'
import { hashKey } from '../../src/model/secrets/secret.ts'
import { checkArchive } from '../../src/store/archive/read.ts'
import { openStore } from '../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../contract/adapters.ts'
import { defined, rights } from '../worlds/base/definitions.ts'
import { startCluster } from '../worlds/cluster/nodes.ts'
import { ROOT } from '../worlds/docs/printed.ts'
import { startOrigin } from '../worlds/servers/origin.ts'
import { runSql } from '../worlds/servers/postgres.ts'

const KILLS = 12
const DOCUMENTS = 60
/** A command starts and ends within that on an idle machine: half of the kills come before its work, half within it. */
const MOST_MS = 1500

interface Ended {
  readonly code: number | null
  readonly text: string
}

/** Runs a command line; `killAfterMs`: SIGKILL. `limit`: the largest file, in units of the shell. */
async function gatehouse(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  { killAfterMs, limit }: { killAfterMs?: number; limit?: number } = {},
): Promise<Ended> {
  const command = [process.execPath, join(ROOT, 'src/main.ts'), ...words]
  const limited =
    limit === undefined ? command : ['sh', '-c', `trap '' XFSZ; ulimit -f ${limit}; exec "$@"`, 'sh', ...command]
  const child = spawn(limited[0]!, limited.slice(1), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => printed.push(chunk))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  if (killAfterMs !== undefined) {
    await Promise.race([wait(killAfterMs), ended])
    child.kill('SIGKILL')
  }
  return { code: await ended, text: Buffer.concat(printed).toString() }
}

/** A data folder with some megabytes that do not compress. */
async function filled(t: TestContext): Promise<string> {
  const path = temporaryFolder(t)
  const store = await openStore({ path })
  for (let n = 0; n < DOCUMENTS; n++) {
    const body = { text: randomBytes(100_000).toString('base64') }
    const row = { body: { n }, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
    await store.documents.commit(
      [
        { op: 'put', kind: 'order', id: newDocumentId(), body },
        { op: 'putSession', hash: hashKey(`key ${n}`), row },
      ],
      undefined,
    )
  }
  await store.close()
  return path
}

async function check(path: string): Promise<void> {
  const store = await openStore({ path })
  assert.equal((await store.documents.list('order', { limit: 1 })).total, DOCUMENTS)
  assert.equal(await store.tokens.countSessions({}), DOCUMENTS)
  for (let n = 0; n < DOCUMENTS; n++) assert.ok(await store.tokens.getSession(hashKey(`key ${n}`)))
  await store.close()
}

test('a backup or a restore that is killed leaves nothing half, and can be repeated', async (t) => {
  const path = await filled(t)
  const folder = temporaryFolder(t)
  for (let n = 0; n < KILLS; n++) {
    const file = join(folder, `${n}`)
    const { code } = await gatehouse(
      ['backup', file],
      { SVC_STORAGE_PATH: path },
      { killAfterMs: (MOST_MS * n) / KILLS },
    )
    if (code === 0 || existsSync(file)) await checkArchive(file)
  }
  const file = join(folder, 'whole')
  const made = await gatehouse(['backup', file], { SVC_STORAGE_PATH: path })
  assert.equal(made.code, 0, made.text)
  const target = temporaryFolder(t)
  for (let n = 0; n < KILLS; n++) {
    const own = n % 2 === 0 ? target : temporaryFolder(t)
    if (existsSync(join(own, 'gatehouse.db'))) break
    const ended = await gatehouse(['restore', file], { SVC_STORAGE_PATH: own }, { killAfterMs: (MOST_MS * n) / KILLS })
    if (ended.code === 0 || existsSync(join(own, 'gatehouse.db'))) await check(own)
  }
  if (!existsSync(join(target, 'gatehouse.db'))) {
    const restored = await gatehouse(['restore', file], { SVC_STORAGE_PATH: target })
    assert.equal(restored.code, 0, restored.text)
  }
  await check(target)
})

test('a full disk fails a backup and a restore with its reason, and leaves nothing', async (t) => {
  const path = await filled(t)
  const folder = temporaryFolder(t)
  const small = join(folder, 'small')
  mkdirSync(small)
  // Where root may not mount, a limit of file sizes acts as the disk.
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', small]).status === 0
  const limit = isMounted ? {} : { limit: 2048 }
  try {
    const made = await gatehouse(['backup', join(small, 'b')], { SVC_STORAGE_PATH: path }, limit)
    assert.equal(made.code, 1, made.text)
    assert.match(made.text, /cannot be written \((?:ENOSPC|EFBIG)\)/)
    assert.deepEqual(readdirSync(small), [])
    const file = join(folder, 'whole')
    assert.equal((await gatehouse(['backup', file], { SVC_STORAGE_PATH: path })).code, 0)
    const target = join(small, 'target')
    const restored = await gatehouse(['restore', file], { SVC_STORAGE_PATH: target }, limit)
    assert.equal(restored.code, 1, restored.text)
    assert.match(restored.text, /full|disk|space/i)
    assert.deepEqual(
      readdirSync(target).filter((name) => name.startsWith('gatehouse.db')),
      [],
    )
  } finally {
    if (isMounted) spawnSync('umount', [small])
  }
})

test('a cluster that serves is backed up, and restored into a database and into a data folder', async (t) => {
  const cluster = await startCluster(t)
  const origin = await startOrigin()
  t.after(() => origin.close())
  const node = await cluster.start('all')
  const definition = defined({ id: 'a', url: origin.url, keyIn: 'Authorization' })
  assert.equal((await node.svc('POST', '/svc/apis/oas', definition)).status, 200)
  const made = await node.svc('POST', '/svc/keys/create', {
    ...{ quota_max: 10, quota_renewal_rate: 3600 },
    access_rights: rights('a'),
  })
  const headers = { authorization: (made.json as { key: string }).key }
  for (let n = 0; n < 2; n++) assert.equal((await node.call('/a/x', headers)).status, 200)
  const settings = {
    SVC_STORAGE_POSTGRESURL: cluster.postgres.url(),
    SVC_STORAGE_REDISURL: cluster.redis.url,
    SVC_STORAGE_SEALKEY: cluster.sealKey,
    SVC_STORAGE_PATH: temporaryFolder(t),
  }
  const file = join(temporaryFolder(t), 'b')
  // Permits that a node holds ahead are given back when it stops; of a quota this small it holds none.
  const keys = temporaryFolder(t)
  const [secret, open] = [join(keys, 'private.pem'), join(keys, 'public.pem')]
  const pair = generateKeyPairSync('x25519')
  writeFileSync(secret, pair.privateKey.export({ format: 'pem', type: 'pkcs8' }))
  writeFileSync(open, pair.publicKey.export({ format: 'pem', type: 'spki' }))
  const onNode = { ...settings, SVC_STORAGE_PATH: node.folder }
  const saved = await gatehouse(['backup', file, '--recipient', open], onNode)
  assert.equal(saved.code, 0, saved.text)
  const same = await gatehouse(['restore', file], settings)
  assert.match(same.text, /store_not_empty|holds data|is running on this database/)
  await runSql(cluster.postgres.url(), 'CREATE DATABASE restored')
  const places = [
    { SVC_STORAGE_POSTGRESURL: cluster.postgres.url('restored'), SVC_STORAGE_REDISURL: `${cluster.redis.url}/1` },
    { SVC_STORAGE_POSTGRESURL: '', SVC_STORAGE_REDISURL: '' },
  ]
  for (const place of places) {
    const folder = join(temporaryFolder(t), 'new')
    const restored = await gatehouse(['restore', file, '--identity', secret], {
      ...settings,
      ...place,
      SVC_STORAGE_PATH: folder,
    })
    assert.equal(restored.code, 0, restored.text)
    const other = await cluster.start('all', { ...place, SVC_STORAGE_PATH: folder })
    const answer = await other.call('/a/x', headers)
    assert.deepEqual([answer.status, answer.headers['x-ratelimit-remaining']], [200, '7'])
    await other.stop()
  }
})
