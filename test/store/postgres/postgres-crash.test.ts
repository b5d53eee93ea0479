import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startPostgres } from '../../../scripts/servers.mjs'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { runSql } from '../../worlds/servers/postgres.ts'
import { startChild } from '../../worlds/store/child.ts'
import { checkFamily } from '../../worlds/store/token-families.ts'

const KILLS = process.env.GATEHOUSE_DEEP === '1' ? 40 : 3

test(`${2 * KILLS} processes killed while they issue tokens lose nothing acknowledged`, async (t) => {
  const server = await startPostgres({ durable: true })
  t.after(() => server.stop())
  const store = await openPostgresStore({ url: server.url() })
  t.after(() => store.close())
  const told: number[] = []
  store.feed.subscribe(({ revision }) => told.push(revision))
  const issued = new Map<string, number>()
  for (let round = 0; round < KILLS; round++) {
    await Promise.all([
      killOnce(t, server.url(), `${round}-one`, issued),
      killOnce(t, server.url(), `${round}-two`, issued),
    ])
  }
  for (const [family, last] of issued) await checkFamily(store, family, last)
  const total = [...issued.values()].reduce((sum, last) => sum + last + 1, 0)
  t.diagnostic(`${total} tokens acknowledged`)
  assert.ok(total >= 2 * KILLS, 'the processes lived long enough to issue')
  const last = await store.documents.commit([], undefined)
  assert.deepEqual(
    told,
    Array.from({ length: last }, (_, i) => i + 1),
  )
  const number = async (sql: string) => (await runSql<{ n: number }>(server.url(), `SELECT (${sql})::int AS n`))[0]!.n
  const sessions = await number('SELECT count(*) FROM session')
  assert.equal(sessions, last - 1)
  for (const table of ['ticket', 'delivery']) assert.equal(await number(`SELECT count(*) FROM ${table}`), sessions)
  assert.equal(await number('SELECT count(*) FROM session_ref'), 3 * sessions)
})

/** `issued`: family to the number of its last token that was acknowledged. */
async function killOnce(t: TestContext, url: string, name: string, issued: Map<string, number>): Promise<void> {
  const child = startChild('crash-issuer.ts', [url, name])
  t.after(() => child.process.kill('SIGKILL'))
  await child.line('issued').then(() => wait(randomInt(60)))
  child.process.kill('SIGKILL')
  await child.ended
  for (const line of child.lines) {
    const [what, family = '', n] = line.split(' ')
    if (what === 'issued') issued.set(family, Number(n))
  }
}
