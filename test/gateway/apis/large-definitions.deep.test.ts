import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway, TEST_SECRET } from '../../worlds/base/harness.ts'
import { type Turns, turnsOf } from '../../worlds/base/turns.ts'
import { largeDefinitions } from '../../worlds/model/large-definitions.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

/** A turn may cost so many times what it costs to read a definition from its text and to write it twice; reading it as an API costs far more. */
const MOST_TIMES = 45
const JSON_TYPE = { 'content-type': 'application/json' }

/** Processor time of reading a text and writing it twice: its clock is coarse, so the mean of many. */
function costOfOne(text: string): number {
  const rounds = 30
  const before = process.threadCpuUsage()
  for (let round = 0; round < rounds; round++) {
    const value = JSON.parse(text)
    JSON.stringify(value)
    JSON.stringify(value)
  }
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000 / rounds
}

/** The turns of saving a definition, of a first request that fits it, and of one that does not. */
async function lifeOf(t: TestContext, name: string, definition: JsonObject, text: string): Promise<Turns[]> {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const { info } = definition['x-svc-api-gateway'] as { info: { id: string } }
  const call = (path: string, body: string, headers: Readonly<Record<string, string>> = JSON_TYPE) =>
    turnsOf(async () => {
      const { status, text: said } = await gateway.call(path, { method: 'POST', body, headers })
      assert.ok([200, 422].includes(status), `${name} ${status}: ${said.slice(0, 500)}`)
    })
  return [
    await call('/svc/apis/oas', text, { ...JSON_TYPE, 'x-svc-authorization': TEST_SECRET }),
    await call(`/${info.id}/things/0`, '{}'),
    await call(`/${info.id}/things/0`, '1'),
  ]
}

test('no definition at its bounds stops the gateway for long, by its save or its first requests', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const wrong: string[] = []
  for (const [name, definition] of Object.entries(largeDefinitions(origin.url))) {
    const text = JSON.stringify(definition)
    const one = costOfOne(text)
    const seen: string[] = []
    // A collection of garbage may fall into any turn, but not into the same one each time.
    for (let round = 0; round < 4; round++) {
      const times = (await lifeOf(t, name, definition, text)).map(({ longestMs }) => Math.round(longestMs / one))
      seen.push(times.join(' '))
      if (Math.max(...times) <= MOST_TIMES) break
    }
    t.diagnostic(`${name}: a turn costs at most ${seen.join(', ')} times one (${one.toFixed(1)} ms)`)
    if (seen.length === 4) wrong.push(`${name}: ${seen.join(', ')}`)
  }
  assert.deepEqual(wrong, [])
})
