import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { forward, type Gate, openGate } from '../../worlds/wire/gate.ts'
import { type Origin, openOrigin } from '../../worlds/wire/origin.ts'
import { below, seeded } from '../../worlds/wire/random.ts'
import { Client, statusOf, until } from '../../worlds/wire/raw.ts'
import { bytesOf, CASES, type RawCase } from '../../worlds/wire/raw-cases.ts'
import { nothingLeft } from '../../worlds/wire/until-quiet.ts'
import { complaints, type Expectation, type Outcome, observe, PROBE, takeCalls } from '../../worlds/wire/verdict.ts'

const ROUNDS = process.env.GATEHOUSE_DEEP === '1' ? 10 : 1
const SEED = Number(process.env.GATEHOUSE_SEED ?? 1)

/** Borders of single bytes, for the first 250 and the last 150 where there are more. */
function everyByte(length: number): number[] {
  const cuts: number[] = []
  for (let at = 1; at < length; at++) if (at <= 250 || at >= length - 150) cuts.push(at)
  return cuts
}

async function run(gate: Gate, origin: Origin, one: RawCase, cuts: readonly number[]): Promise<Outcome> {
  const expectations = [one.expect].flat() as readonly Expectation[]
  const client = await Client.connect(gate.port)
  const seen = observe(client, expectations, one.methods ?? [])
  seen.catch(() => {})
  await client.writeCut(bytesOf(one.send), cuts)
  if (one.end === true) client.end()
  const { answers, closed } = await seen
  client.destroy()
  await probeAnother(gate)
  await until('every exchange ends', () => gate.inFlight() === 0)
  await until('every upstream leg ends', () => origin.calls.length >= origin.heads.length)
  return { answers, closed, calls: takeCalls(origin) }
}

/** Nothing that one connection sends may trouble another. */
async function probeAnother(gate: Gate): Promise<void> {
  const other = await Client.connect(gate.port)
  const answer = await other.ask(PROBE)
  other.destroy()
  assert.equal(statusOf(answer), 200, 'another connection is served')
}

/** Number of the expectation that fits. @throws AssertionError with the complaints of the one that fits best */
function verdict(one: RawCase, outcome: Outcome, how: string): number {
  const all = ([one.expect].flat() as readonly Expectation[]).map((expected) => complaints(expected, outcome))
  const best = all.reduce((least, found, i) => (found.length < (all[least]?.length ?? 0) ? i : least), 0)
  assert.deepEqual(all[best], [], `${how}, RFC ${one.rfc}: ${JSON.stringify(outcome.answers.map((a) => a.start))}`)
  return best
}

for (const file of readdirSync(CASES).filter((name) => name.endsWith('.json'))) {
  test(file, async (t) => {
    const cases = JSON.parse(readFileSync(new URL(file, CASES), 'utf8')) as RawCase[]
    const names = cases.map((one) => one.name)
    assert.equal(new Set(names).size, names.length, 'every case has a name of its own')
    const random = seeded(SEED)
    const origin = await openOrigin(t)
    const gate = await openGate(t, { originPort: origin.port })
    const waiting = await openGate(t, {
      originPort: origin.port,
      handle: (x, upstream) => void setImmediate(() => forward(x, upstream)),
    })
    for (const one of cases) {
      await t.test(one.name, async () => {
        const length = bytesOf(one.send).length
        takeCalls(origin)
        const whole = verdict(one, await run(gate, origin, one, []), 'sent whole')
        const bytewise = verdict(one, await run(gate, origin, one, everyByte(length)), 'sent byte by byte')
        assert.equal(bytewise, whole, 'the same verdict byte by byte')
        for (let round = 0; round < ROUNDS; round++) {
          const cut = 1 + below(random, length)
          const how = `cut at ${cut}, handled later`
          assert.equal(verdict(one, await run(waiting, origin, one, [cut]), how), whole, how)
        }
      })
    }
    await nothingLeft(gate)
    await nothingLeft(waiting)
    assert.deepEqual(origin.failures, [], 'the upstream was never sent bad framing')
  })
}

test('the HTTP/2 preface is answered in frames or refused, and reaches no upstream', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port })
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  const settings = Buffer.from('000000040000000000', 'hex')
  for (const cuts of [[], everyByte(preface.length)]) {
    const client = await Client.connect(gate.port)
    await client.writeCut(Buffer.concat([preface, settings]), cuts)
    const said = await client.inbox.toEnd()
    const asText = /^HTTP\/1\.1 (?:400|505) /.test(said.toString('latin1'))
    assert.ok(asText || said[3] === 4, `a refusal or a SETTINGS frame: ${said.toString('hex')}`)
    client.destroy()
    await probeAnother(gate)
  }
  assert.deepEqual(takeCalls(origin), [])
})

test('there are at least 150 cases', () => {
  const files = readdirSync(CASES).filter((name) => name.endsWith('.json'))
  const all = files.flatMap((file) => JSON.parse(readFileSync(new URL(file, CASES), 'utf8')) as RawCase[])
  assert.ok(all.length >= 150, String(all.length))
})
