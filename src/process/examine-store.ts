import { statfsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { REMEDIES } from '../errors/catalog.ts'
import { fault, toFault } from '../errors/fault.ts'
import { DOCUMENT_KINDS } from '../model/documents/kinds.ts'
import { silentLog } from '../model/logs/log.ts'
import type { Finding } from '../model/nodes/health.ts'
import { isEmbedded } from '../model/nodes/node.ts'
import { readSealKeys } from '../publish/organisations/installation.ts'
import type { Documents, Store } from '../store/ports/ports.ts'
import { sealedStore } from '../store/sealed/sealed-store.ts'
import { existingSecrets, SECRETS_FILE } from '../store/secrets/secret-file.ts'
import { fileExists } from '../store/sqlite/connection/folder.ts'
import { inspectFile, openReader } from '../store/sqlite/connection/inspect.ts'
import { openStoreOf } from './open-store.ts'
import { sealKeysOf } from './seal-keys.ts'

const LEAST_FREE_BYTES = 1024 * 1024 * 1024
const TOLERATED_MS = 2_000
const MOST_AHEAD_MS = 30_000
const PAGE = 1_000

type Readable = Pick<Store, 'documents' | 'audit' | 'tokens' | 'outbox' | 'hits' | 'records'>

/** A store that was looked at: findings, whether a server runs on it, and, where it can be read, its ports. */
export interface StoreExamined {
  readonly findings: readonly Finding[]
  readonly running: boolean
  readonly documents: Documents | undefined
  close(): Promise<void>
}

/**
 * Looks at the store of an installation; `full` reads every row and tells `onRows` how many. Nothing is brought up to date. Never
 * rejects.
 */
export async function examineStore(
  config: Config,
  full: boolean,
  onRows: (rows: number) => void = () => {},
): Promise<StoreExamined> {
  const clustered = !isEmbedded(config.storage)
  const findings: Finding[] = []
  let opened = NOT_OPENED
  const examined = (documents?: Documents) => ({ findings, running: opened.running, documents, close: opened.close })
  try {
    opened = clustered ? await openCluster(config, findings) : openEmbedded(config, full, findings)
    if (opened.store === undefined) return examined()
    const store = await unsealed(opened.store, config)
    findings.push(...(await examineClock(store)))
    if (full) findings.push(...(await readAll(store, onRows)))
    return examined(store.documents)
  } catch (error) {
    const { code, message } = toFault(error)
    const where = clustered ? 'storage.postgres_url' : resolve(config.storage.path)
    const check = code === 'store_newer' ? 'migrations' : 'store'
    findings.push({ severity: 'error', check, where, what: message, action: REMEDIES[code] ?? 'see the error above' })
    return examined()
  }
}

interface Opened {
  readonly store: Readable | undefined
  readonly running: boolean
  close(): Promise<void>
}

const NOT_OPENED: Opened = { store: undefined, running: false, close: async () => {} }

function openEmbedded(config: Config, full: boolean, findings: Finding[]): Opened {
  const folder = resolve(config.storage.path)
  const state = inspectFile(folder, full)
  if (state === undefined) {
    findings.push({
      ...{ severity: 'info', check: 'store', where: folder, what: 'there is no store yet' },
      action: 'the first start makes it',
    })
    return NOT_OPENED
  }
  const { file, bytes, holder, version, known, frozen, damage, checked } = state
  const where = file
  const running = holder !== undefined
  if (frozen)
    findings.push({
      ...{ severity: 'error', check: 'store', where, what: 'it was moved to another store, and takes no writes' },
      action: REMEDIES.store_frozen!,
    })
  if (damage !== undefined)
    findings.push({ severity: 'error', check: 'store', where, what: damage, action: REMEDIES.store_damaged! })
  if (!checked)
    findings.push({
      ...{ severity: 'info', check: 'store', where, what: `${bytes} bytes were not looked through` },
      action: 'run bin/gatehouse doctor --full, which takes about 20 s a gigabyte',
    })
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize < Math.max(LEAST_FREE_BYTES, bytes / 4))
    findings.push({
      ...{
        severity: 'warning',
        check: 'store',
        where: folder,
        what: `only ${Math.round((bavail * bsize) / 1e6)} MB are free`,
      },
      action: 'make room, or move the data folder: a full disk stops all writes',
    })
  if (version < known) {
    findings.push(pending(where, version, known))
    return { ...NOT_OPENED, running }
  }
  const store = openReader(folder)
  return { store, running, close: () => store.close() }
}

