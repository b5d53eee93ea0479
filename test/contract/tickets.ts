import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashKey } from '../../src/model/secrets/secret.ts'
import { FakeClock } from '../../src/model/time/clock.ts'
import type {
  Change,
  FeedEvent,
  SessionInput,
  TicketInput,
  TicketRow,
  TicketType,
} from '../../src/store/ports/ports.ts'
import type { Adapter } from './adapters.ts'

const START = new FakeClock().wall()
const ticket = (more: Partial<TicketInput> = {}): TicketInput => ({
  ...{ sort: 'code', apiId: 'a', clientId: 'c', family: '', body: { scope: 'ä' } },
  ...{ expiresAt: START + 1000, keepUntil: START + 2000 },
  ...more,
})
const session = (more: Partial<SessionInput> = {}): SessionInput => ({
  ...{ body: {}, orgId: 'o', apiIds: ['a'], policyIds: [], clientId: 'c', evictAt: 0 },
  ...more,
})
const put = (name: string, more: Partial<TicketInput> = {}, when: { ifAbsent?: true; ifVersion?: number } = {}) =>
  ({ op: 'putTicket', hash: hashKey(name), row: ticket(more), ...when }) as const
const claim = (name: string, now = START, sort: TicketType = 'code') =>
  ({ op: 'claimTicket', hash: hashKey(name), sort, now }) as const
const putSession = (name: string, more: Partial<SessionInput> = {}): Change => ({
  ...{ op: 'putSession', hash: hashKey(name), row: session(more) },
})
const wins = (results: readonly PromiseSettledResult<unknown>[]) =>
  results.filter(({ status }) => status === 'fulfilled').length
const plain = (row: TicketRow | undefined) => row && { ...row, hash: Buffer.from(row.hash) }

