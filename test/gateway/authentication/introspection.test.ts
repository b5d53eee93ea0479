import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Introspection } from '../../../src/gateway/authentication/introspection.ts'
import { silentLog } from '../../../src/model/logs/log.ts'

const RULES = { url: 'https://idp.example/', clientId: 'me', clientSecret: 's', identityClaims: ['sub'], cacheMs: 0 }
const ACTIVE = Buffer.from('{"active":true,"sub":"ann"}')

test('an issuer is asked once about a token at a time, and not about more than 256', async () => {
  const open: (() => void)[] = []
  const introspection = new Introspection(RULES, {
    clock: { wall: () => 0, mono: () => 0 },
    log: silentLog,
    post: () => new Promise((resolve) => open.push(() => resolve(ACTIVE))),
  })
  const first = introspection.ask('a')
  assert.equal(introspection.ask('a'), first)
  const others = Array.from({ length: 255 }, (_, i) => introspection.ask(`b${i}`))
  assert.equal(open.length, 256)
  assert.equal(introspection.ask('c'), undefined)
  for (const answer of open) answer()
  for (const asked of [first, ...others]) assert.equal((await asked)?.active, true)
  void introspection.ask('c')
  void introspection.ask('a')
  assert.equal(open.length, 258)
})
