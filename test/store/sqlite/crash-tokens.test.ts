import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { openReadable } from '../../../src/store/sqlite/connection/database.ts'
import { openStore, type SqliteStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { startChild } from '../../worlds/store/child.ts'
import { checkFamily } from '../../worlds/store/token-families.ts'

// Two folders at a time, one a core.
const LANES = 2
const KILLS = process.env.GATEHOUSE_DEEP === '1' ? 80 : 3

test(`${LANES * KILLS} processes killed while they issue tokens lose nothing acknowledged`, async (t) => {
  const lanes = Array.from({ length: LANES }, async () => {
    const path = temporaryFolder(t)
    const issued = new Map<string, number>()
    for (let round = 0; round < KILLS; round++) await killOnce(path, round, issued)
    checkFile(join(path, 'gatehouse.db'))
    return [...issued.values()].reduce((sum, last) => sum + last + 1, 0)
  })
  const counts = await Promise.all(lanes)
  const total = counts.reduce((sum, count) => sum + count, 0)
  t.diagnostic(`${total} tokens acknowledged`)
  assert.ok(total >= (LANES * KILLS) / 2, 'the processes lived long enough to issue')
})

/** `issued`: family to the number of its last token that was acknowledged, over all rounds. */
async function killOnce(path: string, round: number, issued: Map<string, number>): Promise<void> {
  const child = startChild('crash-issuer.ts', [path, String(round)])
  // Every other may be hit before its first token.
  await child.line(round % 2 === 0 ? 'ready' : 'issued').then(() => wait(randomInt(60)))
  child.process.kill('SIGKILL')
  await child.ended
  const own = new Map<string, number>()
  for (const line of child.lines) {
    const [what, family = '', n] = line.split(' ')
    if (what === 'issued') own.set(family, Number(n))
  }
  const store = await openStore({ path })
  try {
    for (const [family, last] of own) await checkClaims(store.documents, family, await checkFamily(store, family, last))
    for (const [family, last] of own) issued.set(family, last)
    // Earlier families are as they were left.
    for (const [family, last] of issued) assert.ok(await store.tokens.getSession(hashKey(`token ${family} ${last}`)))
  } finally {
    await store.close()
  }
}

async function checkClaims(documents: SqliteStore['documents'], family: string, stored: number): Promise<void> {
  for (const n of new Set([0, stored - 1])) {
    if (n < 0 || n >= stored) continue
    const hash = hashKey(`refresh ${family} ${n}`)
    const claim = documents.commit([{ op: 'claimTicket', hash, sort: 'refresh', now: Date.now() }], undefined)
    await assert.rejects(claim, { code: 'ticket_unusable' })
  }
}

/** Looks at the tables themselves. */
function checkFile(file: string): void {
  const db = openReadable(file)
  const number = (sql: string) => Object.values(db.prepare(sql).get()!)[0] as number
  try {
    assert.deepEqual(db.prepare('PRAGMA integrity_check').all(), [{ __proto__: null, integrity_check: 'ok' }])
    const sessions = number('SELECT count(*) FROM session')
    assert.equal(number('SELECT count(*) FROM ticket'), sessions)
    assert.equal(number('SELECT count(*) FROM delivery'), sessions)
    assert.equal(number('SELECT count(*) FROM session_ref'), 3 * sessions)
    const families = number('SELECT count(DISTINCT family) FROM ticket')
    assert.equal(
      number('SELECT count(*) FROM ticket WHERE claimed_at = 0'),
      families,
      'one live refresh token a family',
    )
  } finally {
    db.close()
  }
}
