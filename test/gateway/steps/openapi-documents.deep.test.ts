import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { checkMocks, generatedMocks } from '../../worlds/gateway/generated-mocks.ts'
import { checkSecurity, generatedSecurity } from '../../worlds/gateway/generated-security.ts'
import { checkDocument, generatedDocuments, type Verdicts } from '../../worlds/gateway/openapi-documents.ts'
import { judgeByTheBook, unevaluatedDocuments } from '../../worlds/gateway/unevaluated-documents.ts'

test('bodies are judged as an independent validator judges them, for many documents', async (t) => {
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

test('members and items that nothing judges are those of the specification, in any nesting', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const verdicts: Verdicts = { fits: 0, refused: 0, disputed: 0 }
  await fc.assert(
    fc.asyncProperty(unevaluatedDocuments, (made) => checkDocument(gate, made, verdicts, judgeByTheBook)),
    { numRuns: 300 },
  )
  assert.ok(verdicts.fits > 1000 && verdicts.refused > 1000, JSON.stringify(verdicts))
})

test('mocks fit the schemas of their responses as an independent validator judges them', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const made = { mocks: 0 }
  await fc.assert(
    fc.asyncProperty(generatedMocks, (generated) => checkMocks(gate, generated, made)),
    { numRuns: 200 },
  )
  assert.ok(made.mocks > 1000, JSON.stringify(made))
})

test('operations are as open as their document says, or a warning names them', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const verdicts = { open: 0, closed: 0, warned: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(generatedSecurity, (generated) => checkSecurity(gate, generated, verdicts)),
    { numRuns: 300 },
  )
  assert.ok(verdicts.open > 10 && verdicts.closed > 50 && verdicts.warned > 50, JSON.stringify(verdicts))
})