/** Checks of every adapter with tickets and everything that shares a family. */
export function ticketsSuite(adapters: readonly Adapter[]): void {
  for (const { name, open } of adapters) {
    test(`${name}: a ticket comes back as it was, whatever becomes of what was handed in`, async (t) => {
      const { documents, tokens } = await open(t)
      const hash = Buffer.from(hashKey('code'))
      const row = ticket({ family: 'f\0', sort: 'refresh' })
      const done = documents.commit([{ op: 'putTicket', hash, row }], undefined)
      hash.fill(0)
      await done
      const found = (await tokens.getTicket(hashKey('code')))!
      assert.deepEqual(plain(found), { ...row, hash: hashKey('code'), version: 1, claimedAt: 0 })
      found.body.scope = 'changed by a reader'
      assert.equal((await tokens.getTicket(hashKey('code')))!.body.scope, 'ä')
      assert.equal(await tokens.getTicket(hash), undefined)
      await documents.commit([{ op: 'deleteTicket', hash: hashKey('code') }], undefined)
      assert.equal(await tokens.getTicket(hashKey('code')), undefined)
      await documents.commit([{ op: 'deleteTicket', hash: hashKey('code') }], undefined)
    })

    test(`${name}: of 100 that use one ticket at once, one wins; a later use finds it used`, async (t) => {
      const { documents, tokens } = await open(t)
      await documents.commit([put('code')], undefined)
      const results = await Promise.allSettled(
        Array.from({ length: 100 }, (_, n) => documents.commit([claim('code'), putSession(`token ${n}`)], undefined)),
      )
      assert.equal(wins(results), 1)
      for (const result of results) {
        if (result.status === 'rejected') assert.equal(result.reason.code, 'ticket_unusable')
      }
      assert.equal(await tokens.countSessions({}), 1)
      assert.equal((await tokens.getTicket(hashKey('code')))!.claimedAt, START)
      await assert.rejects(documents.commit([claim('code', START + 1)], undefined), { code: 'ticket_unusable' })
      assert.equal((await tokens.getTicket(hashKey('code')))!.claimedAt, START)
    })

    test(`${name}: the tickets of a family are found together until nobody finds them any more`, async (t) => {
      const clock = new FakeClock()
      const { documents, tokens } = await open(t, clock)
      const keepUntil = clock.wall() + 5
      const own = { family: 'mine', expiresAt: clock.wall() + 1, keepUntil }
      await documents.commit(
        [put('a', own), put('b', { ...own, sort: 'refresh' as const }), put('c', { family: 'other' }), put('d')],
        undefined,
      )
      const found = await tokens.familyTickets('mine')
      const hashes = [hashKey('a'), hashKey('b')].sort(Buffer.compare)
      assert.deepEqual(
        found.map(({ hash }) => Buffer.from(hash)),
        hashes,
      )
      for (const row of found) assert.deepEqual(row, await tokens.getTicket(row.hash))
      assert.deepEqual(await tokens.familyTickets(''), [])
      assert.deepEqual(await tokens.familyTickets('none'), [])
      clock.advance(5)
      assert.deepEqual(await tokens.familyTickets('mine'), [])
    })

    test(`${name}: a ticket of another sort, a lapsed one and one that never was cannot be used`, async (t) => {
      const { documents, tokens } = await open(t)
      await documents.commit([put('code')], undefined)
      for (const change of [claim('code', START, 'refresh'), claim('code', START + 1000), claim('none')]) {
        await assert.rejects(documents.commit([change], undefined), { code: 'ticket_unusable' })
      }
      assert.equal((await tokens.getTicket(hashKey('code')))!.claimedAt, 0)
      await documents.commit([claim('code', START + 999)], undefined)
    })

    test(`${name}: a failed claim rolls its whole commit back, wherever in the commit it is`, async (t) => {
      const { documents, tokens } = await open(t)
      await documents.commit(
        [put('used'), put('fresh', { family: 'f' }), putSession('old', { family: 'f' })],
        undefined,
      )
      await documents.commit([claim('used')], undefined)
      const changes: Change[] = [
        claim('fresh'),
        put('next'),
        { op: 'endFamily', family: 'f' },
        { op: 'deleteTicket', hash: hashKey('used') },
        putSession('new'),
        { op: 'putDelivery', row: { queue: 'a', sealed: Buffer.from('m'), createdAt: START } },
        claim('gone'),
      ]
      await assert.rejects(documents.commit(changes, undefined), { code: 'ticket_unusable' })
      assert.equal((await tokens.getTicket(hashKey('fresh')))!.claimedAt, 0)
      assert.equal((await tokens.getTicket(hashKey('used')))!.claimedAt, START)
      assert.ok(await tokens.getSession(hashKey('old')))
      for (const gone of [tokens.getTicket(hashKey('next')), tokens.getSession(hashKey('new'))]) {
        assert.equal(await gone, undefined)
      }
      await documents.commit([claim('fresh'), { op: 'endFamily', family: 'f' }], undefined)
      assert.equal(await tokens.getTicket(hashKey('fresh')), undefined)
      assert.equal(await tokens.getSession(hashKey('old')), undefined)
    })

    test(`${name}: of 100 that put one ticket where none is, one wins, until it has lapsed`, async (t) => {
      const clock = new FakeClock()
      const { documents, tokens } = await open(t, clock)
      const all = () =>
        Promise.allSettled(
          Array.from({ length: 100 }, (_, n) =>
            documents.commit(
              [put('proof', { sort: 'proof', clientId: '', body: { n } }, { ifAbsent: true })],
              undefined,
            ),
          ),
        )
      const results = await all()
      assert.equal(wins(results), 1)
      for (const result of results) if (result.status === 'rejected') assert.equal(result.reason.code, 'already_exists')
      await documents.commit([claim('proof', START, 'proof')], undefined)
      clock.advance(999)
      assert.equal(wins(await all()), 0)
      clock.advance(1)
      const again = { expiresAt: START + 5000, keepUntil: START + 5000, sort: 'proof' } as const
      await documents.commit([put('proof', again, { ifAbsent: true })], undefined)
      const found = (await tokens.getTicket(hashKey('proof')))!
      assert.deepEqual([found.version, found.claimedAt], [2, 0])
      assert.equal(wins(await all()), 0)
    })

    test(`${name}: of 100 writers of one version of a ticket, one wins`, async (t) => {
      const { documents, tokens } = await open(t)
      await documents.commit([put('device')], undefined)
      for (let version = 1; version < 4; version++) {
        const results = await Promise.allSettled(
          Array.from({ length: 100 }, () => documents.commit([put('device', {}, { ifVersion: version })], undefined)),
        )
        assert.equal(wins(results), 1)
        for (const result of results) {
          if (result.status === 'rejected') assert.equal(result.reason.code, 'ticket_unusable')
        }
      }
      assert.equal((await tokens.getTicket(hashKey('device')))!.version, 4)
      await documents.commit([claim('device'), put('device', { body: { answer: 1 } })], undefined)
      const found = (await tokens.getTicket(hashKey('device')))!
      assert.deepEqual([found.version, found.claimedAt, found.body], [5, START, { answer: 1 }])
      for (const change of [claim('device'), put('device', {}, { ifVersion: 5 }), put('none', {}, { ifVersion: 1 })]) {
        await assert.rejects(documents.commit([change], undefined), { code: 'ticket_unusable' })
      }
    })

    test(`${name}: a ticket is found until it need not be kept, and counts as none from then on`, async (t) => {
      const clock = new FakeClock()
      const { documents, tokens } = await open(t, clock)
      await documents.commit([put('code')], undefined)
      await documents.commit([claim('code')], undefined)
      clock.advance(1999)
      assert.equal((await tokens.getTicket(hashKey('code')))!.claimedAt, START)
      clock.advance(1)
      assert.equal(await tokens.getTicket(hashKey('code')), undefined)
      await assert.rejects(documents.commit([put('code', {}, { ifVersion: 1 })], undefined), {
        code: 'ticket_unusable',
      })
      const later = { expiresAt: START + 9000, keepUntil: START + 9000 }
      await documents.commit([put('code', later)], undefined)
      const found = (await tokens.getTicket(hashKey('code')))!
      assert.deepEqual([found.version, found.claimedAt], [1, 0])
    })

    test(`${name}: a family ends as a whole, and the feed names its sessions`, async (t) => {
      const { documents, tokens, feed } = await open(t)
      const events: FeedEvent[] = []
      feed.subscribe((event) => events.push(event))
      await documents.commit(
        [
          ...['one', 'two'].map((key) => putSession(key, { family: 'f' })),
          ...['three', 'four'].map((key) => putSession(key, { family: key === 'three' ? 'other' : '' })),
          ...['r1', 'r2'].map((key) => put(key, { family: 'f', sort: 'refresh' })),
          put('r3', { family: 'other' }),
          put('r4'),
        ],
        undefined,
      )
      await documents.commit([claim('r1', START, 'refresh')], undefined)
      events.length = 0
      await documents.commit([{ op: 'endFamily', family: 'f' }, putSession('late', { family: 'f' })], undefined)
      const told = events[0]!.sessions.map((hash) => Buffer.from(hash).toString('hex')).sort()
      assert.deepEqual(told, ['one', 'two', 'late'].map((key) => hashKey(key).toString('hex')).sort())
      const there = async (keys: string[], get: (hash: Uint8Array) => unknown) =>
        (await Promise.all(keys.map(async (key) => (await get(hashKey(key))) !== undefined && key))).filter(Boolean)
      const sessions = await there(['one', 'two', 'three', 'four', 'late'], (hash) => tokens.getSession(hash))
      assert.deepEqual(sessions, ['three', 'four', 'late'])
      assert.deepEqual(await there(['r1', 'r2', 'r3', 'r4'], (hash) => tokens.getTicket(hash)), ['r3', 'r4'])
      assert.equal(await tokens.countSessions({ clientId: 'c' }), 3)
      events.length = 0
      await documents.commit([{ op: 'endFamily', family: 'none' }], undefined)
      assert.deepEqual(events, [{ revision: 4, changes: [], sessions: [] }])
    })

    test(`${name}: a session or ticket that moves to another family ends with that one`, async (t) => {
      const { documents, tokens } = await open(t)
      await documents.commit([putSession('key', { family: 'f' }), put('code', { family: 'f' })], undefined)
      await documents.commit([putSession('key', { family: 'g' }), put('code', { family: 'g' })], undefined)
      await documents.commit([{ op: 'endFamily', family: 'f' }], undefined)
      assert.equal((await tokens.getSession(hashKey('key')))!.family, 'g')
      assert.ok(await tokens.getTicket(hashKey('code')))
      await documents.commit([{ op: 'endFamily', family: 'g' }], undefined)
      assert.equal(await tokens.getSession(hashKey('key')), undefined)
      assert.equal(await tokens.getTicket(hashKey('code')), undefined)
    })

    test(`${name}: what is malformed is refused before anything is written, and stops nobody else`, async (t) => {
      const { documents, tokens } = await open(t)
      const bad: unknown[] = [
        { ...put('x'), hash: Buffer.alloc(31) },
        put('x', { sort: 'nonsense' as TicketType }),
        put('x', { keepUntil: START }),
        put('x', { expiresAt: 1.5 }),
        put('x', { expiresAt: Number.NaN, keepUntil: Number.NaN }),
        put('x', { family: undefined as unknown as string }),
        put('x', { body: null as unknown as TicketInput['body'] }),
        put('x', {}, { ifVersion: 0 }),
        put('x', {}, { ifVersion: 1, ifAbsent: true }),
        claim('x', -1),
        claim('x', START, 'toString' as TicketType),
        { op: 'deleteTicket', hash: 'x' },
        { op: 'endFamily', family: '' },
        { op: 'endFamily', family: 7 },
        { op: 'putDelivery', row: { queue: 'a', sealed: 'text', createdAt: START } },
        { op: 'putDelivery', row: { queue: 'a', sealed: Buffer.from('m') } },
        { op: 'settleDelivery', id: -1, outcome: { is: 'delivered' } },
        { op: 'settleDelivery', id: 1, outcome: { is: 'lost' } },
        { op: 'settleDelivery', id: 1, outcome: { is: 'failed', nextAt: START } },
        { op: 'nonsense' },
      ]
      const results = await Promise.allSettled([
        ...bad.map((change) => documents.commit([putSession('half'), change as Change], undefined)),
        documents.commit([put('good')], undefined),
      ])
      for (const [i, result] of results.slice(0, -1).entries()) {
        assert.equal(result.status === 'rejected' && result.reason.code, 'internal', JSON.stringify(bad[i]))
      }
      assert.equal(results.at(-1)!.status, 'fulfilled')
      assert.equal(await tokens.getSession(hashKey('half')), undefined)
      assert.equal(await documents.revision(), 1)
    })
  }
}