async function openCluster(config: Config, findings: Finding[]): Promise<Opened> {
  const { inspectDatabase } = await import('../store/postgres/connection/inspect.ts')
  const { evictionPolicy } = await import('../store/redis/connection.ts')
  const { postgres_url: url, redis_url: redis } = config.storage
  const eviction = await evictionPolicy(redis)
  if (eviction !== '' && eviction !== 'noeviction')
    findings.push({
      ...{ severity: 'error', check: 'store', where: 'storage.redis_url' },
      what: `Redis forgets counts when it is full (maxmemory-policy ${eviction}): quotas would be exceeded`,
      action: 'set maxmemory-policy to noeviction',
    })
  const state = await inspectDatabase(url)
  const where = state.address
  if (state.readOnly)
    findings.push({
      ...{ severity: 'error', check: 'store', where, what: 'it takes no writes' },
      action: 'give the address of the primary, or name all hosts in it',
    })
  if (!state.encrypted && !state.local)
    findings.push({
      ...{
        severity: 'warning',
        check: 'settings',
        where: 'storage.postgres_url',
        what: 'the connection to PostgreSQL is in clear',
      },
      action: 'add sslmode=verify-full to the address',
    })
  const off = Math.abs(state.aheadMs)
  if (off > TOLERATED_MS)
    findings.push({
      ...{ severity: off > MOST_AHEAD_MS ? 'error' : 'warning', check: 'clock', where: 'this machine' },
      what: `its clock is ${Math.round(off / 1000)} s ${state.aheadMs > 0 ? 'ahead of' : 'behind'} that of PostgreSQL`,
      action: 'have NTP set both clocks: above 30 s a node takes itself out of service',
    })
  if (state.version === 0) {
    findings.push({
      ...{ severity: 'info', check: 'store', where, what: 'the database is empty' },
      action: 'the first start makes its tables',
    })
    return NOT_OPENED
  }
  if (state.version < state.known) {
    findings.push(pending(where, state.version, state.known))
    return NOT_OPENED
  }
  const { store } = await openStoreOf({
    config,
    path: resolve(config.storage.path),
    log: silentLog,
    copyName: undefined,
  })
  return { store, running: false, close: () => store.close() }
}

function pending(where: string, version: number, known: number): Finding {
  return {
    ...{ severity: 'warning', check: 'migrations', where },
    what: `the data is of version ${version}; the next start brings it to ${known}, for good`,
    action: 'back the store up before you start this program',
  }
}

/** The store as the server reads it: what does not open under the key of the installation is found. */
async function unsealed(store: Readable, config: Config): Promise<Readable> {
  const folder = resolve(config.storage.path)
  const file = join(folder, SECRETS_FILE)
  if (config.storage.seal_key === '' && !fileExists(file)) throw fault('seal_broken', `${file} is missing`)
  // The file is not made where it is not needed.
  const { seal_key: given, seal_key_previous: givenPrevious } = config.storage
  const secrets = given === '' ? existingSecrets(folder) : { seal_key: given, seal_key_previous: givenPrevious }
  return sealedStore(store as Store, await sealKeysOf(store as Store, secrets, readSealKeys))
}

/** A clock that was set back leaves entries of the audit log in the future. */
async function examineClock({ audit }: Readable): Promise<Finding[]> {
  const [newest] = (await audit.list({ limit: 1 })).rows
  const aheadMs = (newest?.at ?? 0) - Date.now()
  if (aheadMs < TOLERATED_MS) return []
  return [
    {
      ...{ severity: 'warning', check: 'clock', where: 'this machine' },
      what: `the last change of the store is ${Math.round(aheadMs / 1000)} s in the future: the clock is behind, or was ahead`,
      action: 'have NTP set the clock',
    },
  ]
}

/** Reads every row by its codec. */
async function readAll(
  { documents, tokens, audit, records, hits }: Readable,
  onRows: (rows: number) => void,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const all = async (where: string, read: () => Promise<unknown>) => {
    try {
      await read()
    } catch (error) {
      const { code, message } = toFault(error)
      const action = REMEDIES[code] ?? REMEDIES.store_damaged!
      findings.push({ severity: 'error', check: 'store', where, what: `cannot be read: ${message}`, action })
    }
  }
  const each = async (batches: AsyncIterable<readonly unknown[]>) => {
    for await (const batch of batches) onRows(batch.length)
  }
  for (const kind of Object.keys(DOCUMENT_KINDS))
    await all(`documents of kind ${kind}`, () => each(documents.scan(kind)))
  await all('keys and tokens', async () => {
    let after: string | undefined
    do {
      const page = await tokens.listSessions({ limit: PAGE, ...(after !== undefined && { after }) })
      onRows(page.rows.length)
      after = page.next
    } while (after !== undefined)
  })
  await all('the audit log', () => each(audit.scan({})))
  await all('request records', () => each(records.scan({})))
  await all('hits', async () => hits.sum({ fromHour: 0, toHour: Number.MAX_SAFE_INTEGER, limit: 1 }))
  return findings
}
