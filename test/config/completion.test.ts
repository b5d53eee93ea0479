import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { COMMANDS } from '../../src/cli/commands/table.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { runLine } from '../worlds/flows/moves-world.ts'

const printed = async (shell: string) => (await runLine(['completion', shell], {}, COMMANDS)).out

/** The words that bash offers for the last word of each command line. */
function offered(script: string, lines: readonly (readonly string[])[]): string[][] {
  const asks = lines.map((words) => {
    const quoted = words.map((word) => `'${word}'`).join(' ')
    return `COMP_WORDS=(gatehouse ${quoted}); COMP_CWORD=${words.length}; _gatehouse; printf '%s ' "\${COMPREPLY[@]}"; echo`
  })
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-u'], {
    input: [script, ...asks].join('\n'),
    encoding: 'utf8',
  })
  assert.deepEqual([status, stderr], [0, ''])
  return stdout
    .split('\n')
    .slice(0, lines.length)
    .map((line) => line.split(' ').filter((word) => word !== ''))
}

test('bash completes commands, and of each its options and words', async () => {
  const script = await printed('bash')
  const lines = COMMANDS.map(({ name }) => [name, '--'])
  const [first, second, ofConfig, settings, secrets, ...options] = offered(script, [
    [''],
    ['co'],
    ['-c', 'x.json', 'doc'],
    ['settings', 'gateway.tls.cert'],
    ['rotate-secret', ''],
    ...lines,
  ])
  for (const { name } of COMMANDS) assert.ok(first!.includes(name), name)
  assert.deepEqual(second, ['completion'])
  assert.deepEqual(ofConfig, ['doctor'])
  assert.deepEqual(
    settings,
    SETTINGS.map(({ path }) => path).filter((path) => path.startsWith('gateway.tls.cert')),
  )
  assert.deepEqual(secrets, ['gateway', 'admin', 'seal'])
  for (const [at, { name, options: own = {} }] of COMMANDS.entries())
    assert.deepEqual(
      options[at]!.sort(),
      [...Object.keys(own), 'config', 'help'].map((option) => `--${option}`).sort(),
      name,
    )
})

test('bash completes files where an option takes one, and nothing where it takes another value', async () => {
  const script = `cd ${import.meta.dirname}\n${await printed('bash')}`
  const [file, option, value] = offered(script, [
    ['restore', 'completion.test'],
    ['sync', '-p', 'completion.test'],
    ['sync', '-d', 'completion.test'],
  ])
  assert.deepEqual([file, option, value], [['completion.test.ts'], ['completion.test.ts'], []])
})

test('the script of zsh has every command with its options, and zsh reads it where there is one', async () => {
  const script = await printed('zsh')
  for (const { name, options = {} } of COMMANDS) {
    const own = new RegExp(`^    ${name}\\) _arguments (.*) ;;$`, 'm').exec(script.replaceAll(/ \\\n\s+/g, ' '))
    for (const option of Object.keys(options)) assert.ok(own?.[1]?.includes(`'*--${option}[`), `${name} --${option}`)
  }
  const { error, status, stderr } = spawnSync('zsh', ['-n', '-f'], { input: script, encoding: 'utf8' })
  if (error === undefined) assert.deepEqual([status, stderr], [0, ''])
  assert.equal((await runLine(['completion', 'fish'], {}, COMMANDS)).status, 1)
})
