import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { eventually } from '../worlds/base/eventually.ts'
import { environment, installed, start } from '../worlds/launcher/clone.ts'

const GOOD = `import { test } from 'node:test'\ntest('good', () => {})\n`
const BAD = `import { test } from 'node:test'\ntest('outer', async (t) => { await t.test('inner', () => { throw new Error('no ' + 1) }) })\n`

function withTests(t: TestContext, files: Record<string, string>): string {
  const clone = installed(t, '')
  for (const folder of ['deep', 'model']) mkdirSync(join(clone, 'test', folder), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(clone, 'test', name), text)
  return clone
}

async function run(t: TestContext, files: Record<string, string>, ...args: string[]) {
  const env = { ...environment(), SVC_GW_LISTENPORT: '1', GATEHOUSE_DEEP: '1' }
  const { code, stdout, stderr } = await start(
    t,
    process.execPath,
    ['scripts/test.mjs', ...args],
    withTests(t, files),
    env,
  ).ended
  return { code, stdout, stderr, last: stdout.trimEnd().split('\n').at(-1) }
}

test('the last line counts what passed', async (t) => {
  const { code, last } = await run(t, { 'a.test.ts': GOOD, 'deep/b.test.ts': GOOD, 'not-a-test.ts': BAD })
  assert.equal(last, '2 passed, 0 failed')
  assert.equal(code, 0)
})

test('a failure is shown with its place and counted, and the status says so', async (t) => {
  const { code, stdout, last } = await run(t, { 'a.test.ts': GOOD, 'b.test.ts': BAD })
  assert.equal(code, 1)
  assert.match(stdout, /✖ inner \(test\/b\.test\.ts:2\)\n {4}Error: no 1/)
  assert.match(last!, /^1 passed, [12] failed$/)
})

test('properties begin at a seed that follows from the sources, unless one is given', async (t) => {
  const tells = `import { test } from 'node:test'\ntest('t', () => console.log('from ' + process.env.GATEHOUSE_SEED + ';'))\n`
  const seedIn = async (clone: string, given: Record<string, string> = {}) => {
    const { GATEHOUSE_SEED: _, ...env } = environment()
    const { stdout } = await start(t, process.execPath, ['scripts/test.mjs'], clone, { ...env, ...given }).ended
    return /from (-?\d+);/.exec(stdout)?.[1]
  }
  const [one, other] = [withTests(t, { 'a.test.ts': tells }), withTests(t, { 'a.test.ts': tells, 'b.test.ts': GOOD })]
  const seed = await seedIn(one)
  assert.ok(seed !== undefined)
  assert.equal(await seedIn(other), seed)
  assert.equal(await seedIn(other, { GATEHOUSE_SEED: '7' }), '7')
  mkdirSync(join(other, 'src', 'more'), { recursive: true })
  writeFileSync(join(other, 'src', 'more', 'a.ts'), 'export const a = 1\n')
  assert.notEqual(await seedIn(other), seed)
})

const BROKEN: Record<string, string> = {
  'does not parse': 'const = 1\n',
  'imports what is not there': `import './absent.ts'\n`,
  'ends its process': `import { test } from 'node:test'\ntest('x', () => process.exit(0))\ntest('y', () => {})\n`,
  'has no test': `export {}\n`,
  'skips a test': `import { test } from 'node:test'\ntest('x', { skip: true }, () => {})\n`,
}
for (const [what, text] of Object.entries(BROKEN)) {
  test(`a file that ${what} is a failure`, async (t) => {
    const { code, last } = await run(t, { 'a.test.ts': GOOD, 'b.test.ts': text })
    assert.equal(code, 1)
    assert.match(last!, /^\d passed, [1-9] failed$/)
  })
}

const ENDLESS = 'new Promise(() => setInterval(() => {}, 1000))'
const HANGING: Record<string, readonly [text: string, told: RegExp]> = {
  'a test': [
    `import { test } from 'node:test'\ntest('never', () => ${ENDLESS})\n`,
    /✖ never .*\n.*timed out after 3500ms/,
  ],
  'a hook': [`import { test } from 'node:test'\ntest('t', (t) => t.after(() => ${ENDLESS}))\n`, /b\.test\.ts/],
  'an open handle': [
    `${GOOD}setInterval(() => {}, 1000)\n`,
    /b\.test\.ts did not end within 4\.2 s; still open: .*Timeout/,
  ],
}
for (const [what, [text, told]] of Object.entries(HANGING)) {
  test(`${what} that never ends is a failure with a name, and the other files have their results`, async (t) => {
    const clone = withTests(t, { 'a.test.ts': GOOD, 'b.test.ts': text, 'c.test.ts': GOOD })
    const env = { ...environment(), GATEHOUSE_LONGEST_TEST_MS: '3500' }
    const { code, stdout, stderr } = await start(t, process.execPath, ['scripts/test.mjs'], clone, env).ended
    assert.equal(code, 1)
    assert.match(stdout + stderr, told)
    assert.match(stdout, /✔ test\/a\.test\.ts/)
    assert.match(stdout, /✔ test\/c\.test\.ts/)
    assert.match(stdout, /\n[234] passed, [12] failed\n$/)
  })
}

