// node scripts/run.mjs [node flags] FILE [arguments]: runs a file of the project on the pinned Node.
import { launch } from './launch.mjs'
import { main } from './setup.mjs'

/** Files that need no package of tests and checks. */
const OF_START = [
  'src/main.ts',
  'node_modules/vite/bin/vite.js',
  'examples/login-page/main.ts',
  'examples/login-page/run.ts',
]
const words = process.argv.slice(2)
const at = words.findIndex((word) => !word.startsWith('-'))
if (at === -1) {
  process.stderr.write('usage: node scripts/run.mjs [node flags] FILE [arguments]\n')
  process.exitCode = 2
} else {
  const all = !OF_START.includes(words[at])
  await main(() => launch(words[at], words.slice(at + 1), words.slice(0, at), { all }))
}
