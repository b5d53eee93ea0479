// node scripts/check.mjs [--without-tests]: the one gate, the same here and in CI. Format and lint, types, lock file, and
// the tests, among them the house rules and the generated docs. The last line is `N passed, N failed`.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { lockFileProblems } from './lock-file.mjs'
import { runTests } from './run-tests.mjs'
import { main, ROOT, setUp } from './setup.mjs'
import { shortFiles } from './test-files.mjs'

const BIOME = join('node_modules', '@biomejs', 'biome', 'bin', 'biome')
const TSC = join('node_modules', 'typescript', 'bin', 'tsc')

await main(async () => {
  const node = await setUp({ all: true })
  const tool = (...args) => spawnSync(node, args, { cwd: ROOT, stdio: 'inherit' }).status === 0
  const gates = {
    'format and lint': () => tool(BIOME, 'check', '--error-on-warnings', '.'),
    types: () => tool(TSC, '--noEmit'),
    'types of the console': () => tool(TSC, '--noEmit', '--project', 'console'),
    'lock file': checkLockFile,
  }
  const counts = { passed: 0, failed: 0 }
  for (const [name, gate] of Object.entries(gates)) {
    const good = gate()
    counts[good ? 'passed' : 'failed']++
    console.log(`${good ? '✔' : '✖'} ${name}`)
  }
  if (!process.argv.includes('--without-tests')) {
    const tests = await runTests(shortFiles(), { together: true })
    counts.passed += tests.passed
    counts.failed += tests.failed
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed`)
  process.exitCode = counts.failed === 0 ? 0 : 1
})

function checkLockFile() {
  const read = (name) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'))
  const problems = lockFileProblems(read('package-lock.json'), read('package.json'))
  for (const problem of problems) console.error(`package-lock.json: ${problem}`)
  return problems.length === 0
}
