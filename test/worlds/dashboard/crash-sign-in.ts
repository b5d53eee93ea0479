// A dashboard that signs one user in and out without end and says what it was answered: `crash-sign-in.ts FOLDER SEAL-KEY`.

import { writeSync } from 'node:fs'
import { newRecoveryCodes, recoveryHmac } from '../../../src/dashboard/sign-in/totp.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { startTestDashboard } from './harness.ts'
import { Browser, meta, person, rewrite } from './sign-in-world.ts'

const [path = '', seal = ''] = process.argv.slice(2)
const LANES = 3
const sealKey = Buffer.from(seal, 'hex')
// The same clock as the dashboard: else what it stores has expired long ago.
const clock = new FakeClock()
const store = await openStore({ path, clock })
const world = await startTestDashboard({
  store,
  clock,
  parts: { sealKey },
  env: { SVC_DB_SECURITY_LOGINFAILUREUSERNAMELIMIT: '0' },
})
const say = (...words: string[]) => writeSync(1, `${words.join(' ')}\n`)

const ada = await person(world)
const codes = Array.from({ length: 60 }, newRecoveryCodes).flat()
// Any passkey makes it ask for a second factor.
const passkeys = [
  {
    id: 'none',
    public_key: 'none',
    counter: 0,
    transports: [],
    name: '',
    backed_up: false,
    created_at: '',
    last_used: '',
  },
]
await rewrite(world, ada.id, { passkeys, recovery_codes: codes.map((code) => recoveryHmac(sealKey, ada.id, code)) })
say('ready', ada.email, world.orgId)

await Promise.all(Array.from({ length: LANES }, signInAndOut))

async function signInAndOut(): Promise<void> {
  for (let round = 0; ; round++) {
    const code = codes.pop()
    if (code === undefined) return
    const browser = new Browser(world)
    const { ticket } = meta(await browser.login(ada.email))
    const answer = await browser.send('POST', '/api/login/continue', { ticket, recovery_code: code })
    if (browser.cookie === '') throw new Error(answer.text)
    const stays = round % 2 === 0
    say('in', browser.cookie, code, stays ? 'stays' : 'goes')
    if (stays) continue
    const { cookie } = browser
    await browser.send('POST', '/api/logout')
    say('out', cookie)
  }
}
