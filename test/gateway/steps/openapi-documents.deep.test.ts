import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { checkDocument, generatedDocuments, type Verdicts } from '../../worlds/gateway/openapi-documents.ts'

test('bodies are judged as two validators judge them, for many documents', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const verdicts: Verdicts = { fits: 0, refused: 0, disputed: 0 }
  await fc.assert(
    fc.asyncProperty(generatedDocuments, (generated) => checkDocument(gate, generated, verdicts)),
    { numRuns: 300 },
  )
  t.diagnostic(JSON.stringify(verdicts))
  assert.ok(verdicts.fits > 1000 && verdicts.refused > 1000, JSON.stringify(verdicts))
})
