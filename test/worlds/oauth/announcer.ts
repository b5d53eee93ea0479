// A process that gives out some tokens, each with its notice in the same commit, tells which were acknowledged, and sends the
// notices meanwhile, until it is killed.

import { silentLog } from '../../../src/model/logs/log.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { systemClock } from '../../../src/model/time/clock.ts'
import { Deliveries } from '../../../src/oauth/webhooks/deliver-webhooks.ts'
import { deliveryOf } from '../../../src/oauth/webhooks/webhook-messages.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { apiOf, noticeOf, SEAL_KEY } from './notifications.ts'

const [path = '', round = '0', target = ''] = process.argv.slice(2)
const say = (...words: string[]) => process.stdout.write(`${words.join(' ')}\n`)
// A test that fails must not leave it behind.
process.stdin.on('end', () => process.exit()).resume()

const store = await openStore({ path })
const { documents, outbox } = store
const parts = { documents, outbox, clock: systemClock, log: silentLog, sealKey: SEAL_KEY, allowPrivate: true }
const findApi = (apiId: string) => apiOf(apiId, target)
const deliveries = new Deliveries({ ...parts, findApi })
deliveries.start()
say('ready')

/** So few that a process often gets to the end of them before it is killed, so often does not. */
const TOKENS = 6

/** Gives out the tokens of one API, one after the other, as fast as the store takes them. */
async function giveOut(apiId: string): Promise<void> {
  const refs = { orgId: 'o', apiIds: [apiId], policyIds: [], clientId: 'c', evictAt: 0 }
  for (let n = 0; n < TOKENS; n++) {
    const token = `${apiId}:${round}:${n}`
    const delivery = deliveryOf(parts, findApi(apiId), noticeOf(token))!
    await documents.commit(
      [{ op: 'putSession', hash: hashKey(token), row: { body: {}, ...refs } }, delivery],
      undefined,
    )
    say('token', token)
    deliveries.wake()
  }
}

await Promise.all([giveOut('a'), giveOut('b')])
