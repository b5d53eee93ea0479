import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { DocumentId } from '../../../../src/model/documents/ids.ts'
import { FakeClock } from '../../../../src/model/time/clock.ts'
import type { Store } from '../../../../src/store/ports/ports.ts'
import { openStore } from '../../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../../contract/adapters.ts'
import { eventually } from '../../../worlds/base/eventually.ts'
import { assertSound, countFlaws } from '../../../worlds/portal/developer-world.ts'
import { startChild } from '../../../worlds/store/child.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'
const KILLS = DEEP ? 15 : 1

test(`${KILLS} dashboards killed amid additions and deletions: keys, apps and records stay together`, async (t) => {
  const path = temporaryFolder(t)
  const sealKey = randomBytes(32).toString('hex')
  let kept = 0
  for (let round = 0; round < KILLS; round++) {
    const child = startChild('../portal/crash-holdings.ts', [path, sealKey, String(round)])
    t.after(() => child.process.kill('SIGKILL'))
    await child.line('ready')
    await eventually('keys were made', () => child.lines.filter((line) => line.startsWith('key ')).length > 30)
    await wait(randomInt(DEEP ? 1500 : 200))
    child.process.kill('SIGKILL')
    await child.ended
    const store = await openStore({ path, clock: new FakeClock() })
    try {
      await assertSound(store)
      assert.deepEqual(await countFlaws(store), [])
      kept += await assertAnswered(
        store,
        child.lines.map((line) => line.split(' ')),
      )
    } finally {
      await store.close()
    }
  }
  assert.ok(kept > 0)
})

/** Checks that acknowledged rows exist, unless a call was under way that deletes them. Returns how many keys and apps exist. */
async function assertAnswered(store: Store, said: readonly string[][]): Promise<number> {
  let kept = 0
  for (const [when, [what, id = '', developer = '', call, ...policies]] of said.entries()) {
    if (what === 'gone') assert.equal(await keyThere(store, id), false, `${id} was revoked`)
    if (what === 'left') assert.equal(await store.documents.get('developer', id as DocumentId), undefined)
    if (what !== 'key' && what !== 'app') continue
    const began = said.findIndex(([doing, named]) => doing === 'asking' && named === call)
    const doomed = said.some(
      ([doing, named = ''], at) =>
        (doing === 'going' && at > when && named === id) ||
        (doing === 'leaving' && named === developer) ||
        // A policy that was being deleted meanwhile, or is since, may take it along.
        (doing === 'dropping' && policies.includes(named) && !endedBefore(said, at, began, named)),
    )
    if (doomed) continue
    const there = what === 'key' ? await keyThere(store, id) : await appThere(store, id)
    assert.ok(there, `${what} ${id} was answered and is gone`)
    kept++
  }
  return kept
}

/** True when the deletion that began at `from` had ended, one way or the other, before `at`. */
function endedBefore(said: readonly string[][], from: number, at: number, policy: string): boolean {
  return said.slice(from + 1, at).some(([what, named]) => named === policy && (what === 'dropped' || what === 'policy'))
}

async function keyThere(store: Store, hash: string): Promise<boolean> {
  return (await store.tokens.getSession(Buffer.from(hash, 'hex'))) !== undefined
}

async function appThere(store: Store, clientId: string): Promise<boolean> {
  return (await store.documents.find('oauth_client', 'client_id', clientId)) !== undefined
}
