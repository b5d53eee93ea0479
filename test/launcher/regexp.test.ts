import assert from 'node:assert/strict'
import { test } from 'node:test'
import { installed, start } from '../worlds/launcher/clone.ts'

// Backtracking, these would take longer than anybody waits: the time limit of the test is what fails.
const HOSTILE = `
import { Worker } from 'node:worker_threads'
const work = 'console.log(/^(a+)+$/.test("a".repeat(1000) + "!"), /(x+x+)+y/.test("x".repeat(1000)))'
eval(work)
new Worker(work, { eval: true })
`

test('a regular expression that backtracks without end is answered, in threads too', { timeout: 60_000 }, async (t) => {
  const { code, stdout, stderr } = await start(t, process.execPath, ['bin/gatehouse'], installed(t, HOSTILE)).ended
  assert.equal(stdout, 'false false\nfalse false\n')
  assert.equal(stderr, '')
  assert.equal(code, 0)
})
