import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { checkDocument, generatedDocuments, type Verdicts } from '../../worlds/gateway/openapi-documents.ts'

test('bodies are judged as two independent validators judge them', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const verdicts: Verdicts = { fits: 0, refused: 0, disputed: 0 }
  await fc.assert(
    fc.asyncProperty(generatedDocuments, (generated) => checkDocument(gate, generated, verdicts)),
    { numRuns: 12 },
  )
  assert.ok(verdicts.fits > 20 && verdicts.refused > 20, JSON.stringify(verdicts))
})
