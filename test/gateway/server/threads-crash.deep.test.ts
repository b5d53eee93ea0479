import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { type Answer, call } from '../../worlds/base/client.ts'
import { rights } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { BASIC, FORM } from '../../worlds/cluster/acts.ts'
import { storeWorld } from '../../worlds/cluster/history-play.ts'
import { type Product, startProduct } from '../../worlds/flows/product.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const skip = process.platform === 'linux' || process.platform === 'freebsd' ? false : 'no port can be shared'
const KILLS = 2
const QUOTA = 1_000_000
/** Of each kind of acknowledgement before a process may be killed. */
const LEAST = 15
const CALLERS = 3
/** The latest that are asked for after a start. */
const CHECKED = 40

/** The knowledge of a credential: `unsure` = an end of it was asked for, and nobody heard the answer. */
type State = 'good' | 'unsure' | 'ended'

/** The acknowledgements of one installation. */
class Acknowledged {
  readonly keys = new Map<string, State>()
  readonly tokens = new Map<string, State>()
  /** Uses of the quota since the last start: when each was answered. */
  uses: number[] = []
  /** Uses of the quota in all: asked for, and surely counted. */
  asked = 0
  counted = 0
  revision = 0

  /** A good one, which its caller alone is to end. */
  pick(credentials: Map<string, State>): string | undefined {
    const good = [...credentials].filter(([, state]) => state === 'good').map(([name]) => name)
    if (good.length < LEAST) return undefined
    const name = good[randomInt(good.length)]!
    credentials.set(name, 'unsure')
    return name
  }
}

/** Calls until nobody answers any more. */
function play(product: Product, quotaKey: string, known: Acknowledged): Promise<unknown> {
  const ask = (path: string, headers: Record<string, string>, body = '') =>
    call(product.port, path, { method: 'POST', headers, body })
  const acts: (() => Promise<void>)[] = [
    async () => {
      const answer = await product.svc('POST', '/svc/keys/create', { access_rights: rights('shop') })
      known.keys.set(String(good(answer).key), 'good')
    },
    async () => {
      const key = known.pick(known.keys)
      if (key === undefined) return void (await wait(5))
      good(await product.svc('DELETE', `/svc/keys/${key}`))
      known.keys.set(key, 'ended')
    },
    async () => {
      const answer = await ask('/tok/oauth/token', { ...BASIC, ...FORM }, 'grant_type=client_credentials')
      known.tokens.set(String(good(answer).access_token), 'good')
    },
    async () => {
      const token = known.pick(known.tokens)
      if (token === undefined) return void (await wait(5))
      const { status, text } = await ask('/tok/oauth/revoke', { ...BASIC, ...FORM }, `token=${token}`)
      assert.equal(status, 200, text)
      known.tokens.set(token, 'ended')
    },
    async () => {
      known.asked++
      good(await product.call('/shop/x', { authorization: quotaKey }))
      known.uses.push(performance.now())
    },
  ]
  const running = acts.flatMap((act) => Array.from({ length: CALLERS }, () => untilRefused(act)))
  return Promise.all(running)
}

async function untilRefused(act: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await act()
    } catch (error) {
      // Its process was killed.
      if (error instanceof assert.AssertionError) throw error
      return
    }
  }
}

function good({ status, text, json }: Answer): Record<string, unknown> {
  assert.equal(status, 200, text)
  return json as Record<string, unknown>
}

/** Asks for what was acknowledged before, each on connections of its own, so that the system picks the threads. */
async function check(product: Product, quotaKey: string, known: Acknowledged): Promise<void> {
  const statusesOf = (path: string, authorization: string) =>
    Promise.all([1, 2, 3].map(async () => (await product.call(path, { authorization })).status))
  for (const [name, state] of [...known.keys].slice(-CHECKED)) {
    if (state === 'unsure') continue
    assert.deepEqual(await statusesOf('/shop/x', name), Array(3).fill(state === 'good' ? 200 : 403), `key ${state}`)
  }
  for (const [name, state] of [...known.tokens].slice(-CHECKED)) {
    if (state === 'unsure') continue
    const statuses = await statusesOf('/tok/x', `Bearer ${name}`)
    assert.deepEqual(statuses, Array(3).fill(state === 'good' ? 200 : 401), `token ${state}`)
  }
  const answer = await product.call('/shop/x', { authorization: quotaKey })
  assert.equal(answer.status, 200, answer.text)
  known.asked++
  const used = QUOTA - Number(answer.headers['x-ratelimit-remaining'])
  const atLeast = known.counted + beforeTheLastSecond(known.uses) + 1
  assert.ok(used >= atLeast && used <= known.asked, `${used} uses: at least ${atLeast}, at most ${known.asked}`)
  known.counted = used
  known.uses = []
}

/** While the machine was stalled nothing could be saved. */
function beforeTheLastSecond(times: readonly number[]): number {
  const stalledMs = times.slice(1).reduce((longest, time, i) => Math.max(longest, time - times[i]!), 0)
  return times.filter((time) => time <= times.at(-1)! - 1000 - 2 * stalledMs).length
}

async function killAgainAndAgain(t: TestContext, threads: number): Promise<void> {
  const [cwd, known] = [temporaryFolder(t), new Acknowledged()]
  const origin = await startOrigin()
  t.after(() => origin.close())
  const env = { SVC_GW_WORKERS: String(threads), SVC_GW_ACCESSLOG: 'false' }
  let quotaKey = ''
  for (let round = 0; round < KILLS; round++) {
    const product = await startProduct(t, cwd, env)
    if (round === 0) quotaKey = await storeWorld(product, origin.url, QUOTA)
    else await check(product, quotaKey, known)
    const before = [known.keys.size, known.tokens.size]
    const playing = play(product, quotaKey, known)
    // A finding of it is thrown below.
    playing.catch(() => {})
    await eventually('each kind was acknowledged', async () => {
      const ended = [...known.keys.values(), ...known.tokens.values()].some((state) => state === 'ended')
      const more = [known.keys.size - before[0]!, known.tokens.size - before[1]!, known.uses.length]
      return ended && more.every((count) => count >= LEAST)
    })
    await wait(randomInt(1500))
    product.signal('SIGKILL')
    await Promise.all([product.ended, playing])
  }
  const product = await startProduct(t, cwd, env)
  await check(product, quotaKey, known)
  // A signal to stop loses nothing.
  assert.equal(await product.stop(), 0)
  const store = await openStore({ path: join(cwd, 'data') })
  t.after(() => store.close())
  const rows = await store.hits.sum({ fromHour: 0, toHour: 1e9, where: { apiId: 'shop' }, limit: 100 })
  t.diagnostic(`${known.keys.size} keys, ${known.tokens.size} tokens, ${known.counted} of ${known.asked} uses`)
  assert.ok(rows.reduce((sum, { count }) => sum + count, 0) > 0)
}

for (const threads of [2, 4])
  test(`a process of ${threads} gateway threads that is killed loses nothing acknowledged`, { skip }, (t) =>
    killAgainAndAgain(t, threads),
  )
