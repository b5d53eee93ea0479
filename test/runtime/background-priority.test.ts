import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const MODULE = new URL('../../src/runtime/background-priority.ts', import.meta.url).href
/** As an operator without rights starts it, who may lower a priority and never raise it. */
const SCRIPT = `
import { getPriority } from 'node:os'
import { yieldToTraffic } from ${JSON.stringify(MODULE)}
if (process.getuid() === 0) process.setuid(65534)
yieldToTraffic()
yieldToTraffic()
console.log(getPriority())`

test('the priority of background work is lowered once, and a lower one is left', async () => {
  for (const [nice, expected] of [
    [0, 10],
    [10, 10],
    [15, 15],
    [19, 19],
  ] as const) {
    const words = ['-n', String(nice), process.execPath, '--input-type=module', '--eval', SCRIPT]
    const { stdout } = await promisify(execFile)('nice', words)
    // Elsewhere the priority is that of the whole process, and stays.
    assert.equal(stdout.trim(), String(process.platform === 'linux' ? expected : nice), `nice -n ${nice}`)
  }
})
