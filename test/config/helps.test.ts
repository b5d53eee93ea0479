import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COMMANDS } from '../../src/cli/commands/table.ts'
import { MOVE_COMMANDS } from '../../src/cli/moves/move-commands.ts'
import { runLine } from '../worlds/flows/moves-world.ts'

const run = (...argv: string[]) => runLine(argv, {}, COMMANDS)
/** The names of all commands, as the general help lists them. */
const listed = async () =>
  [...(await run('--help')).out.matchAll(/^ {2}([a-z][a-z-]*) {2,}/gm)].map(([, name = '']) => name)

test('the help of a command names its words, and the options that it takes, no others', async () => {
  const names = await listed()
  assert.equal(names.length, COMMANDS.length)
  for (const name of names) {
    const { status, out } = await run(name, '--help')
    assert.equal(status, 0)
    const usage = /^Usage: bin\/gatehouse (\S+)(.*) \[options\]$/m.exec(out)
    assert.equal(usage?.[1], name, out)
    const row = COMMANDS.find((one) => one.name === name)
    if (row !== undefined) assert.equal(usage?.[2]?.trim() ?? '', row.words ?? '')
    // Options begin a line, alone, after a short name, or several of them.
    const said = [...out.matchAll(/^ {2}(?:-\w, )?(--[\w-]+(?:, --[\w-]+)*)/gm)].flatMap(([, list = '']) =>
      list.split(', '),
    )
    const taken = [...Object.keys(row?.options ?? {}), 'config', 'help'].map((option) => `--${option}`)
    assert.deepEqual(said.sort(), taken.sort(), name)
  }
})

test('the help of a command has an example that it reads, and what each exit status means', async () => {
  for (const row of COMMANDS) {
    const { out } = await run(row.name, '--help')
    const examples = [...out.matchAll(/^ {2}bin\/gatehouse (.*)\n {6}\S/gm)].map(([, line = '']) => line)
    assert.equal(examples.length, row.examples.length)
    assert.ok(examples.length > 0, row.name)
    for (const example of examples) {
      const words = [...example.replace(/ > .*$/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(
        ([, quoted, bare]) => quoted ?? bare!,
      )
      assert.equal(words[0], row.name)
      const given: unknown[] = []
      const { status, err } = await runLine(words, {}, [{ ...row, run: (context) => given.push(context) && 0 }])
      assert.deepEqual([status, err, given.length], [0, '', 1], example)
    }
    assert.ok(/^Exit status:\n {2}0 {2}\S/m.test(out), row.name)
  }
})

test('a wrong option is refused in a sentence of ours, by every command', async () => {
  const first = async (...argv: string[]) => (await run(...argv)).err.split('\n')
  for (const name of await listed())
    assert.deepEqual(await first(name, '--nonsense-x=hush'), [
      'gatehouse: no such option: --nonsense-x',
      `See bin/gatehouse ${name} --help.`,
    ])
  for (const { name, options = {} } of COMMANDS)
    for (const [option, { type }] of Object.entries(options)) {
      if (MOVE_COMMANDS[0]!.mayStandAlone!.has(option)) continue
      const [line] = await first(name, type === 'string' ? `--${option}` : `--${option}=x`)
      assert.equal(line, `gatehouse: --${option} ${type === 'string' ? 'needs a value' : 'takes no value'}`)
    }
  assert.equal((await first('backup', '-x'))[0], 'gatehouse: no such option: -x')
  assert.equal((await first('doctor', '--jsn'))[0], 'gatehouse: no such option: --jsn; did you mean --json?')
  assert.equal((await first('backup', '--output', '--json'))[0], 'gatehouse: --output needs a value')
  assert.equal((await first('apply', '--no-delete'))[0]?.startsWith('gatehouse: no such option: --no-delete'), true)
})

test('a restore says that it reads no pipe', async () => {
  const { status, err } = await run('restore', '-')
  assert.deepEqual([status, err], [1, 'gatehouse: restore reads a file, not standard input: save the backup first'])
})

test('a wrong command line ends with a status that the help of the command lists', async () => {
  for (const { name, exits } of COMMANDS) {
    const { status } = await runLine([name, '--nonsense'], {}, COMMANDS)
    assert.ok(status === 1 || status === 2, name)
    assert.ok(Object.hasOwn(exits, status), `${name}: ${status}`)
    if (status === 2) assert.equal(exits[2], 'the command line is wrong', name)
  }
})
