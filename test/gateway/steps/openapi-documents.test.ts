import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { checkMocks, generatedMocks } from '../../worlds/gateway/generated-mocks.ts'
import { checkSecurity, generatedSecurity } from '../../worlds/gateway/generated-security.ts'
import { checkDocument, generatedDocuments, type Verdicts } from '../../worlds/gateway/openapi-documents.ts'
import { judgeByTheBook, unevaluatedDocuments } from '../../worlds/gateway/unevaluated-documents.ts'

test('bodies are judged, mocked and guarded as generated documents say', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const verdicts: Verdicts = { fits: 0, refused: 0, disputed: 0 }
  await fc.assert(
    fc.asyncProperty(generatedDocuments, (generated) => checkDocument(gate, generated, verdicts)),
    { numRuns: 7 },
  )
  assert.ok(verdicts.fits > 10 && verdicts.refused > 10, JSON.stringify(verdicts))
  await fc.assert(
    fc.asyncProperty(unevaluatedDocuments, (made) => checkDocument(gate, made, verdicts, judgeByTheBook)),
    { numRuns: 5 },
  )
  const made = { mocks: 0 }
  await fc.assert(
    fc.asyncProperty(generatedMocks, (generated) => checkMocks(gate, generated, made)),
    { numRuns: 3 },
  )
  assert.ok(made.mocks > 5, JSON.stringify(made))
  await fc.assert(
    fc.asyncProperty(generatedSecurity, (generated) =>
      checkSecurity(gate, generated, { open: 0, closed: 0, warned: 0, refused: 0 }),
    ),
    { numRuns: 3 },
  )
})
