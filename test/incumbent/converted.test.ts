import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { spread } from '../worlds/base/spread.ts'
import { definitionsWith, generatedDefinitions, generatedRequests, PLACES } from '../worlds/incumbent/generated.ts'
import { startTwoForms } from '../worlds/incumbent/two-forms.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'

/** Definitions of which so many are tried; in long runs as many as a minute allows. */
const RUNS = DEEP ? { numRuns: 1_000_000, interruptAfterTimeLimit: 60_000 } : { numRuns: 40 }

test('random classic definitions and what they are converted to answer alike', async (t) => {
  const forms = await startTwoForms()
  t.after(() => forms.close())
  let tried = 0
  let served = 0
  let sent = 0
  const property = fc.asyncProperty(generatedDefinitions, generatedRequests, async (definition, requests) => {
    const { refused, differences } = await forms.compare(definition, requests)
    tried++
    if (refused === undefined) served++
    if (refused === undefined) sent += requests.length
    assert.deepEqual(differences, [])
  })
  await fc.assert(property, { ...RUNS, markInterruptAsFailure: false })
  t.diagnostic(`${tried} definitions, ${served} of them served, ${sent} requests to each form`)
  assert.ok(served > tried / 3, `only ${served} of ${tried} definitions were served`)
})

test('each member of classic definitions does the same once it is converted', async (t) => {
  const forms = await startTwoForms()
  t.after(() => forms.close())
  for (const place of spread(PLACES, 0, 10)) {
    const each = fc.asyncProperty(definitionsWith(place), generatedRequests, async (definition, requests) => {
      assert.deepEqual((await forms.compare(definition, requests)).differences, [])
    })
    await fc.assert(each, { numRuns: DEEP ? 2 : 1 })
  }
})
