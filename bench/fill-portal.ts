import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { NO_DIMENSIONS } from '../src/model/analytics/dimensions.ts'
import { type Hit, HOUR_MS, LATENCY_BOUNDS_MS } from '../src/model/analytics/hit.ts'
import { toDocumentId } from '../src/model/documents/ids.ts'
import { DEVELOPER_ID } from '../src/model/portal/developers/developer.ts'
import type { Change, Store } from '../src/store/ports/ports.ts'
import { openStore } from '../src/store/sqlite/connection/open.ts'
import { callDesk, callInstallation, type Desk, openDesk } from './desk.ts'
import { commitMany, sessionOf } from './fill-store.ts'
import { Admin, definition, type Product, policy } from './product.ts'
import { progress, show } from './report.ts'

export interface PortalSize {
  readonly apis: number
  readonly policies: number
  readonly developers: number
  /** The first so many developers have MANY_KEYS, the others USUAL_KEYS. */
  readonly heavy: number
  /** Keys that were used in the year before today. */
  readonly usedKeys: number
}

export const MANY_KEYS = 100
export const USUAL_KEYS = 10
/** Days before today with hits, and hours of each day in which a key was used. */
export const DAYS = 364
export const HOURS_A_DAY = 2
const HITS_PER_CALL = 5000

/** The models for everything in the portal: a developer and a key that the product made. */
interface Models {
  readonly desk: Desk
  readonly developerId: string
  readonly key: string
}

/** The rate of filling, per second. */
export interface FillSpeed {
  readonly developers: number
  readonly keys: number
  readonly hits: number
}

export const developerId = (d: number) => toDocumentId(`5f5e1000${d.toString(16).padStart(16, '0')}`)
export const emailOf = (d: number) => `dev-${d}@portal.example`
/** The policy of a developer's key k; each developer begins elsewhere. */
export const policyOf = (d: number, k: number, policies: number) => `policy-${(d * 7 + k) % policies}`
export const keyHashOf = (d: number, k: number) => hashOf(`stored-key-${d}-${k}`).toString('hex')
export const keysOf = (d: number, { heavy }: PortalSize) => (d < heavy ? MANY_KEYS : USUAL_KEYS)

/** Makes APIs, policies, a developer and a key in a new installation. */
export async function preparePortal(product: Product, size: PortalSize): Promise<Models> {
  const desk = await openDesk(product.dashboardUrl)
  const apis = Array.from({ length: size.apis }, (_, i) => ({ oas: definition(`api-${i}`, 9) }))
  await callInstallation(desk.url, 'POST', '/admin/apis/import', { apis })
  await Admin.times(size.policies, async (i) => {
    await product.admin.call('POST', '/policies', policy(`policy-${i}`, [`api-${i % size.apis}`]))
  })
  const developer = await callDesk(desk, 'POST', '/api/portal/developers', { email: 'model@portal.example' })
  const path = `/api/portal/developers/${developer.Message}/keys`
  const { RawKey: key } = await callDesk(desk, 'POST', path, { apply_policies: ['policy-0'] })
  return { desk, developerId: String(developer.Message), key: String(key) }
}

/** Fills the store of a product that is stopped. */
export async function fillPortal(folder: string, size: PortalSize, models: Models): Promise<FillSpeed> {
  const store = await openStore({ path: join(folder, 'data') })
  try {
    const from = performance.now()
    const developers = await putDevelopers(store, size, models)
    const keys = size.heavy * MANY_KEYS + (size.developers - size.heavy) * USUAL_KEYS
    progress(
      `${show(size.developers)} developers with ${show(keys)} keys after ${show((performance.now() - from) / 1000)} s`,
    )
    const hits = await putHits(store, size, models)
    progress(`a year of hits after ${show((performance.now() - from) / 1000)} s`)
    return { developers, keys: developers * (keys / size.developers), hits }
  } finally {
    await store.close()
  }
}

/** Answers how many in a second. */
async function putDevelopers(store: Store, size: PortalSize, models: Models): Promise<number> {
  const { hash: _own, ...row } = await sessionOf(store, hashOf(models.key))
  const model = await store.documents.get('developer', toDocumentId(models.developerId))
  if (model === undefined) throw new Error('the developer that others are made after is not there')
  const begin = Date.now() - 365 * 86_400_000
  return commitMany(store, size.developers, (d) => {
    const id = developerId(d)
    const keys: Record<string, string[]> = {}
    const subscriptions: Record<string, string> = {}
    const changes: Change[] = []
    for (let k = 0; k < keysOf(d, size); k++) {
      const policies = [policyOf(d, k, size.policies)]
      const hash = keyHashOf(d, k)
      keys[hash] = policies
      subscriptions[policies[0]!] = hash
      const body = { ...row.body, apply_policies: policies, [DEVELOPER_ID]: id }
      changes.push({ op: 'putSession', hash: Buffer.from(hash, 'hex'), row: { ...row, body, policyIds: policies } })
    }
    const date_created = new Date(begin + d * 1000).toISOString()
    const body = { ...model.body, email: emailOf(d), date_created, keys, subscriptions }
    return [...changes, { op: 'put', kind: 'developer', id, body }]
  })
}

/** Each of the used keys in some hours of every day of a year. Answers rows in a second. */
async function putHits({ hits }: Store, size: PortalSize, { desk }: Models): Promise<number> {
  const from = performance.now()
  const today = Math.floor(Date.now() / HOUR_MS / 24)
  let rows: Hit[] = []
  let count = 0
  for (let day = today - DAYS; day < today; day++) {
    for (let at = 0; at < HOURS_A_DAY; at++) {
      for (let key = 0; key < size.usedKeys; key++) {
        const hour = day * 24 + ((key + day * 5 + at * Math.floor(24 / HOURS_A_DAY)) % 24)
        rows.push(hitOf(size, desk.orgId, key, hour))
        if (rows.length < HITS_PER_CALL) continue
        await hits.add(rows)
        count += rows.length
        rows = []
      }
    }
  }
  await hits.add(rows)
  return ((count + rows.length) / (performance.now() - from)) * 1000
}

/** Of the first key of a developer who is not heavy. */
export const usedKeyHash = (key: number, { heavy }: Pick<PortalSize, 'heavy'>) => keyHashOf(heavy + key, 0)

function hitOf(size: PortalSize, orgId: string, key: number, hour: number): Hit {
  const count = 1 + (key % 7)
  const named = policyOf(size.heavy + key, 0, size.policies)
  const buckets = Array.from({ length: LATENCY_BOUNDS_MS.length + 1 }, (_, i) => (i === 3 ? count : 0))
  const latency = () => ({ sumMs: count * 7, minMs: 6, maxMs: 8, buckets })
  return {
    ...NO_DIMENSIONS,
    ...{ orgId, apiId: `api-${Number(named.slice('policy-'.length)) % size.apis}`, version: 'Non Versioned' },
    ...{ keyHash: usedKeyHash(key, size), tags: `pol-${named}` },
    ...{ hour, status: 200, count, success: count, error: 0, lastAt: hour * HOUR_MS + 60_000 },
    ...{ total: latency(), upstream: latency() },
  }
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
