// Becomes the pinned Node. Plain JavaScript for any Node from 18 on.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isPackage, ROOT, setUp } from './setup.mjs'

/** A regular expression with catastrophic backtracking falls back to V8's linear engine (docs/adr/0006). */
export const NODE_FLAGS = ['--enable-experimental-regexp-engine-on-excessive-backtracks']
/** As many as Node starts by itself. */
const MOST_HELPERS = 4
const FOLLOW_PARENT = ['--import', pathToFileURL(join(ROOT, 'scripts', 'follow-parent.mjs')).href]
const PASSED_ON = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']
const PARENT_POLL_MS = 500

/** Sets up (`all`: with the packages of tests), then runs `file` (from the root of the project) on the pinned Node in place of this process. */
export async function launch(file, args, nodeFlags = [], { all = false } = {}) {
  const node = await setUp({ all })
  const underNpm = process.env.npm_lifecycle_event !== undefined
  // --watch runs the file in a child, and the watcher itself follows nobody
  const watching = nodeFlags.some((flag) => flag.startsWith('--watch'))
  const replace = !watching && process.platform !== 'win32' && typeof process.execve === 'function'
  const follow = underNpm || !replace ? FOLLOW_PARENT : []
  const command = [...NODE_FLAGS, helpersFlag(), ...follow, ...nodeFlags, join(ROOT, file), ...args]
  if (replace) become(node, command)
  else accompany(node, command, underNpm)
}

/** The server's entry: the source in a clone, what `npm run build` made of it where Node strips no types. */
export function serverEntry() {
  const built = join('dist', 'main.js')
  return isPackage() && existsSync(join(ROOT, built)) ? built : join('src', 'main.ts')
}

/** The environment of this process, and in it where Node keeps what it has compiled, unless that is set. */
export function environment() {
  const cache = join(ROOT, 'node_modules', '.cache', 'gatehouse')
  return { NODE_COMPILE_CACHE: cache, ...process.env }
}

/**
 * Threads that collect garbage and compile beside the one that serves: no more than there are cores, for there they take turns with it.
 * On one core the slowest of a hundred edits among 10,000 APIs is seen after 40 ms with one, after 90 with four (docs/performance.md).
 */
function helpersFlag() {
  const cores = os.availableParallelism?.() ?? os.cpus().length
  return `--v8-pool-size=${Math.min(MOST_HELPERS, cores)}`
}

function become(node, command) {
  process.removeAllListeners('warning') // some hosts call execve experimental, which is not the user's business
  process.execve(node, [node, ...command], environment())
}

/**
 * Runs the child and exits with its status. It gets a separate process group: a Ctrl-C in a terminal goes to every
 * process of the foreground group, and would reach the child a second time when we pass it on.
 */
function accompany(node, command, underNpm) {
  const detached = process.platform !== 'win32'
  const child = spawn(node, command, { stdio: 'inherit', env: environment(), detached })
  for (const signal of PASSED_ON) process.on(signal, () => child.kill(signal))
  if (underNpm) watchParent(() => child.kill('SIGTERM'))
  child.on('error', (error) => {
    process.stderr.write(`gatehouse: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    for (const name of PASSED_ON) process.removeAllListeners(name)
    process.kill(process.pid, signal) // the parent process sees the same end
  })
}

function watchParent(gone) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    gone()
  }, PARENT_POLL_MS)
  timer.unref()
}
