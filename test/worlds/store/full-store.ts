import fc from 'fast-check'
import { NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import { HOUR_MS } from '../../../src/model/analytics/hit.ts'
import { SampleBlock } from '../../../src/model/analytics/hit-samples.ts'
import type { DocumentId } from '../../../src/model/documents/ids.ts'
import { DOCUMENT_KINDS } from '../../../src/model/documents/kinds.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { makeLimit } from '../../../src/model/limits/limit.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { Change, Store, TicketType } from '../../../src/store/ports/ports.ts'

// A store with something of everything, and all that callers can read of it: two stores with the same view hold the same.

/** In the past, so that nothing is due. */
const START = 1_700_000_000_000
const LATER = 4_000_000_000_000
const HOUR = Math.floor(START / HOUR_MS)
const KINDS = Object.keys(DOCUMENT_KINDS)
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', 'ä\0\u0001', '\u0001\u0002', '"\\'),
)
const anyId = fc.integer({ min: 0, max: 0xffff }).map((n) => n.toString(16).padStart(24, '0') as DocumentId)
const anyName = fc.constantFrom('a', 'b', 'c', 'ä')
const anyDocument = fc.record({
  kind: fc.constantFrom(...KINDS),
  id: anyId,
  body: fc.record({
    name: anyText,
    org_id: anyName,
    note: fc.jsonValue({ maxDepth: 1 }).filter((value) => value !== null),
  }),
})
const anySession = fc.record({
  name: anyText,
  org: anyName,
  client: fc.constantFrom('', 'c1'),
  apis: fc.uniqueArray(anyName, { maxLength: 3 }),
  policies: fc.uniqueArray(anyName, { maxLength: 2 }),
  alias: fc.oneof(anyText, fc.constantFrom('Alpha', 'Ära', 'beta')),
  family: fc.constantFrom('', 'f1', 'f\0'),
  evictAt: fc.constantFrom(0, LATER),
  sealed: fc.option(fc.uint8Array({ minLength: 1, maxLength: 9 }), { nil: undefined }),
})
const anyTicket = fc.record({
  name: anyText,
  sort: fc.constantFrom<TicketType>('code', 'refresh', 'login', 'lease'),
  client: anyName,
  family: fc.constantFrom('', 'f1'),
  version: fc.integer({ min: 1, max: 3 }),
  claimed: fc.boolean(),
})
const anyDelivery = fc.record({
  queue: anyName,
  sealed: fc.uint8Array({ maxLength: 30 }),
  outcome: fc.constantFrom('', 'delivered', 'failed', 'dead'),
})
const anyRequest = fc.record({
  apiId: anyName,
  keyHash: anyName,
  tags: fc.constantFrom('', 'x,y'),
  status: fc.constantFrom(200, 404, 503),
  hour: fc.integer({ min: 0, max: 2000 }),
  totalMs: fc.integer({ min: 0, max: 4000 }).map((n) => n / 4),
})
const anyRecord = fc.record({
  at: fc.integer({ min: START, max: START + 40 * 86_400_000 }),
  path: fc.constantFrom('/', '/ä'),
  detail: fc.option(fc.uint8Array({ maxLength: 9 }), { nil: undefined }),
})

const few = { minLength: 4, maxLength: 10 }

/** The contents of a store, written within a second. */
export const anyContents = fc.record({
  documents: fc.array(anyDocument, few),
  sessions: fc.array(anySession, few),
  tickets: fc.uniqueArray(anyTicket, { ...few, selector: ({ name }) => name }),
  deliveries: fc.array(anyDelivery, few),
  requests: fc.array(anyRequest, few),
  records: fc.array(anyRecord, few),
  quotas: fc.dictionary(fc.constantFrom('k1|', 'k2|ä', 'k3|p'), fc.integer({ min: 1, max: 9 })),
})
export type Contents = typeof anyContents extends fc.Arbitrary<infer T> ? T : never

