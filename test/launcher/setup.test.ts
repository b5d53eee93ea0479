import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { eventually } from '../worlds/base/eventually.ts'
import { bareClone, fakeNpm, installed, runtimePackage, start } from '../worlds/launcher/clone.ts'

const NAME = runtimePackage().split('/').at(-1)!
const SETUP = ['scripts/setup.mjs']
/** An npm that installs the runtime and notes how it was called. */
const WORKING = `echo "$@" >> calls; mkdir -p node_modules/.bin; ln -sfn "$REAL_NODE" node_modules/${NAME}`

function setUp(t: TestContext, clone: string, env: NodeJS.ProcessEnv, flags: readonly string[] = []) {
  return start(t, process.execPath, [...flags, ...SETUP], clone, env)
}

const calls = (clone: string) => readFileSync(join(clone, 'calls'), 'utf8').trim().split('\n')

const OPTIONS = '--include=optional --no-audit --no-fund --loglevel=error'
const FOR_START = `ci --workspace=console --include-workspace-root ${OPTIONS}`

test('a fresh clone is installed once, with the packages of a start, and linked', async (t) => {
  const clone = bareClone(t, '')
  const env = fakeNpm(t, WORKING)
  for (const _ of [1, 2]) assert.equal((await setUp(t, clone, env).ended).code, 0)
  assert.deepEqual(calls(clone), [FOR_START])
  assert.equal(readlinkSync(join(clone, 'node_modules/.bin/node')), `../${NAME}/bin/node`)
  assert.equal(readlinkSync(join(clone, 'node_modules/.bin/gatehouse')), '../../bin/gatehouse')
  assert.ok(!existsSync(join(clone, '.setup.lock')))
})

test('headers of Node and source maps are removed after an install, and nothing behind links', async (t) => {
  const clone = bareClone(t, '')
  const heavy = [`${NAME}/include/node/v8.h`, 'a/dist/a.js.map', '@b/c/d.d.mts.map', 'a/node_modules/e/e.css.map']
  const needed = ['a/dist/a.js', 'a/include/a.h', 'a/world.map', 'a/js.map/index.js']
  const script = `${WORKING}; rm node_modules/${NAME}; mkdir node_modules/${NAME}; ln -s "$REAL_NODE/bin" node_modules/${NAME}/bin
    mkdir -p ours; echo > ours/ours.js.map; ln -s ../ours node_modules/linked
    for file in ${[...heavy, ...needed].join(' ')}; do mkdir -p "node_modules/$(dirname "$file")"; echo > "node_modules/$file"; done`
  const { code, stderr } = await setUp(t, clone, fakeNpm(t, script)).ended
  assert.equal(code, 0, stderr)
  const present = [...heavy, ...needed].filter((file) => existsSync(join(clone, 'node_modules', file)))
  assert.deepEqual(present, needed)
  assert.ok(existsSync(join(clone, 'ours/ours.js.map')))
})

test('the link is made again when npm has deleted it, or made another', async (t) => {
  const clone = installed(t, '')
  const env = fakeNpm(t, 'exit 9')
  const link = join(clone, 'node_modules/.bin/node')
  assert.equal((await setUp(t, clone, env).ended).code, 0)
  rmSync(link)
  symlinkSync('../node-of-another-kind/bin/node', link)
  assert.equal((await setUp(t, clone, env).ended).code, 0)
  assert.equal(readlinkSync(link), `../${NAME}/bin/node`)
})

test('a changed lock file and a missing runtime are installed again', async (t) => {
  const clone = installed(t, '')
  const env = fakeNpm(t, WORKING)
  writeFileSync(join(clone, 'package-lock.json'), `${readFileSync(join(clone, 'package-lock.json'), 'utf8')}\n`)
  await setUp(t, clone, env).ended
  assert.equal(calls(clone).length, 1)
  rmSync(join(clone, 'node_modules', NAME))
  await setUp(t, clone, env).ended
  assert.equal(calls(clone).length, 2)
})

