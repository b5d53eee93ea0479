// node scripts/test.mjs [--deep] [FILE ...]: runs the test files (all, unless named) on the pinned Node.
// The last line is `N passed, N failed`. --deep: the long runs, in the files that have any, and the files that are one (`*.deep.test.ts`).

import { spawnSync } from 'node:child_process'
import { runTests } from './run-tests.mjs'
import { main, ROOT, setUp } from './setup.mjs'
import { shortFiles, testFiles, usesDeep } from './test-files.mjs'

const words = process.argv.slice(2)
const deep = words.includes('--deep')
const named = words.filter((word) => word !== '--deep')

await main(async () => {
  const files = named.length > 0 ? named : deep ? testFiles() : shortFiles()
  const together = named.length === 0 && !deep
  const { passed, failed } = await runTests(deep ? files.filter(usesDeep) : files, { deep, together })
  if (deep && named.length === 0) await sayUnusedControls()
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1
})

/** Names the controls of the console that no journey used. */
async function sayUnusedControls() {
  spawnSync(await setUp({ all: true }), ['scripts/console-controls.ts'], { cwd: ROOT, stdio: 'inherit' })
}
