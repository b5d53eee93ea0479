import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { hashKey, newSecret, secretBytes } from '../../../src/model/secrets/secret.ts'
import { backupTo, backupToFile } from '../../../src/process/backup.ts'
import { restoreFile } from '../../../src/process/restore.ts'
import { openInstallation } from '../../../src/publish/organisations/installation.ts'
import { encodePart, firstChecksum, MAGIC, type PartType } from '../../../src/store/archive/format.ts'
import { checkArchive } from '../../../src/store/archive/read.ts'
import { openSecrets } from '../../../src/store/secrets/secret-file.ts'
import { openStore, type SqliteStore } from '../../../src/store/sqlite/connection/open.ts'
import { openSqliteSource } from '../../../src/store/sqlite/transfer/snapshot.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startChild } from '../../worlds/store/child.ts'

const storageOf = (path: string, seal_key = '') => ({
  ...{ path, seal_key, seal_key_previous: '', postgres_url: '', postgres_listen_url: '', redis_url: '' },
})
type Storage = Parameters<typeof restoreFile>[1]['storage']
const restoreInto = (file: string, path: string, more: { sealKey?: string; dryRun?: boolean } = {}) =>
  restoreFile(file, { storage: storageOf(path, more.sealKey) as Storage, dryRun: more.dryRun === true })
const backupOf = (path: string, file: string) =>
  backupToFile(file, { storage: storageOf(path) as Storage, without: [] })

/** A data folder with an installation and its secrets; `fill` puts more into it. */
async function installation(t: TestContext, fill: (store: SqliteStore) => Promise<unknown> = async () => {}) {
  const path = temporaryFolder(t)
  const sealKey = secretBytes(openSecrets(path).seal_key)
  const store = await openStore({ path })
  await openInstallation({ ...store, sealKey } as unknown as Parameters<typeof openInstallation>[0])
  await fill(store)
  await store.close()
  return path
}

interface Part {
  readonly type: PartType
  readonly content: Buffer
}

/** The parts of an archive, to make another of them. */
function partsOf(bytes: Buffer): Part[] {
  const parts: Part[] = []
  for (let at = MAGIC.length; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at + 1)
    parts.push({
      type: bytes.toString('latin1', at, at + 1) as PartType,
      content: bytes.subarray(at + 5, at + 5 + length),
    })
    at += 5 + length + 32
  }
  return parts
}

function archiveOf(parts: readonly Part[]): Buffer {
  let before: Buffer = firstChecksum()
  const made = parts.map(({ type, content }) => {
    const [part, checksum] = encodePart(type, content, before)
    before = checksum
    return part
  })
  return Buffer.concat([MAGIC, ...made])
}

test('a truncated or altered archive is refused, and an empty store stays empty', async (t) => {
  const path = await installation(t)
  const folder = temporaryFolder(t)
  const file = join(folder, 'whole')
  await backupOf(path, file)
  const whole = readFileSync(file)
  const target = join(folder, 'target')
  const bad = join(folder, 'bad')
  const change = fc.oneof(
    fc.record({ cut: fc.nat(whole.length - 1) }),
    fc.record({ at: fc.nat(whole.length - 1), bit: fc.nat(7) }),
    fc.record({ more: fc.uint8Array({ minLength: 1, maxLength: 40 }) }),
  )
  await fc.assert(
    fc.asyncProperty(change, async (change) => {
      const bytes =
        'cut' in change
          ? whole.subarray(0, change.cut)
          : Buffer.concat([whole, 'more' in change ? change.more : Buffer.alloc(0)])
      if ('at' in change) bytes[change.at]! ^= 1 << change.bit
      writeFileSync(bad, bytes)
      await assert.rejects(restoreInto(bad, target), { code: 'archive_invalid' })
      assert.equal(existsSync(join(target, 'gatehouse.db')), false)
    }),
    { numRuns: 60 },
  )
  assert.equal((await checkArchive(file)).end.counts.document, 1)
})

