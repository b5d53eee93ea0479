import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '../..')
/** Commands that take names of what is run, and some of the names. */
const COMMANDS = {
  'bench/run.ts': ['proxies', 'http2', 'cluster'],
  'test/clients/runner/main.ts': ['go', 'python', 'java', 'rust', 'curl'],
  'test/suites/main.ts': ['http/2', 'http/1.1', 'urls', 'websocket', 'grpc', 'cache'],
}

function run(file: string, word: string): Promise<{ failed: boolean; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [file, word], { cwd: ROOT }, (error, stdout, stderr) =>
      resolve({ failed: error !== null, stdout, stderr }),
    )
  })
}

test('a command that takes names runs nothing for a name that is not there, and says which are', async () => {
  for (const [file, names] of Object.entries(COMMANDS)) {
    const { failed, stdout, stderr } = await run(file, 'nosuch')
    assert.ok(failed, file)
    assert.equal(stdout, '', `${file} ran something`)
    assert.match(stderr, /\bno \w+ nosuch; there are: /)
    for (const name of names) assert.ok(stderr.includes(name), `${file} names ${name}: ${stderr}`)
  }
})
