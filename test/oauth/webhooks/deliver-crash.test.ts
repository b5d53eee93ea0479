import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { silentLog } from '../../../src/model/logs/log.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { systemClock } from '../../../src/model/time/clock.ts'
import { Deliveries } from '../../../src/oauth/webhooks/deliver-webhooks.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { apiOf, openBench, SEAL_KEY, SHARED_SECRET, settled } from '../../worlds/oauth/notifications.ts'
import { type Receiver, startReceiver } from '../../worlds/oauth/receiver.ts'
import { startChild } from '../../worlds/store/child.ts'

// Two lanes with separate folders, one per core.
const LANES = 2
const KILLS = process.env.GATEHOUSE_DEEP === '1' ? 50 : 4

test(`${LANES * KILLS} processes killed between a token and its notice announce every token, in order`, async (t) => {
  const totals = await Promise.all(Array.from({ length: LANES }, () => lane(t)))
  const sum = (pick: (total: (typeof totals)[number]) => number) => totals.reduce((all, total) => all + pick(total), 0)
  const [waiting, sent] = [sum(({ waitedAtKill }) => waitedAtKill), sum(({ sentBetween }) => sentBetween)]
  t.diagnostic(
    `${sum(({ tokens }) => tokens)} tokens given out, ${waiting} not announced when their process died; ${sent} notices sent between kills`,
  )
  assert.ok(waiting > LANES * KILLS * 0.5, 'processes died with notices to send')
  assert.ok(sent > LANES * KILLS * 0.4, 'processes died while they sent')
})

async function lane(t: TestContext): Promise<{ tokens: number; waitedAtKill: number; sentBetween: number }> {
  const path = temporaryFolder(t)
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  const given: string[] = []
  let waitedAtKill = 0
  for (let round = 0; round < KILLS; round++) {
    const child = startChild('../oauth/announcer.ts', [path, String(round), receiver.url])
    await child.line('ready')
    // half of them die while they give out tokens, half while they send notices
    const before = receiver.received.length
    if (round % 2 === 1) await eventually('a notice arrives', () => receiver.received.length > before)
    await wait(randomInt(round % 2 === 1 ? 20 : 60))
    child.process.kill('SIGKILL')
    await child.ended
    const tokens = child.lines.filter((line) => line.startsWith('token ')).map((line) => line.slice('token '.length))
    const arrived = new Set(tokensAt(receiver))
    waitedAtKill += tokens.filter((token) => !arrived.has(token)).length
    given.push(...tokens)
  }
  const sentBetween = receiver.received.length
  await sendTheRest(path, receiver.url, given[0]!)
  check(tokensAt(receiver), given)
  return { tokens: given.length, waitedAtKill, sentBetween }
}

/** The messages that a start after the last kill sends; the first token that was issued still exists. */
async function sendTheRest(path: string, target: string, first: string): Promise<void> {
  const { documents, outbox, tokens, close } = await openStore({ path })
  const parts = { documents, outbox, clock: systemClock, log: silentLog, sealKey: SEAL_KEY, allowPrivate: true }
  const deliveries = new Deliveries({ ...parts, findApi: (apiId) => apiOf(apiId, target) })
  try {
    deliveries.start()
    await eventually('all are sent', async () => (await outbox.nextAt()) === undefined)
    assert.ok(await tokens.getSession(hashKey(first)))
  } finally {
    await deliveries.close()
    await close()
  }
}

const tokensAt = ({ received }: Receiver) =>
  received.map(({ body }) => (JSON.parse(body) as { new_oauth_token: string }).new_oauth_token)

function check(arrived: readonly string[], given: readonly string[]): void {
  const all = new Set(arrived)
  assert.deepEqual(
    given.filter((token) => !all.has(token)),
    [],
    'tokens without a notice',
  )
  for (const apiId of ['a', 'b']) {
    const own = arrived.filter((token) => token.startsWith(`${apiId}:`)).map((token) => token.split(':').map(Number))
    for (const [i, [, round = 0, n = 0]] of own.entries()) {
      const [, roundBefore = 0, before = -1] = own[i - 1] ?? []
      // the one that was under way when the process died may come a second time, nothing older
      assert.ok(
        round > roundBefore || (round === roundBefore && n >= before),
        `${apiId}: ${own[i]} after ${own[i - 1]}`,
      )
    }
  }
}

test('neither the data folder nor the log ever holds a token or the shared secret in clear', async (t) => {
  const path = temporaryFolder(t)
  const store = await openStore({ path })
  t.after(() => store.close())
  const bench = openBench(t, { store })
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  receiver.script = ({ body }, response) => response.writeHead(500).end(`no: ${body}`)
  bench.targets.set('a', `${receiver.url}?key=hidden-in-the-address`)
  const token = await bench.announce('a', 'a-token-that-nobody-may-read')
  const deliveries = bench.start()
  await eventually('it was tried', () => receiver.received.length === 1)
  await settled(bench)
  assert.match(receiver.received[0]!.body, /a-token-that-nobody-may-read/)
  bench.clock.advance(86_400_000)
  deliveries.wake()
  await eventually('it was given up', async () => (await bench.rows('a'))[0]!.dead)
  const secrets = [token, SHARED_SECRET, 'hidden-in-the-address', 'notification_type']
  const files = readdirSync(path).map((name) => readFileSync(join(path, name), 'latin1'))
  assert.ok(
    files.some((text) => text.includes('answered 500')),
    'the file that holds the message was read',
  )
  for (const text of [...files, JSON.stringify(bench.log)])
    for (const secret of secrets) assert.equal(text.includes(secret), false, secret)
  assert.ok(bench.log.length > 0)
})
