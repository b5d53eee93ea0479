import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Introspection } from '../../../src/gateway/authentication/introspection.ts'
import { silentLog } from '../../../src/model/logs/log.ts'

const RULES = { url: 'https://idp.example/', clientId: 'me', clientSecret: 's', identityClaims: ['sub'], cacheMs: 0 }
const ACTIVE = Buffer.from('{"active":true,"sub":"ann"}')

test('an issuer is asked once about a token, and one address gets a part of the questions', async () => {
  const open: (() => void)[] = []
  const introspection = new Introspection(RULES, {
    clock: { wall: () => 0, mono: () => 0 },
    log: silentLog,
    post: () => new Promise((resolve) => open.push(() => resolve(ACTIVE))),
  })
  const first = introspection.ask('a', '::1')
  assert.equal(introspection.ask('a', '::2'), first)
  const taken = [first]
  for (let i = 0; i < 1000; i++) taken.push(introspection.ask(`b${i}`, '::1'))
  const asked = taken.filter((answer) => answer !== undefined)
  assert.ok(asked.length >= 128 && asked.length <= 256, String(asked.length))
  assert.equal(open.length, asked.length)
  const other = introspection.ask('c', '192.0.2.1')
  assert.notEqual(other, undefined)
  for (const answer of open) answer()
  for (const answer of [...asked, other]) assert.equal((await answer)?.active, true)
  // From where active tokens came more are taken.
  open.length = 0
  for (let i = 0; i < 1000; i++) void introspection.ask(`d${i}`, '192.0.2.1')
  assert.ok(open.length >= 250 && open.length <= 256, String(open.length))
})

test('answers are remembered as far as memory is meant for them', async () => {
  let asked = 0
  const introspection = new Introspection(
    { ...RULES, cacheMs: 1000 },
    {
      clock: { wall: () => 0, mono: () => 0 },
      log: silentLog,
      post: () => {
        asked++
        return Promise.resolve(Buffer.from(JSON.stringify({ active: true, sub: 'x'.repeat(60_000) })))
      },
    },
  )
  const ask = async (count: number) => {
    for (let i = 0; i < count; i++) await introspection.ask(`t${i}`, '::1')
  }
  await ask(60)
  await ask(60)
  assert.equal(asked, 60)
  await ask(200)
  await ask(200)
  assert.ok(asked > 300, String(asked))
})
