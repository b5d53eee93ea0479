import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashPassword } from '../../../src/model/passwords/passwords.ts'
import { keyWorld } from '../../worlds/dashboard/key-world.ts'

/** Hashed once. */
const PASSWORD = { basic_auth_data: { password: await hashPassword('Correct-horse-7') } }

/** Ways to create a key and to write it by the same call again: path and body. */
const WAYS: Readonly<Record<string, (session: JsonObject) => readonly [path: string, body: JsonObject]>> = {
  custom: (session) => ['/api/keys/a-key-of-its-own-choice', session],
  certificate: (session) => ['/api/keys', { ...session, certificate: 'ab'.repeat(32) }],
  'basic user': (session) => ['/api/apis/keys/basic/ann', { ...session, ...PASSWORD }],
}

test('a key expires as requested or by policy, the earlier, also after it was sent back', async (t) => {
  const world = await keyWorld(t)
  const { root, asked, clock } = world
  await world.api('shop')
  await world.policy('short', ['shop'], { key_expires_in: 1000 })
  await world.policy('never', ['shop'])
  const now = () => Math.floor(clock.wall() / 1000)
  /** The earliest of several ends; 0 = never. */
  const earlier = (...ends: number[]) => Math.min(...ends.map((end) => end || Number.POSITIVE_INFINITY))
  for (const [name, way] of Object.entries(WAYS))
    for (const policy of ['short', 'never'])
      for (const after of [undefined, 0, -1, 100, 5000]) {
        const told = `${name}, ${policy}, ${after}`
        const wanted = after === undefined ? {} : { expires: after > 0 ? now() + after : after }
        const [path, body] = way({ apply_policies: [policy], ...wanted })
        const made = (await asked(200, 'POST', path, root, body)) as { data: JsonObject; key_hash: string }
        const end = earlier(policy === 'short' ? now() + 1000 : 0, after !== undefined && after > 0 ? now() + after : 0)
        const expires = Number(made.data.expires ?? 0)
        assert.equal(expires > 0 ? expires : Number.POSITIVE_INFINITY, end, told)
        const preview = (await asked(200, 'POST', '/api/keys/preview', root, body)) as { data: JsonObject }
        if (after !== undefined && after > 0 && after < 1000) assert.equal(preview.data.expires, expires, told)
        // Later, so that a life that begins again is seen. Both as it was created and with another end, which nothing says twice.
        for (const changed of [undefined, now() + 300, now() + 9000]) {
          clock.advance(50_000)
          const one = `/api/keys/${made.key_hash}?hashed=1`
          const read = (await asked(200, 'GET', one, root)) as { data: JsonObject }
          const sent = changed === undefined ? read.data : { ...read.data, expires: changed }
          if (changed !== undefined) await asked(200, 'PUT', one, root, sent)
          const [again, back] = way(sent)
          const written = (await asked(200, 'POST', again, root, back)) as { data: JsonObject }
          assert.equal(written.data.expires ?? 0, sent.expires ?? 0, `${told}, sent back`)
        }
        await asked(200, 'DELETE', `/api/keys/${made.key_hash}?hashed=1`, root)
      }
})