test('an archive of another program, version or count is refused by its reason', async (t) => {
  const path = await installation(t)
  const folder = temporaryFolder(t)
  const file = join(folder, 'whole')
  await backupOf(path, file)
  const parts = partsOf(readFileSync(file))
  const json = (content: Buffer) => JSON.parse(content.toString())
  const withHeader = (change: (header: Record<string, unknown>) => unknown) =>
    archiveOf([{ type: 'H', content: Buffer.from(JSON.stringify(change(json(parts[0]!.content)))) }, ...parts.slice(1)])
  const end = json(parts.at(-1)!.content)
  const cases: readonly (readonly [string, Buffer, string])[] = [
    ['foreign', Buffer.from('SQLite format 3\0'), 'archive_invalid'],
    ['empty', Buffer.alloc(0), 'archive_invalid'],
    ['newer format', withHeader((header) => ({ ...header, format: 2 })), 'archive_newer'],
    [
      'newer table',
      withHeader((header) => ({ ...header, tables: { ...(header.tables as object), other: ['a'] } })),
      'archive_newer',
    ],
    [
      'newer column',
      withHeader((header) => ({
        ...header,
        tables: { ...(header.tables as object), quota: ['id', 'used', 'ends_at', 'x'] },
      })),
      'archive_newer',
    ],
    [
      'fewer rows',
      archiveOf([
        ...parts.slice(0, -1),
        { type: 'E', content: Buffer.from(JSON.stringify({ ...end, counts: { document: 2 } })) },
      ]),
      'archive_invalid',
    ],
    [
      'a cell of another type',
      archiveOf([parts[0]!, { type: 'D', content: zstdCompressSync('document\n["api","0",7,8]') }, parts.at(-1)!]),
      'archive_invalid',
    ],
  ]
  for (const [name, bytes, code] of cases) {
    writeFileSync(join(folder, name), bytes)
    await assert.rejects(restoreInto(join(folder, name), join(folder, 'target')), { code }, name)
  }
  await assert.rejects(restoreInto(join(folder, 'absent'), join(folder, 'target')), { code: 'files_unreadable' })
})

test('a restore requires the seal key and an empty unused store before it writes', async (t) => {
  const path = await installation(t)
  const folder = temporaryFolder(t)
  const file = join(folder, 'whole')
  await backupOf(path, file)
  const target = join(folder, 'target')
  const key = openSecrets(path).seal_key
  await assert.rejects(restoreInto(file, target), { code: 'seal_key_differs' })
  await assert.rejects(restoreInto(file, target, { sealKey: newSecret() }), { code: 'seal_key_differs' })
  await restoreInto(file, target, { sealKey: key, dryRun: true })
  assert.equal(existsSync(join(target, 'gatehouse.db')), false, 'a dry run writes nothing')
  const other = temporaryFolder(t)
  const running = await openStore({ path: other })
  await assert.rejects(restoreInto(file, other, { sealKey: key }), { code: 'data_folder_locked' })
  await running.documents.commit([{ op: 'put', kind: 'label', id: newDocumentId(), body: {} }], undefined)
  await running.close()
  await assert.rejects(restoreInto(file, other, { sealKey: key }), { code: 'store_not_empty' })
  await assert.rejects(backupOf(path, file), { code: 'files_unwritable' }, 'a backup replaces no file')

  const { revision } = await restoreInto(file, target, { sealKey: key })
  const restored = await openStore({ path: target })
  t.after(() => restored.close())
  assert.equal(restored.documents.revision(), revision)
  const { end } = await checkArchive(file)
  assert.ok(revision > end.head.revision, 'numbers of commits that the restore lost are not given again')
})

test('a backup that cannot be written, or is stopped, leaves nothing', async (t) => {
  const path = await installation(t)
  const folder = temporaryFolder(t)
  const storage = storageOf(path) as Storage
  const full = Object.assign(new Error('full'), { code: 'ENOSPC' })
  await assert.rejects(
    backupTo(() => Promise.reject(full), { storage, without: [] }),
    /full/,
  )
  const stop = AbortSignal.abort(new Error('stopped by a person'))
  await assert.rejects(backupToFile(join(folder, 'b'), { storage, without: [], stop }), /stopped by a person/)
  await assert.rejects(backupToFile(join(folder, 'none', 'b'), { storage, without: [] }), { code: 'files_unwritable' })
  mkdirSync(join(folder, 'sub'))
  assert.deepEqual(readdirSync(folder), ['sub'])
})