/** Fills an empty store through its ports. */
export async function fillStore(store: Store, contents: Contents): Promise<void> {
  const { documents, outbox, hits, records, counters } = store
  const commit = async (changes: readonly Change[], audited = false) => {
    const entry = { actor: 'ä\0', action: 'act', orgId: 'o', at: START, detail: { n: 1 } }
    // Two documents may ask for one unique value: then one is not there.
    await documents.commit(changes, audited ? entry : undefined).catch(() => 0)
  }
  for (const [i, { kind, id, body }] of contents.documents.entries())
    await commit([{ op: 'put', kind, id, body: body as JsonObject }], i % 2 === 0)
  await commit([{ op: 'delete', kind: 'label', id: contents.documents[0]!.id }], true)
  for (const [i, one] of contents.sessions.entries()) {
    const { org, client, apis, policies, alias, family, evictAt, sealed } = one
    const row = {
      ...{ body: { alias, n: i }, orgId: org, clientId: client, apiIds: apis, policyIds: policies, family, evictAt },
      ...(sealed !== undefined && { sealedKey: sealed }),
    }
    await commit([{ op: 'putSession', hash: hashKey(one.name), row }], i % 3 === 0)
  }
  for (const { name, sort, client, family, version, claimed } of contents.tickets) {
    const hash = hashKey(name)
    const row = { sort, apiId: 'a', clientId: client, family, expiresAt: LATER - 1, keepUntil: LATER, body: { name } }
    for (let n = 0; n < version; n++) await commit([{ op: 'putTicket', hash, row }])
    if (claimed) await commit([{ op: 'claimTicket', hash, sort, now: START }])
  }
  for (const { queue, sealed, outcome } of contents.deliveries) {
    await commit([{ op: 'putDelivery', row: { queue, sealed, createdAt: Date.now() } }])
    const { id } = (await outbox.list({ queue, dead: false, after: 0, limit: 1000 })).at(-1)!
    if (outcome === 'delivered') await commit([{ op: 'settleDelivery', id, outcome: { is: 'delivered' } }])
    else if (outcome !== '')
      await commit([{ op: 'settleDelivery', id, outcome: { is: outcome as 'failed', nextAt: LATER, error: 'no\0' } }])
  }
  const sets = contents.requests.map(({ apiId, keyHash, tags }) => ({
    ...NO_DIMENSIONS,
    apiId,
    keyHash,
    tags,
    orgId: 'o',
  }))
  const numbers = await hits.number(sets)
  for (const [i, { hour, status, totalMs }] of contents.requests.entries()) {
    const block = new SampleBlock(1)
    block.begin((HOUR - hour) * HOUR_MS)
    block.add(numbers[i]!, status, totalMs, -1, (HOUR - hour) * HOUR_MS + (i % 7) * 60_000 + 5)
    await hits.append([block.samples], { source: 's', number: i + 1 })
    // Hits that were read are in the tables; later ones are in the journal.
    if (i === 2) await hits.usage({ ...USAGE, offset: 0, limit: 1 })
  }
  await records.append(
    contents.records.map(({ at, path, detail }) => ({
      ...{
        at,
        path,
        requestId: `of ${path}`,
        orgId: 'o',
        apiId: 'a',
        status: 200,
        method: 'GET',
        keyHash: '',
        clientId: '',
        tags: 'x',
        fields: { path },
      },
      ...(detail !== undefined && { detail: { request: detail, response: new Uint8Array() } }),
    })),
    [{ at: START, orgId: 'o', apiId: 'a', count: 3 }],
  )
  for (const [id, used] of Object.entries(contents.quotas)) await counters.resetQuota(id, used, 3_600_000)
}

const USAGE = { fromDay: 0, toDay: 30_000, per: 'day', by: [], sort: 'time', descending: false } as const
/** From the fourth minute of an hour on. */
const MINUTES = [(HOUR - 24) * 60 + 3, HOUR * 60 + 4] as const

/** Everything that callers can read of a store with such contents, as plain data. */
export async function viewOf(store: Store, contents: Contents): Promise<unknown> {
  const { documents, tokens, outbox, audit, hits, records, counters } = store
  const found: unknown[] = [await documents.revision()]
  for (const kind of KINDS) {
    for await (const rows of documents.scan(kind)) found.push(rows)
    const { lookup, unique } = DOCUMENT_KINDS[kind]!
    for (const index of Object.keys({ ...lookup, ...unique }))
      found.push([kind, index, await documents.values(kind, index)])
  }
  const filters = [{}, { only: 'keys' as const }, { orgId: 'a' }, { apiId: 'b' }, { policyId: 'ä' }, { clientId: 'c1' }]
  for (const filter of [...filters, { contains: 'a' }]) {
    const page = await tokens.listSessions({ ...filter, limit: 1000 })
    found.push([page, await tokens.countSessions(filter)])
  }
  for (const { name } of contents.sessions) found.push(await tokens.getSession(hashKey(name)))
  for (const { name } of contents.tickets) found.push(await tokens.getTicket(hashKey(name)))
  found.push(await tokens.familyTickets('f1'))
  for (const queue of ['a', 'b', 'c', 'ä'])
    for (const dead of [true, false]) found.push(await outbox.list({ queue, dead, after: 0, limit: 1000 }))
  found.push(await outbox.due(LATER, 9), await audit.list({ limit: 1000 }))
  for (const { id } of (await audit.list({ limit: 3 })).rows) found.push(await audit.state(id))
  for (const by of [[], ['keyHash', 'status'], ['apiId'], ['tag']] as const)
    for (const per of ['day', 'month', 'hour'] as const)
      found.push(await hits.usage({ ...USAGE, per, by, offset: 0, limit: 1000 }))
  for (const per of ['minute', 'hour'] as const)
    found.push(await hits.usage({ ...USAGE, per, by: ['apiId', 'status'], minutes: MINUTES, offset: 0, limit: 1000 }))
  found.push(await hits.minutesFrom())
  found.push(await records.list({ limit: 1000 }), await records.dropped({}), await records.last())
  for (const id of Object.keys(contents.quotas)) {
    const limit = makeLimit('quota', id, 100, 3_600_000)
    await counters.peek([limit], { wall: Date.now(), mono: performance.now() })
    found.push([id, limit.remaining])
  }
  return plainOf(found)
}

/** Bytes are Buffers from one store and arrays from another. */
function plainOf(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, one) => {
    const bytes = one?.type === 'Buffer' ? Uint8Array.from(one.data) : one
    return bytes instanceof Uint8Array ? `bytes ${Buffer.from(bytes).toString('hex')}` : bytes
  })
  return JSON.parse(text)
}
