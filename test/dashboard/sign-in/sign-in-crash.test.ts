import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'
import { Browser, meta } from '../../worlds/dashboard/sign-in-world.ts'
import { startChild } from '../../worlds/store/child.ts'

const KILLS = process.env.GATEHOUSE_DEEP === '1' ? 15 : 2

/** How many of the last codes are tried again. */
const CODES = 8

test(`${KILLS} killed dashboards keep sessions, ended sessions and used codes as they were`, async (t) => {
  let signIns = 0
  for (let round = 0; round < KILLS; round++) {
    const path = temporaryFolder(t)
    const sealKey = randomBytes(32)
    const child = startChild('../dashboard/crash-sign-in.ts', [path, sealKey.toString('hex')])
    const [, email = ''] = (await child.line('ready')).split(' ')
    await child.line('out')
    await wait(randomInt(300))
    child.process.kill('SIGKILL')
    await child.ended
    const said = child.lines.map((line) => line.split(' '))
    const [came, left] = ['in', 'out'].map((word) => said.filter(([what]) => what === word))
    const ended = new Set(left!.map(([, cookie]) => cookie))
    const clock = new FakeClock()
    const store = await openStore({ path, clock })
    const env = { SVC_DB_SECURITY_LOGINFAILUREUSERNAMELIMIT: '0', SVC_DB_SECURITY_LOGINFAILUREIPLIMIT: '0' }
    const world = await startTestDashboard({ store, clock, parts: { sealKey }, env })
    try {
      let checked = 0
      for (const [, cookie = '', code = '', plan] of came!.reverse()) {
        const browser = new Browser(world)
        browser.cookie = cookie
        if (ended.has(cookie)) assert.equal(await browser.isIn(), false)
        else if (plan === 'stays') {
          assert.equal(await browser.isIn(), true)
          signIns++
        }
        if (checked++ >= CODES) continue
        const thief = new Browser(world)
        const { ticket } = meta(await thief.login(email))
        const answer = await thief.send('POST', '/api/login/continue', { ticket, recovery_code: code })
        assert.equal(answer.status, 401, 'a code that was used opens nothing')
      }
    } finally {
      await world.close()
      await store.close()
    }
  }
  assert.ok(signIns > 0)
})
