import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSealed, readIdentity } from '../../src/model/secrets/recipient-seal.ts'
import { SECRETS_PLACE } from '../../src/process/backup.ts'
import { checkArchive } from '../../src/store/archive/read.ts'
import { temporaryFolder } from '../contract/adapters.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { type Product, startProduct } from '../worlds/flows/product.ts'

const OLD = ['gatehouse-20200101T000000Z-0000.backup', 'gatehouse-20200102T000000Z-0000.backup']
const PARTIAL = 'gatehouse-20200103T000000Z-0000.backup.0a0b0c0d.partial'

interface Hello {
  readonly status: string
  readonly details: Readonly<Record<string, { readonly status: string; readonly observedValue: number } | undefined>>
}
const helloOf = async (product: Product) => (await product.svc('GET', '/hello')).json as Hello

async function metricsOf(product: Product): Promise<Map<string, number>> {
  const { text } = await product.svc('GET', '/metrics')
  return new Map([...text.matchAll(/^(svc_backup_\S+) (\S+)$/gm)].map(([, name, value]) => [name!, Number(value)]))
}

test('a server makes backups by itself, keeps the newest, and reports them in /hello and metrics', async (t) => {
  const cwd = temporaryFolder(t)
  const folder = join(cwd, 'backups')
  mkdirSync(folder)
  for (const name of [...OLD, PARTIAL, 'notes.txt']) {
    writeFileSync(join(folder, name), 'old')
    utimesSync(join(folder, name), 1_577_836_800, 1_577_836_800)
  }
  const settings = { SVC_BACKUP_FOLDER: folder, SVC_BACKUP_KEEP: '2' }
  const product = await startProduct(t, cwd, settings)
  // The newest that is there is older than a day.
  await eventually('a backup', async () => readdirSync(folder).length === 3 && !readdirSync(folder).includes(PARTIAL))
  const names = readdirSync(folder).sort()
  assert.deepEqual([names[0], names[2]], [OLD[1], 'notes.txt'], 'the newest two stay, and what is no backup')
  const { end } = await checkArchive(join(folder, names[1]!))
  assert.ok(end.counts.document! > 0)
  await eventually('/hello', async () => (await helloOf(product)).details.backup?.status === 'pass')
  const { details } = await helloOf(product)
  assert.ok(details.backup!.observedValue < 86_400, 'its age in seconds')
  const metrics = await metricsOf(product)
  assert.ok(metrics.get('svc_backup_last_success_timestamp_seconds')! > 1_577_836_800)
  assert.equal(metrics.get('svc_backup_failures_total'), 0)
  await product.stop()

  // A second start finds the newest, and makes none before it is due.
  const again = await startProduct(t, cwd, settings)
  await eventually('/hello', async () => (await helloOf(again)).details.backup?.status === 'pass')
  assert.deepEqual(readdirSync(folder).sort(), names)
  await again.stop()
})

test('a backup that fails is reported at error level, in /hello and in metrics', async (t) => {
  const cwd = temporaryFolder(t)
  // A file where the folder should be.
  writeFileSync(join(cwd, 'backups'), '')
  const product = await startProduct(t, cwd, { SVC_BACKUP_FOLDER: join(cwd, 'backups') })
  await eventually('the failure', async () => (await metricsOf(product)).get('svc_backup_failures_total')! > 0)
  const { status, details } = await helloOf(product)
  assert.deepEqual([status, details.backup?.status], ['warn', 'fail'])
  assert.match(product.output(), /"level":"?(?:50|error)"?.*the backup failed/)
  await product.stop()
})

test('with backup.recipient a backup carries the secrets, and only its private key opens them', async (t) => {
  const cwd = temporaryFolder(t)
  const [folder, file] = [join(cwd, 'backups'), join(cwd, 'public.pem')]
  const { publicKey, privateKey } = generateKeyPairSync('x25519')
  const settings = { SVC_BACKUP_FOLDER: folder, SVC_BACKUP_RECIPIENT: file }
  const failing = await startProduct(t, cwd, settings)
  await eventually('the failure', async () => (await helloOf(failing)).details.backup?.status === 'fail')
  assert.match(failing.output(), /backup\.recipient: .*public\.pem cannot be read/)
  assert.deepEqual(readdirSync(folder), [], 'no backup without the secrets that it should carry')
  await failing.stop()

  writeFileSync(file, publicKey.export({ type: 'spki', format: 'pem' }))
  const product = await startProduct(t, cwd, settings)
  await eventually('a backup', async () => (await helloOf(product)).details.backup?.status === 'pass')
  const [name = ''] = readdirSync(folder)
  const { header } = await checkArchive(join(folder, name))
  const identity = readIdentity(privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, 'private.pem')
  const opened = openSealed(identity, SECRETS_PLACE, header.secrets ?? '')
  const stored = JSON.parse(readFileSync(join(cwd, 'data/secrets.json'), 'utf8')) as Record<string, string>
  assert.partialDeepStrictEqual(JSON.parse(opened), stored)
  await product.stop()
})
