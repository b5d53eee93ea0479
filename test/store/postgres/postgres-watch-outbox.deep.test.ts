import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeClient, readAddress } from '../../../src/store/postgres/connection/connect.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { freshDatabase } from '../../worlds/servers/postgres.ts'

const ELEVEN_MINUTES_MS = 660_000

test('a locked outbox shows as itself, and the server as well', async (t) => {
  const url = await freshDatabase()
  const store = await openPostgresStore({ url })
  t.after(() => store.close())
  const row = { queue: 'a', sealed: Buffer.from('sealed'), createdAt: Date.now() - ELEVEN_MINUTES_MS }
  await store.documents.commit([{ op: 'putDelivery', row }], undefined)
  const statuses = new Set<string>()
  const becomes = (output: RegExp) =>
    eventually(String(output), () => {
      const parts = store.health!()
      const of = (name: string) => parts.find(({ part }) => part === name)!
      statuses.add(of('store').status)
      return output.test(of('outbox').output ?? '')
    })
  await becomes(/more than ten minutes/)
  statuses.clear()
  const client = makeClient(readAddress(url))
  await client.connect()
  t.after(() => client.end())
  await client.query('BEGIN; LOCK TABLE delivery IN ACCESS EXCLUSIVE MODE')
  await becomes(/too large, or locked/)
  await client.query('ROLLBACK')
  await becomes(/more than ten minutes/)
  assert.deepEqual([...statuses], ['pass'])
})
