import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { Change } from '../../../src/store/ports/ports.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'

const DEATHS = process.env.GATEHOUSE_DEEP === '1' ? 80 : 20
const FAMILIES = 100

const putSession = (name: string, family: string): Change => ({
  ...{ op: 'putSession', hash: hashKey(name) },
  row: { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: 'c', evictAt: 0, family },
})

test(`the feed names exactly the sessions of families that ended over ${DEATHS} deaths of the writer`, async (t) => {
  const store = await openStore({ path: temporaryFolder(t), keepWriter: false })
  t.after(() => store.close())
  let answered = 0
  let durable = 0
  for (let round = 0; round < DEATHS; round++) {
    const families = Array.from({ length: FAMILIES }, (_, n) => `${round} ${n}`)
    await store.documents.commit(
      families.flatMap((family) => [putSession(`a ${family}`, family), putSession(`b ${family}`, family)]),
      undefined,
    )
    const named = new Set<string>()
    const stop = store.feed.subscribe(({ sessions }) => {
      for (const hash of sessions) named.add(Buffer.from(hash).toString('hex'))
    })
    const dead = new Promise((resolve) => store.onWriterEnd(resolve))
    // Not all in one group: the writer should die between two of them as well.
    const ends = families.map(async (family, n) => {
      await wait(n % 4)
      return store.documents.commit([{ op: 'endFamily', family }], undefined).then(
        () => answered++,
        () => {},
      )
    })
    await wait(randomInt(6))
    await store.stopWriter()
    await Promise.all([...ends, dead])
    await store.startWriter()
    for (const name of families.flatMap((family) => [`a ${family}`, `b ${family}`])) {
      const gone = (await store.tokens.getSession(hashKey(name))) === undefined
      assert.equal(named.has(hashKey(name).toString('hex')), gone, name)
      if (gone) durable += 0.5
    }
    stop()
  }
  t.diagnostic(`${answered} ends answered, ${durable - answered} more durable without an answer`)
  assert.ok(durable > 0)
})
