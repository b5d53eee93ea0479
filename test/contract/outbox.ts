import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../src/model/time/clock.ts'
import {
  type Change,
  DEAD_RETENTION_MS,
  type DeliveryOutcome,
  type DeliveryRow,
  type Outbox,
} from '../../src/store/ports/ports.ts'
import type { Adapter } from './adapters.ts'

const put = (queue: string, text: string): Change => ({
  ...{ op: 'putDelivery', row: { queue, sealed: Buffer.from(text), createdAt: 5 } },
})
const settle = (id: number, outcome: DeliveryOutcome): Change => ({ op: 'settleDelivery', id, outcome })
const text = ({ sealed }: DeliveryRow) => Buffer.from(sealed).toString()
const due = async (outbox: Outbox, now: number, limit = 9) => (await outbox.due(now, limit)).map(text)
const ids = (rows: readonly DeliveryRow[]) => rows.map(({ id }) => id)

/** Checks of every adapter of `Outbox`. */
export function outboxSuite(adapters: readonly Adapter[]): void {
  for (const { name, open } of adapters) {
    test(`${name}: a message comes back as it was, due at once, until it is delivered`, async (t) => {
      const { documents, outbox } = await open(t)
      assert.deepEqual(await outbox.due(9, 9), [])
      assert.equal(await outbox.nextAt(), undefined)
      const sealed = Buffer.from([0, 255, 128])
      const done = documents.commit([{ op: 'putDelivery', row: { queue: 'ä', sealed, createdAt: 5 } }], undefined)
      sealed.fill(1)
      await done
      const [row] = (await outbox.due(0, 9)) as [DeliveryRow]
      assert.deepEqual(
        { ...row, sealed: [...row.sealed] },
        {
          ...{ id: row.id, queue: 'ä', sealed: [0, 255, 128], createdAt: 5 },
          ...{ attempts: 0, nextAt: 0, dead: false, error: '' },
        },
      )
      assert.deepEqual(await outbox.get(row.id), row)
      await documents.commit([settle(row.id, { is: 'delivered' })], undefined)
      assert.equal(await outbox.get(row.id), undefined)
      assert.deepEqual(await outbox.due(9, 9), [])
      await documents.commit([settle(row.id, { is: 'dead', error: 'late' })], undefined)
      assert.equal(await outbox.get(row.id), undefined)
      await documents.commit([put('ä', 'next')], undefined)
      const [next] = (await outbox.due(0, 9)) as [DeliveryRow]
      assert.ok(next.id > row.id, 'the number of a delivered one is not given again')
    })

    test(`${name}: a queue goes in order, one at a time, and holds up no other`, async (t) => {
      const { documents, outbox } = await open(t)
      await documents.commit([put('a', 'a1'), put('a', 'a2'), put('b', 'b1'), put('a', 'a3')], undefined)
      assert.deepEqual(await due(outbox, 10), ['a1', 'b1'])
      assert.deepEqual(await due(outbox, 10, 1), ['a1'])
      const [a1, b1] = (await outbox.due(10, 9)) as [DeliveryRow, DeliveryRow]
      await documents.commit([settle(a1.id, { is: 'failed', nextAt: 100, error: 'refused' })], undefined)
      assert.deepEqual(await due(outbox, 99), ['b1'], 'what comes after a failed one waits for it')
      assert.equal(await outbox.nextAt(), 0)
      await documents.commit([settle(b1.id, { is: 'delivered' })], undefined)
      assert.equal(await outbox.nextAt(), 100)
      assert.deepEqual(await due(outbox, 99), [])
      assert.deepEqual(await due(outbox, 100), ['a1'])
      const row = (await outbox.get(a1.id))!
      assert.deepEqual([row.attempts, row.nextAt, row.error, row.dead], [1, 100, 'refused', false])
      await documents.commit([settle(a1.id, { is: 'delivered' })], undefined)
      assert.deepEqual(await due(outbox, 0), ['a2'])
    })

    test(`${name}: those that waited longest come first where not all fit`, async (t) => {
      const { documents, outbox } = await open(t)
      await documents.commit(
        ['a', 'b', 'c'].map((queue) => put(queue, queue)),
        undefined,
      )
      const [a, b] = (await outbox.due(0, 9)) as [DeliveryRow, DeliveryRow]
      await documents.commit([settle(a.id, { is: 'failed', nextAt: 50, error: 'x' })], undefined)
      await documents.commit([settle(b.id, { is: 'failed', nextAt: 40, error: 'x' })], undefined)
      assert.deepEqual(await due(outbox, 60), ['c', 'b', 'a'])
      assert.deepEqual(await due(outbox, 60, 2), ['c', 'b'])
    })

    test(`${name}: a failed delivery is deleted thirty days after acceptance, a waiting one is kept`, async (t) => {
      const clock = new FakeClock()
      const { documents, outbox, purge } = await open(t, clock)
      const createdAt = clock.wall()
      const accepted = (queue: string): Change => ({
        ...{ op: 'putDelivery', row: { queue, sealed: Buffer.from(queue), createdAt } },
      })
      await documents.commit([accepted('dead'), accepted('waits')], undefined)
      const [dead] = (await outbox.due(0, 9)) as [DeliveryRow]
      await documents.commit([settle(dead.id, { is: 'dead', error: 'late' })], undefined)
      clock.advance(DEAD_RETENTION_MS)
      await purge()
      assert.notEqual(await outbox.get(dead.id), undefined)
      clock.advance(1)
      await purge()
      assert.equal(await outbox.get(dead.id), undefined)
      assert.deepEqual(await outbox.list({ queue: 'dead', dead: false, after: 0, limit: 9 }), [])
      assert.deepEqual(await due(outbox, clock.wall()), ['waits'])
    })

    test(`${name}: a dead one holds nothing up, and sent again is the first of its queue`, async (t) => {
      const { documents, outbox } = await open(t)
      await documents.commit(
        ['1', '2', '3'].map((message) => put('a', message)),
        undefined,
      )
      const all = await outbox.list({ queue: 'a', dead: false, after: 0, limit: 9 })
      const [one, two, three] = ids(all) as [number, number, number]
      await documents.commit([settle(one, { is: 'dead', error: 'gone' })], undefined)
      await documents.commit([settle(two, { is: 'dead', error: 'gone' })], undefined)
      assert.deepEqual(await due(outbox, 9), ['3'])
      assert.deepEqual(ids(await outbox.list({ queue: 'a', dead: true, after: 0, limit: 9 })), [one, two])
      assert.deepEqual(ids(await outbox.list({ queue: 'a', dead: false, after: 0, limit: 9 })), [one, two, three])
      await documents.commit([settle(two, { is: 'again', nextAt: 7 })], undefined)
      assert.deepEqual(await due(outbox, 6), [])
      assert.equal(await outbox.nextAt(), 7)
      assert.deepEqual(await due(outbox, 7), ['2'])
      await documents.commit([settle(one, { is: 'again', nextAt: 8 })], undefined)
      assert.deepEqual(await due(outbox, 8), ['1'])
      const row = (await outbox.get(one))!
      assert.deepEqual([row.attempts, row.dead, row.error], [0, false, 'gone'])
    })

    test(`${name}: lists go page by page, a queue each`, async (t) => {
      const { documents, outbox } = await open(t)
      const messages = Array.from({ length: 25 }, (_, n) => put(n % 5 === 4 ? 'b' : 'a', `${n}`))
      await documents.commit(messages, undefined)
      const first = await outbox.list({ queue: 'a', dead: false, after: 0, limit: 1000 })
      for (const { id } of first.filter((_, n) => n % 3 === 0)) {
        await documents.commit([settle(id, { is: 'dead', error: 'x' })], undefined)
      }
      for (const dead of [false, true]) {
        const seen: number[] = []
        for (let after = 0; ; after = seen.at(-1)!) {
          const rows = await outbox.list({ queue: 'a', dead, after, limit: 7 })
          seen.push(...ids(rows))
          if (rows.length < 7) break
        }
        assert.deepEqual(seen, ids(first.filter((_, n) => !dead || n % 3 === 0)))
      }
      assert.deepEqual(await outbox.list({ queue: 'none', dead: false, after: 0, limit: 7 }), [])
      assert.deepEqual(await outbox.list({ queue: 'a', dead: false, after: 0, limit: 0 }), [])
    })

    test(`${name}: messages of many callers at once stand in the order of their commits`, async (t) => {
      const { documents, outbox } = await open(t)
      const revisions = await Promise.all(
        Array.from({ length: 100 }, (_, n) => documents.commit([put('a', `${n}`), put('b', `${n}`)], undefined)),
      )
      const expected = revisions.map((revision, n) => [revision, `${n}`] as const).sort(([a], [b]) => a - b)
      for (const queue of ['a', 'b']) {
        const rows = await outbox.list({ queue, dead: false, after: 0, limit: 1000 })
        assert.deepEqual(
          rows.map(text),
          expected.map(([, message]) => message),
        )
      }
    })
  }
}