test('backup and restore take secrets with the key of the store among them, and no others', async (t) => {
  const path = await installation(t)
  const [folder, target] = [temporaryFolder(t), temporaryFolder(t)]
  const file = join(folder, 'whole')
  await backupOf(path, file)
  const right = openSecrets(path).seal_key
  const others = [newSecret(), newSecret()]
  const storage = storageOf(path) as Storage
  const openSealed = (sealed: string) => sealed
  const outcome = (done: Promise<unknown>) => done.then(() => 'ok').catch((error: { code?: string }) => error.code)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(right, ...others), { minLength: 1, maxLength: 4 }), async (list) => {
      const keys = { seal_key: list[0]!, seal_key_previous: list.slice(1).join(',') }
      const expected = list.includes(right) ? 'ok' : 'seal_key_differs'
      const sealed = JSON.stringify({ ...openSecrets(path), ...keys })
      const given = { storage: { ...storage, ...keys, path: target }, dryRun: true }
      assert.equal(await outcome(restoreFile(file, given)), expected, 'settings')
      const kept = temporaryFolder(t)
      writeFileSync(join(kept, 'secrets.json'), sealed)
      assert.equal(await outcome(restoreInto(file, kept, { dryRun: true })), expected, 'the data folder')
      const made = join(temporaryFolder(t), 'b')
      assert.equal(
        await outcome(backupToFile(made, { storage, without: [], secrets: { sealed, keys, name: '--recipient' } })),
        expected,
      )
      assert.equal(existsSync(made), expected === 'ok')
      if (expected !== 'ok') return
      const identity = { storage: { ...storage, path: target }, dryRun: true, openSealed }
      assert.equal(await outcome(restoreFile(made, identity)), 'ok', '--identity')
    }),
    { numRuns: 15, examples: [[[others[0]!, right]], [[others[0]!, others[1]!, right]], [[others[0]!]]] },
  )
})

test('records of an archive from before the column of request ids are found by theirs', async (t) => {
  const plain = { at: 1_000, orgId: 'o', apiId: 'a', status: 200, method: 'GET', keyHash: '', clientId: '', tags: '' }
  const path = await installation(t, (store) =>
    store.records.append(
      ['old-1', undefined].map((id) => ({
        ...{ ...plain, path: '/x', requestId: '' },
        fields: id === undefined ? {} : { request_id: id },
      })),
    ),
  )
  const folder = temporaryFolder(t)
  const file = join(folder, 'whole')
  await backupOf(path, file)
  const [header, ...parts] = partsOf(readFileSync(file)) as [Part, ...Part[]]
  const head = JSON.parse(header.content.toString())
  const at = (head.tables.record as string[]).indexOf('request_id')
  assert.ok(at > 0)
  const older = parts.map((part): Part => {
    if (part.type !== 'D') return part
    const [table, ...lines] = zstdDecompressSync(part.content).toString().split('\n')
    if (table !== 'record') return part
    const rows = lines.map((line) => JSON.stringify((JSON.parse(line) as unknown[]).toSpliced(at, 1)))
    return { type: 'D', content: zstdCompressSync([table, ...rows].join('\n')) }
  })
  head.tables.record.splice(at, 1)
  writeFileSync(file, archiveOf([{ type: 'H', content: Buffer.from(JSON.stringify(head)) }, ...older]))
  const target = join(folder, 'target')
  await restoreInto(file, target, { sealKey: openSecrets(path).seal_key })
  const restored = await openStore({ path: target })
  t.after(() => restored.close())
  const found = async (query: object) =>
    (await restored.records.list({ ...query, offset: 0, limit: 10 })).rows.map(({ requestId }) => requestId).sort()
  assert.deepEqual(await found({}), ['', 'old-1'])
  assert.deepEqual(await found({ requestId: 'old-1' }), ['old-1'])
})