test('packages of tests are added once to a clone that is ready to start, and stay', async (t) => {
  const clone = bareClone(t, '')
  const env = fakeNpm(t, WORKING)
  const run = async (...words: string[]) =>
    assert.equal((await start(t, process.execPath, [...SETUP, ...words], clone, env).ended).code, 0)
  await run()
  for (const _ of [1, 2]) await run('--all')
  await run()
  assert.deepEqual(calls(clone), [FOR_START, `install --no-save ${OPTIONS}`])
  writeFileSync(join(clone, 'package-lock.json'), `${readFileSync(join(clone, 'package-lock.json'), 'utf8')}\n`)
  await run()
  assert.equal(calls(clone)[2], `ci ${OPTIONS}`)
})

test('a start installs nothing after an addition of test packages that failed or was killed', async (t) => {
  const clone = bareClone(t, '')
  assert.equal((await setUp(t, clone, fakeNpm(t, WORKING)).ended).code, 0)
  const add = (script: string) => start(t, process.execPath, [...SETUP, '--all'], clone, fakeNpm(t, script))
  assert.equal((await add('exit 5').ended).code, 1)
  const killed = add('echo half done >&2; kill -9 $PPID')
  assert.equal((await killed.ended).code, null)
  assert.equal((await setUp(t, clone, fakeNpm(t, 'exit 9')).ended).code, 0)
  assert.deepEqual(calls(clone), [FOR_START])
  assert.equal((await add(WORKING).ended).code, 0)
  assert.equal(calls(clone)[1], `install --no-save ${OPTIONS}`)
})

test('nothing is installed through a link to the packages of another clone', async (t) => {
  const [other, clone] = [installed(t, ''), bareClone(t, '')]
  symlinkSync(join(other, 'node_modules'), join(clone, 'node_modules'))
  const env = fakeNpm(t, WORKING)
  assert.equal((await setUp(t, clone, env).ended).code, 0)
  writeFileSync(join(clone, 'package-lock.json'), `${readFileSync(join(clone, 'package-lock.json'), 'utf8')}\n`)
  const { code, stderr } = await setUp(t, clone, env).ended
  assert.equal(code, 1)
  assert.match(stderr, /^gatehouse: node_modules is a link to .*: remove the link, or install there\n$/)
  assert.ok(!existsSync(join(clone, 'calls')) && existsSync(join(other, 'node_modules/.installed')))
})

test('each command installs what it needs: server, console and login page no packages of tests', async (t) => {
  const needs = async (words: readonly string[]) => {
    const clone = bareClone(t, '')
    // Fails, so that nothing is run.
    const env = fakeNpm(t, 'echo "$@" >> calls; exit 5')
    assert.equal((await start(t, process.execPath, [...words], clone, env).ended).code, 1)
    return calls(clone)
  }
  for (const words of [['bin/gatehouse'], ['scripts/run.mjs', '--watch', 'src/main.ts']])
    assert.deepEqual(await needs(words), [FOR_START], words.join(' '))
  for (const file of ['node_modules/vite/bin/vite.js', 'examples/login-page/main.ts', 'examples/login-page/run.ts'])
    assert.deepEqual(await needs(['scripts/run.mjs', file]), [FOR_START], file)
  for (const words of [
    ['scripts/run.mjs', 'bench/run.ts'],
    ['scripts/test.mjs', 'x.test.ts'],
    ['scripts/check.mjs'],
    ['scripts/build.mjs'],
  ])
    assert.deepEqual(await needs(words), [`ci ${OPTIONS}`], words.join(' '))
})

test('an npm that fails is one line and status 1, and nothing counts as installed', async (t) => {
  const clone = bareClone(t, '')
  const { code, stderr } = await setUp(t, clone, fakeNpm(t, `${WORKING}; echo no network >&2; exit 5`)).ended
  assert.equal(code, 1)
  assert.match(stderr, /no network\ngatehouse: npm ci ended with status 5/)
  assert.ok(!existsSync(join(clone, 'node_modules/.installed')))
  assert.ok(!existsSync(join(clone, '.setup.lock')))
})

test('an install that is killed is done again by the next, as soon as its npm has ended', async (t) => {
  const clone = bareClone(t, '')
  const hanging = setUp(t, clone, fakeNpm(t, `${WORKING}; mkfifo never; echo half done; exec cat never`))
  await hanging.saw('half done')
  const [holder = ''] = readdirSync(join(clone, '.setup.lock'))
  assert.equal(holder, `${hanging.child.pid}@${hostname()}`)
  const npmOfHolder = () => Number(readFileSync(join(clone, '.setup.lock', holder), 'utf8'))
  await eventually('the number of npm stands in the lock', () => npmOfHolder() !== 0) // npm may speak before its parent has written its number down
  hanging.child.kill('SIGKILL')
  const second = setUp(t, clone, fakeNpm(t, WORKING))
  await second.saw('waiting for another set-up')
  process.kill(npmOfHolder(), 'SIGKILL')
  assert.equal((await second.ended).code, 0)
  assert.equal(calls(clone).length, 2)
  assert.ok(existsSync(join(clone, 'node_modules/.installed')))
})

