import assert from 'node:assert/strict'
import { argon2Sync } from 'node:crypto'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Fault } from '../../../src/errors/fault.ts'
import { PasswordGate } from '../../../src/model/passwords/password-gate.ts'
import { passwordRules } from '../../../src/model/passwords/password-rules.ts'
import { hashPassword, isPasswordHash, verifyPassword } from '../../../src/model/passwords/passwords.ts'

const cheap = (password: string) => {
  const nonce = Buffer.from('0123456789abcdef')
  const cost = { memory: 64, passes: 1, parallelism: 1 }
  const tag = argon2Sync('argon2id', { ...cost, message: password, nonce, tagLength: 32 })
  const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
  return `$argon2id$v=19$m=64,t=1,p=1$${text(nonce)}$${text(tag)}`
}

test('a password is kept as argon2id under a salt of its own, and only itself fits', async () => {
  const [one, other] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
  assert.match(one, /^\$argon2id\$v=19\$m=32768,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  assert.notEqual(one, other)
  assert.equal(await verifyPassword(one, 'correct horse'), true)
  assert.equal(await verifyPassword(one, 'correct horse '), false)
})

test('hashes of other products are checked by what they say of themselves', async () => {
  const hash = cheap('pässword')
  assert.equal(isPasswordHash(hash), true)
  assert.equal(await verifyPassword(hash, 'pässword'), true)
  assert.equal(await verifyPassword(hash, 'pa\u0308ssword'), true, 'the same characters, composed in another way')
  assert.equal(await verifyPassword(hash, 'password'), false)
  assert.equal(await verifyPassword(cheap(''), 'x'.repeat(5000)), false, 'one that is too long to be looked at')
})

for (const text of [
  '',
  'correct horse',
  '$2b$15$abcdefghijklmnopqrstuuJ8q0Zc6e1y8n3m3m3m3m3m3m3m3m3m3',
  '$argon2i$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$eqmn9CLN6ozmt3rVYkzXaV8sTjgl7Q3bRKbDdXsSYMI',
  '$argon2id$v=19$m=9999999,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$eqmn9CLN6ozmt3rVYkzXaV8sTjgl7Q3bRKbDdXsSYMI',
  '$argon2id$v=19$m=64,t=999,p=1$MDEyMzQ1Njc4OWFiY2RlZg$eqmn9CLN6ozmt3rVYkzXaV8sTjgl7Q3bRKbDdXsSYMI!',
  '$argon2id$v=19$m=64,t=0,p=1$MDEyMzQ1Njc4OWFiY2RlZg$eqmn9CLN6ozmt3rVYkzXaV8sTjgl7Q3bRKbDdXsSYMI',
]) {
  test(`no hash to check: ${text.slice(0, 40) || 'nothing'}`, () => assert.equal(isPasswordHash(text), false))
}

test('a user who is unknown costs what a wrong password costs', async () => {
  const hash = await hashPassword('correct horse')
  // In CPU time, under any load; the least of several, measured in turns.
  const spent = async (stored: string | undefined) => {
    const before = process.cpuUsage()
    assert.equal(await verifyPassword(stored, 'wrong'), false)
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const least = { unknown: Number.POSITIVE_INFINITY, wrong: Number.POSITIVE_INFINITY }
  const isAlike = () => least.unknown < 2 * least.wrong && least.wrong < 2 * least.unknown
  for (let tries = 0; tries < 3 || (tries < 20 && !isAlike()); tries++) {
    least.unknown = Math.min(least.unknown, await spent(undefined))
    least.wrong = Math.min(least.wrong, await spent(hash))
  }
  assert.ok(isAlike(), JSON.stringify(least))
})

test('two at a time go through, fifty wait, more are refused', { timeout: 120_000 }, async () => {
  const gate = new PasswordGate()
  let inside = 0
  let most = 0
  const opens: (() => void)[] = []
  const work = async () => {
    most = Math.max(most, ++inside)
    await new Promise<void>((resolve) => opens.push(resolve))
    inside--
  }
  const all = Array.from({ length: 53 }, () => gate.run(work))
  const refused = await Promise.race(
    all.map((each) =>
      each.then(
        () => undefined,
        (error: unknown) => error,
      ),
    ),
  )
  assert.ok(refused instanceof Fault)
  assert.equal(refused.code, 'passwords_busy')
  assert.equal(gate.waiting, 50)
  const done = Promise.allSettled(all)
  const opener = setInterval(() => opens.splice(0).forEach((open) => void open()), 1)
  const results = await done
  clearInterval(opener)
  assert.equal(most, 2)
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 52)
  assert.equal(gate.waiting, 0)
})

test('however many strangers wait, who signed in from an address before is checked soon', async () => {
  const gate = new PasswordGate()
  const done: string[] = []
  const opens: (() => void)[] = []
  const asked = (name: string, visitor: string, isKnown = false) =>
    gate
      .run(() => new Promise<void>((resolve) => opens.push(resolve)), { visitor, isKnown })
      .then(
        () => done.push(name),
        () => done.push(`${name} refused`),
      )
  // Two hold the slots, and as many addresses as may wait, and more, ask once each.
  const strangers = Array.from({ length: 80 }, (_, i) => asked('stranger', `stranger-${i}`))
  const own = [asked('owner', 'home', true), asked('owner', 'work', true)]
  const late = Array.from({ length: 20 }, (_, i) => asked('stranger', `late-${i}`))
  const opener = setInterval(() => opens.splice(0).forEach((open) => void open()), 1)
  await Promise.all([...strangers, ...own, ...late])
  clearInterval(opener)
  const checked = done.filter((name) => !name.endsWith('refused'))
  assert.equal(checked.length, 52)
  assert.ok(checked.slice(0, 8).filter((name) => name === 'owner').length === 2, checked.slice(0, 8).join())
})

test('work that fails gives its place back', async () => {
  const gate = new PasswordGate()
  for (let i = 0; i < 5; i++)
    await assert.rejects(
      gate.run(() => Promise.reject(new Error('no'))),
      /no/,
    )
  assert.equal(await gate.run(async () => 'through'), 'through')
})

test('threads that are started later share the gate of the process', { timeout: 120_000 }, async (t) => {
  const source = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData).then(async ({ passwordGate }) => {
      await passwordGate.run(() => new Promise((resolve) => {
        parentPort.postMessage('inside')
        parentPort.once('message', resolve)
      }))
      parentPort.close()
    })`
  const url = new URL('../../../src/model/passwords/password-gate.ts', import.meta.url)
  const { passwordGate } = (await import(url.href)) as typeof import('../../../src/model/passwords/password-gate.ts')
  const workers = [1, 2].map(() => new Worker(source, { eval: true, workerData: url.href }))
  t.after(() => Promise.all(workers.map((worker) => worker.terminate())))
  const inside = workers.map((worker) => new Promise((resolve) => worker.once('message', resolve)))
  const ended = workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve)))
  await Promise.all(inside)
  let through = false
  const own = passwordGate.run(async () => {
    through = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(through, false)
  assert.equal(passwordGate.waiting, 1)
  for (const worker of workers) worker.postMessage('go')
  await own
  await Promise.all(ended)
})

test('the rules of a schema file', () => {
  const rules = passwordRules({
    title: 'Basic',
    type: 'string',
    minLength: 8,
    multiCase: true,
    minNumeric: 2,
    minSpecial: 1,
    disableSequential: true,
  })
  assert.deepEqual(rules('Kx7!mQ2zT'), [])
  assert.match(rules('Kx7!mQ2').join(), /fewer than 8/)
  assert.match(rules('kx7!mq2zt').join(), /upper and lower/)
  assert.match(rules('Kx7!mQzTw').join(), /at least 2 digits/)
  assert.match(rules('Kx71mQ2zT').join(), /at least 1 special character$/)
  for (const row of ['abc', '789', '111', 'xxx', 'cba', 'ABC'])
    assert.match(rules(`Kx7!mQ2zT${row}`).join(), /three|3 characters in a row/, row)
  assert.deepEqual(rules('Kx7!mQ2zTabd'), [])
  assert.equal(rules('').length, 1)
  assert.equal(rules('Aa1!'.repeat(300)).length, 1)
})

test('without a file eight characters are required; unknown rules are refused', () => {
  const rules = passwordRules()
  assert.deepEqual([rules('1234567').length, rules('12345678').length], [1, 0])
  for (const schema of [{ type: 'string', minLenght: 8 }, { type: 'string', minNumeric: 'two' }, { type: 'text' }])
    assert.throws(
      () => passwordRules(schema),
      (error) => error instanceof Fault && error.code === 'setting_invalid',
    )
})