test('an archive whose parts are in another order is not restored without some of its rows', async (t) => {
  const path = await installation(t)
  const folder = temporaryFolder(t)
  const file = join(folder, 'whole')
  await backupOf(path, file)
  // From when on minutes are counted is a row of every store.
  const [header, document, minutes, end] = partsOf(readFileSync(file)) as [Part, Part, Part, Part]
  const quota = (id: string): Part => ({ type: 'D', content: zstdCompressSync(`quota\n["${id}",5,0]`) })
  const ended = (quota: number): Part => {
    const found = JSON.parse(end.content.toString())
    return { type: 'E', content: Buffer.from(JSON.stringify({ ...found, counts: { ...found.counts, quota } })) }
  }
  const sealKey = openSecrets(path).seal_key
  const orders = [
    [quota('a'), document, minutes, ended(1)],
    [quota('a'), document, quota('b'), minutes, ended(2)],
  ]
  for (const parts of orders) {
    writeFileSync(join(folder, 'other'), archiveOf([header, ...parts]))
    const target = temporaryFolder(t)
    await assert.rejects(restoreInto(join(folder, 'other'), target, { sealKey }), { code: 'archive_invalid' })
    const storage = storageOf(target) as Storage
    await assert.rejects(
      backupTo(async () => {}, { storage, without: [] }),
      { code: 'store_away' },
      'nothing is there',
    )
  }
  writeFileSync(join(folder, 'same'), archiveOf([header, document, quota('a'), quota('b'), minutes, ended(2)]))
  await restoreInto(join(folder, 'same'), temporaryFolder(t), { sealKey })
})

test('a backup replaces nothing that has its name, whether it can be read or not', async (t) => {
  const path = await installation(t)
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'unreadable'), 'kept')
  chmodSync(join(folder, 'unreadable'), 0)
  symlinkSync('loop', join(folder, 'loop'))
  symlinkSync('absent', join(folder, 'dangling'))
  mkdirSync(join(folder, 'folder'))
  for (const name of ['unreadable', 'loop', 'dangling', 'folder', 'unreadable/below'])
    await assert.rejects(backupOf(path, join(folder, name)), { code: 'files_unwritable' }, name)
  assert.deepEqual(readdirSync(folder).sort(), ['dangling', 'folder', 'loop', 'unreadable'])
  chmodSync(join(folder, 'unreadable'), 0o600)
  assert.equal(readFileSync(join(folder, 'unreadable'), 'utf8'), 'kept')
})

test('a snapshot stays as it was at its begin while others write', async (t) => {
  const path = temporaryFolder(t)
  const writer = startChild('crash-writer.ts', [path, '1'])
  t.after(() => writer.process.kill('SIGKILL'))
  await writer.line('pair')
  const source = openSqliteSource(join(path, 'gatehouse.db'))
  t.after(() => source.close())
  await source.snapshot(async (snapshot) => {
    let [policies, sessions] = [0, 0]
    for await (const rows of snapshot.rows('document')) policies += rows.filter(([kind]) => kind === 'policy').length
    const before = writer.lines.length
    await eventually('more writes', () => writer.lines.length > before + 50)
    for await (const rows of snapshot.rows('session')) sessions += rows.length
    assert.equal(sessions, policies)
  })
})

test('a backup under writes holds everything that was acknowledged before it, and nothing half', async (t) => {
  const path = temporaryFolder(t)
  const writer = startChild('crash-writer.ts', [path, '1'])
  t.after(() => writer.process.kill('SIGKILL'))
  await writer.line('pair')
  await writer.line('samples')
  const acknowledged = [...writer.lines]
  const file = join(temporaryFolder(t), 'b')
  await backupOf(path, file)
  writer.process.kill('SIGKILL')
  await writer.ended
  const target = temporaryFolder(t)
  await restoreInto(file, target)
  const store = await openStore({ path: target })
  t.after(() => store.close())
  const words = (name: string) => acknowledged.map((line) => line.split(' ')).filter(([first]) => first === name)
  const policies = new Set<string>()
  for await (const rows of store.documents.scan('policy')) for (const { body } of rows) policies.add(String(body.id))
  for (const [, key = ''] of words('pair')) {
    assert.ok(policies.has(key), `the policy of ${key}`)
    assert.ok(await store.tokens.getSession(hashKey(key)), `the session of ${key}`)
  }
  for (const key of policies) assert.ok(await store.tokens.getSession(hashKey(key)), `${key} is half there`)
  assert.equal(await store.tokens.countSessions({}), policies.size)
  for (const [, name = '', , n] of words('counter')) {
    const found = await store.documents.find('api', 'api_id', name)
    assert.ok(Number((found?.body as { n?: number } | undefined)?.n) >= Number(n))
  }
  const counted = words('samples').reduce((sum, [, n]) => sum + Number(n), 0)
  const [row] = await store.hits.sum({ fromHour: 20, toHour: 20, by: [], limit: 1 })
  assert.ok(row!.count >= counted && row!.count % 50 === 0, `${row!.count} of ${counted}`)
})
