import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { type TestContext, test } from 'node:test'
import { environment, installed, type Running, start } from '../worlds/launcher/clone.ts'

/** Says what it runs on, then each signal; ends with status 7 when its standard input ends. */
const SERVER = `
const args: string[] = process.argv.slice(2)
console.log(JSON.stringify({ version: process.version, args, flags: process.execArgv, cache: process.env.NODE_COMPILE_CACHE }))
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => console.log('got ' + signal))
process.stdin.on('end', () => process.exit(7)).resume()
console.log('ready')
`
/** Ends only on request. */
const PATIENT = `
process.on('SIGTERM', () => {
  console.log('got SIGTERM')
  process.exit()
})
setInterval(() => {}, 1000)
console.log('ready')
`
const WITHOUT_EXECVE = ['--import', 'data:text/javascript,delete process.execve']

/** A host that can replace its process, and one that must start another. */
const HOSTS: Record<string, readonly string[]> = { execve: [], spawn: WITHOUT_EXECVE }

async function launch(t: TestContext, host: readonly string[], env = environment()): Promise<Running> {
  const clone = installed(t, SERVER)
  const running = start(t, process.execPath, [...host, 'bin/gatehouse', '--config', 'a b'], clone, env)
  await running.saw('ready')
  return running
}

for (const [name, host] of Object.entries(HOSTS)) {
  test(`${name}: the server runs on the pinned Node, with our flags and the words of the command`, async (t) => {
    const running = await launch(t, host)
    running.child.stdin!.end()
    const { stdout, stderr } = await running.ended
    const said = JSON.parse(stdout.split('\n')[0]!) as {
      version: string
      args: string[]
      flags: string[]
      cache: string
    }
    assert.equal(said.version, process.version)
    assert.deepEqual(said.args, ['--config', 'a b'])
    assert.ok(said.flags.includes('--enable-experimental-regexp-engine-on-excessive-backtracks'))
    assert.match(said.cache, /node_modules\/\.cache\/gatehouse$/)
    assert.equal(stderr, '')
  })

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`${name}: ${signal} reaches the server once, and the launcher ends after it with its status`, async (t) => {
      const running = await launch(t, host)
      running.child.kill(signal)
      await running.saw(`got ${signal}`)
      assert.equal(running.child.exitCode, null, 'the launcher waits for the server')
      running.child.stdin!.end()
      const { code, stdout } = await running.ended
      assert.equal(code, 7)
      assert.equal(stdout.split(`got ${signal}`).length, 2)
    })
  }

  test(`${name}: a server killed by a signal is seen as killed by it`, async (t) => {
    const clone = installed(t, `process.kill(process.pid, 'SIGKILL')`)
    const { signal } = await start(t, process.execPath, [...host, 'bin/gatehouse'], clone).ended
    assert.equal(signal, 'SIGKILL')
  })
}

test('V8 is given no more helpers than cores that the process may use', async (t) => {
  const clone = installed(t, `console.log(process.execArgv.filter((flag) => flag.startsWith('--v8-pool-size')).join())`)
  const said = async (command: string, ...args: string[]) => (await start(t, command, args, clone).ended).stdout.trim()
  const helpers = Math.min(4, availableParallelism())
  assert.equal(await said(process.execPath, 'bin/gatehouse'), `--v8-pool-size=${helpers}`)
  if (process.platform !== 'linux') return
  const core = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!
  assert.equal(await said('taskset', '-c', core, process.execPath, 'bin/gatehouse'), '--v8-pool-size=1')
})

test('a server whose launcher was killed is told to end', async (t) => {
  const running = start(t, process.execPath, [...WITHOUT_EXECVE, 'bin/gatehouse'], installed(t, PATIENT))
  await running.saw('ready')
  running.child.kill('SIGKILL')
  await running.saw('got SIGTERM')
})

for (const [name, host] of Object.entries(HOSTS)) {
  test(`${name}: under npm, which passes no signal on, the server is told when npm goes`, async (t) => {
    const env = { ...environment(), npm_lifecycle_event: 'start', HOST: process.execPath }
    // acts as npm: it starts the launcher and knows nothing of signals
    const command = JSON.stringify([...host, 'bin/gatehouse'])
    const npm = `require('child_process').spawn(process.env.HOST, ${command}, { stdio: 'inherit' })`
    const running = start(t, process.execPath, ['-e', npm], installed(t, PATIENT), env)
    await running.saw('ready')
    running.child.kill('SIGTERM')
    await running.saw('got SIGTERM')
  })
}

test('under npm, a watched server is told when npm goes', async (t) => {
  const env = { ...environment(), npm_lifecycle_event: 'dev', HOST: process.execPath }
  const command = JSON.stringify(['scripts/run.mjs', '--watch', 'src/main.ts'])
  const npm = `require('child_process').spawn(process.env.HOST, ${command}, { stdio: 'inherit' })`
  const running = start(t, process.execPath, ['-e', npm], installed(t, PATIENT), env)
  await running.saw('ready')
  running.child.kill('SIGTERM')
  await running.saw('got SIGTERM')
})

test('npm scripts run a file on the pinned Node with its flags and arguments', async (t) => {
  const clone = installed(
    t,
    `console.log(process.version, process.execArgv.includes('--no-deprecation'), process.argv[2])`,
  )
  const args = ['scripts/run.mjs', '--no-deprecation', 'src/main.ts', '--flag']
  const { code, stdout } = await start(t, process.execPath, args, clone).ended
  assert.equal(stdout, `${process.version} true --flag\n`)
  assert.equal(code, 0)
  assert.equal((await start(t, process.execPath, ['scripts/run.mjs'], clone).ended).code, 2)
})
