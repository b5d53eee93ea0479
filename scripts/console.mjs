// Builds the console, the dashboard's web page, when its sources are newer than what was built. Plain JavaScript for any Node
// from 18 on; the build itself runs on the Node that it is given.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'

const VITE = join('node_modules', 'vite', 'bin', 'vite.js')

/** True when there is nothing to build: `console/dist` was built from these sources, or there are none. */
export function isConsoleFresh(root) {
  if (!fs.existsSync(join(root, 'console', 'vite.config.ts'))) return true
  try {
    return fs.readFileSync(stampOf(root), 'utf8') === sourcesOf(root)
  } catch {
    return false
  }
}

/** Builds the console; resolves with what went wrong, or undefined. The stamp comes last, so an interrupted build is done again. */
export function buildConsole(root, node) {
  process.stderr.write('gatehouse: building the console; this is done once\n')
  const sources = sourcesOf(root)
  return new Promise((resolve) => {
    const child = spawn(node, [VITE, 'build', 'console', '--logLevel', 'error'], { cwd: root, stdio: ['ignore', 2, 2] })
    child.on('error', (error) => resolve(error.message))
    child.on('exit', (code, signal) => {
      if (code !== 0) return resolve(`vite ended with ${signal ?? `status ${code}`}; its reason stands above`)
      fs.writeFileSync(stampOf(root), sources)
      resolve(undefined)
    })
  })
}

function stampOf(root) {
  return join(root, 'console', 'dist', '.built')
}

/** A hash of everything that the build is made from. */
function sourcesOf(root) {
  const hash = createHash('sha256').update(fs.readFileSync(join(root, 'package-lock.json')))
  for (const path of filesBelow(join(root, 'console')))
    hash.update(path.slice(root.length)).update(fs.readFileSync(path))
  return hash.digest('hex')
}

function filesBelow(folder) {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'dist' && name !== 'node_modules')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? filesBelow(path) : [path]
    })
}
