import assert from 'node:assert/strict'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { Store } from '../../../src/store/ports/ports.ts'

/**
 * Checks what `crash-issuer.ts` has left of a family, whose token `last` it had acknowledged: each token with its refresh token, the
 * use of the one before, and its message, or nothing of it. Answers the number of the newest token.
 */
export async function checkFamily(
  { tokens, outbox }: Pick<Store, 'tokens' | 'outbox'>,
  family: string,
  last: number,
): Promise<number> {
  const messages = (await outbox.list({ queue: family, dead: false, after: 0, limit: 1000 })).map(({ sealed }) =>
    Number(Buffer.from(sealed).toString()),
  )
  const stored = messages.length - 1
  assert.ok(stored >= last, `${family}: message ${last} was acknowledged, ${stored} is there`)
  assert.deepEqual(
    messages,
    messages.map((_, n) => n),
    'each message once and in order',
  )
  for (let n = 0; n <= stored + 1; n++) {
    const there = n <= stored
    const ticket = await tokens.getTicket(hashKey(`refresh ${family} ${n}`))
    assert.equal((await tokens.getSession(hashKey(`token ${family} ${n}`))) !== undefined, there, `token ${n}`)
    assert.equal(ticket !== undefined, there, `refresh token ${n}`)
    assert.equal((ticket?.claimedAt ?? 0) > 0, n < stored, `use of refresh token ${n} of ${stored}`)
  }
  return stored
}
