import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Command, CommandContext } from '../../src/cli/commands/command.ts'
import { runCommand } from '../../src/cli/commands/commands.ts'
import { SETTINGS_COMMAND } from '../../src/cli/commands/settings.ts'
import { fault } from '../../src/errors/fault.ts'

/** Runs a command line with one extra row, and returns the output and the input of the row. */
async function run(
  t: TestContext,
  argv: string[],
  env: Record<string, string> = {},
  result?: () => number | undefined,
) {
  const out = t.mock.method(console, 'log', () => {}).mock
  const err = t.mock.method(console, 'error', () => {}).mock
  const given: CommandContext[] = []
  const row: Command = {
    name: 'all',
    summary: 'run it',
    examples: [],
    exits: {},
    run(context) {
      given.push(context)
      return result?.()
    },
  }
  const status = await runCommand(argv, env, [row, SETTINGS_COMMAND])
  const text = (calls: readonly { arguments: unknown[] }[]) => calls.map((call) => call.arguments.join(' ')).join('\n')
  const said = { status, given, stdout: text(out.calls), stderr: text(err.calls) }
  t.mock.restoreAll()
  return said
}

test('without a command the first row runs, and the process goes on', async (t) => {
  const { status, given } = await run(t, ['--config', 'x.json'])
  assert.equal(status, undefined)
  assert.equal(given.length, 1)
  assert.equal(given[0]!.file, 'x.json')
  assert.equal((await run(t, ['all', 'word'])).given[0]!.words[0], 'word')
})

test('--help lists every command, even with broken settings', async (t) => {
  const { status, stdout, given } = await run(t, ['--help'], { SVC_NONSENSE: '1' })
  assert.equal(status, 0)
  assert.match(stdout, /^ {2}all +run it \(default\)$/m)
  assert.match(stdout, /^ {2}settings +list settings/m)
  assert.equal(given.length, 0)
})

test('--version names product and runtime', async (t) => {
  assert.match((await run(t, ['--version'])).stdout, /^gatehouse \d+\.\d+\.\d+ \(Node v26\.\d+\.\d+\)$/)
})

test('settings shows what a start would use, narrowed by words, without secrets', async (t) => {
  const env = { SVC_GW_SECRET: 'hush-hush-hush-hush', SVC_GW_LISTENPORT: '9000' }
  const all = await run(t, ['settings'], env)
  assert.equal(all.status, 0)
  assert.doesNotMatch(all.stdout, /hush/)
  const { stdout } = await run(t, ['settings', 'gateway.listen_port', 'SVC_LOG', 'dashboard.listen_port'], env)
  assert.match(stdout, /^gateway\.listen_port +9000 +env SVC_GW_LISTENPORT/m)
  assert.deepEqual(
    stdout.split('\n').map((line) => line.split(' ')[0]),
    ['setting', 'gateway.listen_port', 'dashboard.listen_port', 'log.level'],
  )
  const unknown = await run(t, ['settings', 'gateway.listen_prot', 'log.level'], env)
  assert.deepEqual(
    [unknown.status, unknown.stderr],
    [1, 'gatehouse: no setting has gateway.listen_prot in its name; did you mean gateway.listen_port?'],
  )
  assert.match((await run(t, ['settings'], { SVC_GW_SECRET: 'short' })).stdout, /^warning: gateway\.secret is shorter/m)
})

test('wrong settings are status 1 and one line each', async (t) => {
  const { status, stderr } = await run(t, ['settings'], { SVC_GW_LISTENPORT: 'x', SVC_SAMPLE: 'y' })
  assert.equal(status, 1)
  assert.equal(stderr.split('\n').length, 2)
  assert.ok(stderr.split('\n').every((line) => line.startsWith('gatehouse: ')))
})

test('a wrong command line is status 2 and says what was meant', async (t) => {
  const { status, stderr } = await run(t, ['setings'])
  assert.equal(status, 2)
  assert.match(stderr, /no such command: setings; did you mean settings\?/)
  assert.equal((await run(t, ['--no-such-option'])).status, 2)
})

test('a fault is its line; what is no fault shows where it came from', async (t) => {
  const plain = await run(t, [], {}, () => {
    throw fault('port_in_use', 'gateway.listen_port: 8080 is in use')
  })
  assert.deepEqual([plain.status, plain.stderr], [1, 'gatehouse: gateway.listen_port: 8080 is in use'])
  const strange = await run(t, [], {}, () => {
    throw new TypeError('odd')
  })
  assert.equal(strange.status, 1)
  assert.match(strange.stderr, /^gatehouse: odd\nTypeError: odd\n +at /)
})