test('SIGTERM during an install ends npm too', async (t) => {
  const clone = bareClone(t, '')
  const hanging = setUp(
    t,
    clone,
    fakeNpm(t, `trap 'echo npm ends; exit 1' TERM; ${WORKING}; echo half done; while :; do sleep 0.05; done`),
  )
  await hanging.saw('half done')
  hanging.child.kill('SIGTERM')
  const { code, stderr } = await hanging.ended
  assert.match(stderr, /npm ends/)
  assert.equal(code, 1)
  assert.ok(!existsSync(join(clone, '.setup.lock')))
})

test('of many set-ups at once one installs and the others wait for it', async (t) => {
  const clone = bareClone(t, '')
  const env = fakeNpm(t, `${WORKING}; sleep 0.3`)
  const ended = await Promise.all([1, 2, 3, 4].map(() => setUp(t, clone, env).ended))
  assert.deepEqual(
    ended.map(({ code }) => code),
    [0, 0, 0, 0],
  )
  assert.equal(calls(clone).length, 1)
})

test('many set-ups take over the lock of a dead one, one at a time', async (t) => {
  const clone = bareClone(t, '')
  const dead = start(t, process.execPath, ['-e', ''], clone)
  await dead.ended
  mkdirSync(join(clone, '.setup.lock'))
  writeFileSync(join(clone, '.setup.lock', `${dead.child.pid}@${hostname()}`), '')
  const env = fakeNpm(t, `${WORKING}; mkdir busy || echo two at once >> calls; sleep 0.2; rmdir busy`)
  const ended = await Promise.all([1, 2, 3].map(() => setUp(t, clone, env).ended))
  assert.ok(ended.every(({ code }) => code === 0))
  assert.equal(calls(clone).length, 1)
})

test('npm_execpath is used when it is an npm, and not when it is another tool', async (t) => {
  const clone = bareClone(t, '')
  const env = fakeNpm(t, WORKING)
  const cli = join(clone, 'npm-cli.js')
  writeFileSync(cli, `import { appendFileSync } from 'node:fs'\nappendFileSync('calls', 'given\\n')\nprocess.exit(3)\n`)
  const given = { ...env, npm_node_execpath: process.execPath, npm_execpath: cli }
  assert.equal((await setUp(t, clone, given).ended).code, 1)
  assert.deepEqual(calls(clone), ['given'])
  const other = { ...env, npm_node_execpath: process.execPath, npm_execpath: '/opt/yarn/bin/yarn.js' }
  assert.equal((await setUp(t, clone, other).ended).code, 0)
  assert.match(calls(clone)[1]!, /^ci /)
})

test('npm does not see our own .bin on PATH', async (t) => {
  const clone = bareClone(t, '')
  const env = fakeNpm(t, `echo "$PATH" > path; ${WORKING}`)
  env.PATH = `${join(clone, 'node_modules/.bin')}:${env.PATH}`
  assert.equal((await setUp(t, clone, env).ended).code, 0)
  assert.ok(!readFileSync(join(clone, 'path'), 'utf8').includes(clone))
})

test('without the pinned Node, a host’s Node 26 runs and an older one says what to do', async (t) => {
  const clone = bareClone(t, '')
  const broken = `mkdir -p node_modules/${NAME}/bin; printf '#!/bin/sh\\nexit 127\\n' > node_modules/${NAME}/bin/node; chmod +x node_modules/${NAME}/bin/node`
  const env = fakeNpm(t, broken)
  const standIn = await setUp(t, clone, env).ended
  assert.equal(standIn.code, 0)
  assert.match(standIn.stderr, /the pinned Node does not run on this .* system; using Node 26\./)
  const old = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } })`
  const refused = await setUp(t, clone, env, ['--import', old]).ended
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /^gatehouse: the pinned Node does not run on this .*, and Node 20\.1\.0 is too old.* install Node 26\n$/,
  )
})
