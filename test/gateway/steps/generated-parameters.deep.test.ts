import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { checkParameters, generatedParameters } from '../../worlds/gateway/generated-parameters.ts'

test('parameters of every style are judged as an independent validator judges their values', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const verdicts = { fits: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(generatedParameters, (parameters) => checkParameters(gate, parameters, verdicts)),
    { numRuns: 120 },
  )
  assert.ok(verdicts.fits > 300 && verdicts.refused > 300, JSON.stringify(verdicts))
})
