import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDocumentId } from '../../src/model/documents/ids.ts'
import { hashKey } from '../../src/model/secrets/secret.ts'
import type { FeedEvent } from '../../src/store/ports/ports.ts'
import type { Adapter } from './adapters.ts'

const row = { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }

/** Checks of every adapter of `Feed`. */
export function feedSuite(adapters: readonly Adapter[]): void {
  for (const { name, open } of adapters) {
    test(`${name}: the feed tells each commit once, in order, before its writer hears of it`, async (t) => {
      const { documents, feed } = await open(t)
      const events: FeedEvent[] = []
      const seen: number[] = []
      feed.subscribe((event) => events.push(event))
      feed.subscribe((event) => seen.push(event.revision))
      const ids = Array.from({ length: 100 }, () => newDocumentId())
      await Promise.all(
        ids.map(async (id, n) => {
          const revision = await documents.commit([{ op: 'put', kind: 'api', id, body: { api_id: `${n}` } }], undefined)
          const event = events.find((one) => one.revision === revision)
          assert.deepEqual(event?.changes, [{ op: 'put', kind: 'api', id }])
        }),
      )
      assert.deepEqual(
        seen,
        Array.from({ length: 100 }, (_, i) => i + 1),
      )
    })

    test(`${name}: an event names documents and sessions of its commit`, async (t) => {
      const { documents, feed } = await open(t)
      const events: FeedEvent[] = []
      feed.subscribe((event) => events.push(event))
      const [a, b] = [newDocumentId(), newDocumentId()]
      await documents.commit(
        [
          { op: 'put', kind: 'api', id: a, body: { api_id: 'a' } },
          { op: 'putSession', hash: hashKey('one'), row },
          { op: 'delete', kind: 'policy', id: b },
          { op: 'deleteSession', hash: hashKey('two') },
        ],
        undefined,
      )
      const [{ revision, changes, sessions }] = events as [FeedEvent]
      assert.equal(revision, 1)
      assert.deepEqual(changes, [
        { op: 'put', kind: 'api', id: a },
        { op: 'delete', kind: 'policy', id: b },
      ])
      assert.deepEqual(
        sessions.map((hash) => Buffer.from(hash)),
        [hashKey('one'), hashKey('two')],
      )
    })

    test(`${name}: a listener that is called sees what it is told`, async (t) => {
      const { documents, tokens, feed } = await open(t)
      const seen: unknown[] = []
      feed.subscribe(({ sessions }) => seen.push(tokens.getSession(sessions[0]!)))
      await documents.commit([{ op: 'putSession', hash: hashKey('one'), row }], undefined)
      // Not later: a read that is under way may see what comes next.
      assert.ok(await seen[0])
      await documents.commit([{ op: 'deleteSession', hash: hashKey('one') }], undefined)
      assert.equal(seen.length, 2)
      assert.equal(await seen[1], undefined)
    })

    test(`${name}: a commit that failed is not told`, async (t) => {
      const { documents, feed } = await open(t)
      const events: FeedEvent[] = []
      feed.subscribe((event) => events.push(event))
      const id = newDocumentId()
      await assert.rejects(documents.commit([{ op: 'put', kind: 'api', id, body: {}, ifRevision: 3 }], undefined))
      assert.equal(await documents.commit([], undefined), 1)
      assert.deepEqual(events, [{ revision: 1, changes: [], sessions: [] }])
    })

    test(`${name}: a listener that ended hears nothing, one that throws stops nobody`, async (t) => {
      const { documents, feed } = await open(t)
      const warnings: Error[] = []
      const onWarning = (warning: Error) => warnings.push(warning)
      process.on('warning', onWarning)
      t.after(() => process.off('warning', onWarning))
      const heard: string[] = []
      const end = feed.subscribe(() => heard.push('ended'))
      feed.subscribe(() => {
        throw new Error('a listener at fault')
      })
      feed.subscribe(() => heard.push('last'))
      end()
      end()
      assert.equal(await documents.commit([], undefined), 1)
      assert.deepEqual(heard, ['last'])
      await new Promise(setImmediate)
      assert.ok(warnings.some(({ message }) => message === 'a listener at fault'))
    })
  }
}
