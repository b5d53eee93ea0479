import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import { LATENCY_BOUNDS_MS, NO_MIN_MS } from '../../../src/model/analytics/hit.ts'
import type { DocumentId } from '../../../src/model/documents/ids.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import { APPLICATION_ID } from '../../../src/store/sqlite/migrations/schema.ts'

// Dumps of stores of every version of the schema. One that was written never changes: `write-schema-fixtures.ts` adds new ones.

export const FIXTURES: string = join(import.meta.dirname, 'schemas')
type Kind = 'sqlite' | 'postgres'

/** The versions that have a dump. */
export function fixtureVersions(kind: Kind): number[] {
  const numbers = readdirSync(FIXTURES).map((name) => new RegExp(`^${kind}-(\\d+)\\.sql$`).exec(name)?.[1])
  return numbers.flatMap((number) => (number === undefined ? [] : [Number(number)])).sort((a, b) => a - b)
}

export function readFixture(kind: Kind, version: number): string {
  return readFileSync(join(FIXTURES, `${kind}-${version}.sql`), 'utf8')
}

/** All tables and rows as statements, in a fixed order. */
export function dumpSqlite(db: DatabaseSync): string {
  const objects = db
    .prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type <> 'table', rowid")
    .all()
  const lines = [`PRAGMA application_id = ${APPLICATION_ID};`]
  for (const { type, name, sql } of objects) {
    if (name === 'sqlite_sequence') continue
    lines.push(`${sql};`)
    if (type === 'table') lines.push(...rowsOf(db, String(name)))
  }
  if (objects.some(({ name }) => name === 'sqlite_sequence')) lines.push(...rowsOf(db, 'sqlite_sequence'))
  return `${lines.join('\n')}\n`
}

function rowsOf(db: DatabaseSync, table: string): string[] {
  const columns = db
    .prepare(`PRAGMA table_info(${table})`)
    .all()
    .map(({ name }) => `"${name}"`)
  const quoted = columns.map((column) => `quote(${column})`).join(" || ', ' || ")
  const rows = db.prepare(`SELECT ${quoted} AS row FROM ${table} ORDER BY ${columns.join(', ')}`).all()
  return rows.map(({ row }) => `INSERT INTO ${table}(${columns.join(', ')}) VALUES (${row});`)
}

const ID = '00000000000000000000000a' as DocumentId
const AT = 1_700_000_000_000
const NEVER = 4_000_000_000_000
const SESSION = {
  ...{ body: { alias: 'Straße', rate: 7 }, orgId: 'o', apiIds: ['a'], policyIds: ['p'], clientId: '', evictAt: 0 },
  sealedKey: Buffer.from('sealed'),
}
const TOKEN = {
  body: { alias: '' },
  orgId: 'o',
  apiIds: ['a'],
  policyIds: [],
  clientId: 'c',
  evictAt: NEVER,
  family: 'f',
}
const TICKET = {
  sort: 'refresh',
  ...{ apiId: 'a', clientId: 'c', family: 'f', expiresAt: NEVER, keepUntil: NEVER, body: { n: 1 } },
} as const
const NONE = { sumMs: 0, minMs: NO_MIN_MS, maxMs: 0, buckets: new Array<number>(LATENCY_BOUNDS_MS.length + 1).fill(0) }
const HIT = {
  ...{ ...NO_DIMENSIONS, hour: 472_222, minute: 13, orgId: 'o', apiId: 'a', keyHash: 'k' },
  ...{ status: 200, count: 7, success: 7, error: 0, lastAt: AT, total: NONE, upstream: NONE },
}
const RECORD = {
  ...{
    at: AT,
    orgId: 'o',
    apiId: 'a',
    status: 404,
    method: 'GET',
    keyHash: 'k',
    clientId: '',
    tags: 'x,y',
    path: '/ä',
    requestId: 'of-the-record',
  },
  ...{ fields: { host: 'h' }, detail: { request: Buffer.from('GET'), response: Buffer.from('404') } },
}

/** Writes something of every kind; needs a clock that does not reach `NEVER`. */
export async function fill({ documents, records, hits }: Store): Promise<void> {
  const audit = { at: AT, actor: 'Ann', action: 'api.create', orgId: 'o', detail: { api_id: 'a' } }
  await documents.commit([{ op: 'put', kind: 'api', id: ID, body: { api_id: 'a', org_id: 'o', name: 'Ärger' } }], audit)
  await documents.commit(
    [
      { op: 'putSession', hash: hashKey('key'), row: SESSION },
      { op: 'putSession', hash: hashKey('token'), row: TOKEN },
      { op: 'putTicket', hash: hashKey('refresh'), row: TICKET },
      { op: 'putDelivery', row: { queue: 'a', sealed: Buffer.from('message'), createdAt: AT } },
    ],
    undefined,
  )
  await records.append([RECORD])
  await hits.add([HIT])
}

/** Everything that `fill` wrote is there as it was. */
export async function checkFilled(store: Store): Promise<void> {
  const { documents, tokens, audit, outbox, records, hits } = store
  const found = (await documents.find('api', 'api_id', 'a'))!
  assert.deepEqual([found.id, found.revision, found.body.name], [ID, 1, 'Ärger'])
  const { hash, ...key } = (await tokens.getSession(hashKey('key')))!
  assert.deepEqual([Buffer.from(hash), { ...key, sealedKey: Buffer.from(key.sealedKey!) }], [hashKey('key'), SESSION])
  const { hash: _, ...token } = (await tokens.getSession(hashKey('token')))!
  assert.deepEqual(token, TOKEN)
  const { hash: __, version, claimedAt, ...ticket } = (await tokens.getTicket(hashKey('refresh')))!
  assert.deepEqual([ticket, version, claimedAt], [TICKET, 1, 0])
  assert.equal((await tokens.familyTickets('f')).length, 1)
  assert.equal(await tokens.countSessions({ contains: 'strasse' }), 1)
  const [entry] = (await audit.list({ user: 'ann', limit: 9 })).rows
  assert.deepEqual([entry?.action, entry?.changes.length], ['api.create', 1])
  assert.equal((await outbox.list({ queue: 'a', dead: false, after: 0, limit: 9 })).length, 1)
  const [record] = (await records.list({ orgId: 'o', limit: 9 })).rows
  assert.deepEqual([record?.path, record?.status, record?.fields], ['/ä', 404, { host: 'h' }])
  assert.deepEqual(Buffer.from(record!.detail!.response), Buffer.from('404'))
  const [sum] = await hits.sum({ fromHour: 472_222, toHour: 472_222, limit: 9 })
  assert.equal(sum?.count, 7)
  // Of data from before there were minutes, the hours that were begun have none.
  const from = await hits.minutesFrom()
  const usage = { fromDay: 0, toDay: 30_000, per: 'minute', by: [], sort: 'time', descending: false } as const
  const { rows } = await hits.usage({ ...usage, offset: 0, limit: 9 })
  const minutes = rows.map(({ hour, minute, count }) => [hour, minute, count])
  assert.deepEqual([from, minutes], from === 0 ? [0, [[472_222, 13, 7]]] : [472_223 * 60, []])
}

/** A clock within the life of what `fill` wrote. */
export const fixtureClock = (): FakeClock => new FakeClock()