test('files that may share a process do, and failures keep their place', async (t) => {
  const saysPid = `import { test } from 'node:test'\ntest('t', () => console.log('of ' + process.pid + ';'))\n`
  const files = { 'model/a.test.ts': saysPid, 'model/b.test.ts': BAD, 'model/c.test.ts': saysPid, 'd.test.ts': saysPid }
  const { code, stdout, last } = await run(t, files)
  assert.equal(code, 1)
  assert.match(last!, /^3 passed, [12] failed$/)
  assert.match(stdout, /✖ inner \(test\/model\/b\.test\.ts:2\)/)
  assert.match(stdout, /✖ test\/model, a to c {2}2\/\d {2}/)
  const pids = [...stdout.matchAll(/of (\d+);/g)].map(([, pid]) => pid)
  assert.equal(pids.length, 3)
  assert.equal(new Set(pids).size, 2)
})

test('where one of several files in a process ends it, or cannot be read, that is a failure', async (t) => {
  for (const broken of ['ends its process', 'imports what is not there']) {
    const files = { 'model/a.test.ts': GOOD, 'model/b.test.ts': BROKEN[broken]!, 'model/c.test.ts': GOOD }
    const { code, last } = await run(t, files)
    assert.equal(code, 1, broken)
    assert.match(last!, /^\d passed, [1-9] failed$/)
  }
})

test('no test at all is no success', async (t) => {
  assert.equal((await run(t, {})).code, 1)
})

const TELLING = `import { test } from 'node:test'\ntest('t', () => console.log('deep', process.env.GATEHOUSE_DEEP, process.env.SVC_GW_LISTENPORT))\n`

test('the long runs are those of the files that have any, directly or by what they import', async (t) => {
  const files = {
    'a.test.ts': TELLING,
    'b.test.ts': `import './counts.ts'\n${GOOD}`,
    'c.test.ts': GOOD,
    'counts.ts': `import './more.ts'\n`,
    'more.ts': `export const deep = process.env.GATEHOUSE_DEEP\n`,
    'long.deep.test.ts': GOOD,
  }
  const deep = await run(t, files, '--deep')
  assert.equal(deep.last, '3 passed, 0 failed')
  assert.match(deep.stdout, /deep 1 undefined/)
  const short = await run(t, files)
  assert.match(short.stdout, /deep undefined undefined/)
  assert.equal(short.last, '3 passed, 0 failed', 'without the one that is for long runs alone')
})

const LEAVING = `import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
test('leaves a server behind', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  child.unref()
  writeFileSync('pid', String(child.pid))
  console.log('left behind')
  WAIT
})
`

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // a killed process whose parent has not asked for it yet still has its number
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** A kill is carried out after the call that asks for it has returned. */
function hasEnded(pid: number): Promise<void> {
  return eventually(`process ${pid} has ended`, () => !isAlive(pid))
}

test('what tests leave behind ends with the run', async (t) => {
  const clone = withTests(t, { 'a.test.ts': LEAVING.replace('WAIT', '') })
  const { code, stdout } = await start(t, process.execPath, ['scripts/test.mjs'], clone).ended
  assert.equal(code, 0, stdout)
  await hasEnded(Number(readFileSync(join(clone, 'pid'), 'utf8')))
})

test('what tests have started ends when the run is ended', async (t) => {
  const clone = withTests(t, {
    'a.test.ts': LEAVING.replace('WAIT', 'await new Promise(() => setInterval(() => {}, 1000))'),
  })
  const running = start(t, process.execPath, ['scripts/test.mjs'], clone)
  await running.saw('left behind')
  running.child.kill('SIGTERM')
  assert.equal((await running.ended).code, 143)
  await hasEnded(Number(readFileSync(join(clone, 'pid'), 'utf8')))
})
