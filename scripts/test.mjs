// node scripts/test.mjs [--deep] [FILE ...]: runs the test files (all, unless named) on the pinned Node.
// The last line is `N passed, N failed`. --deep: the long runs, in the files that have any.

import { runTests } from './run-tests.mjs'
import { main } from './setup.mjs'
import { testFiles, usesDeep } from './test-files.mjs'

const words = process.argv.slice(2)
const deep = words.includes('--deep')
const named = words.filter((word) => word !== '--deep')

await main(async () => {
  const all = named.length > 0 ? named : testFiles()
  const { passed, failed } = await runTests(deep ? all.filter(usesDeep) : all, { deep })
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1
})
