// Runs test files in a separate process group, so that everything they start can be ended with them.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { environment, NODE_FLAGS } from './launch.mjs'
import { seedOfSources } from './seed.mjs'
import { ROOT, setUp } from './setup.mjs'
import { groupsOf } from './test-files.mjs'

/** Files at once. Many wait for timers of servers and stores, so three keep two cores busy; what deep runs load, more would slow down. */
const LANES = { short: 3, deep: 2 }
const ENDING = ['SIGTERM', 'SIGINT', 'SIGHUP']
/** For one test; the longest takes three minutes on a slow machine. What waits for ever must not cost the results of all others. */
const LONGEST_TEST_MS = Number(process.env.GATEHOUSE_LONGEST_TEST_MS ?? 600_000)
/** For one file: after its last test, hooks close browsers and servers. */
const LONGEST_FILE_MS = LONGEST_TEST_MS * 1.2

/**
 * Runs the files and answers how many tests passed and failed. A runner that dies counts as one failure.
 * When this process is ended, the whole group of the tests is killed. `together`: files that may share a process do.
 */
export async function runTests(files, { deep = false, together = false } = {}) {
  if (files.length === 0) return { passed: 0, failed: 0 }
  const node = await setUp({ all: true })
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-counts-'))
  const counts = join(folder, 'counts.json')
  try {
    const entries = together ? groupsOf(files).map((group) => entryOf(group, folder)) : files
    const status = await runGroup(node, entries, testEnvironment(counts, deep), deep ? LANES.deep : LANES.short)
    return readCounts(counts, status)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The file that a process of a group runs: the reporter calls it by its path below `groups`. */
function entryOf({ name, files }, folder) {
  if (files.length === 1) return files[0]
  const path = join(folder, 'groups', `${name}.mjs`)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, files.map((file) => `import ${JSON.stringify(pathToFileURL(join(ROOT, file)))}\n`).join(''))
  return path
}

function testEnvironment(counts, deep) {
  const { GATEHOUSE_DEEP: _, NODE_OPTIONS: __, ...env } = environment()
  // no settings from outside: the tests say what they need
  for (const name of Object.keys(env)) if (name.startsWith('SVC_')) delete env[name]
  // Three hundred files load the same sources, each in its own process: without the compile cache that is a third of their time.
  return {
    GATEHOUSE_SEED: String(seedOfSources()),
    ...env,
    GATEHOUSE_LONGEST_FILE_MS: String(LONGEST_FILE_MS),
    GATEHOUSE_COUNTS: counts,
    ...(deep && { GATEHOUSE_DEEP: '1' }),
  }
}

function runGroup(node, files, env, lanes) {
  const reporter = join(ROOT, 'scripts', 'reporter.mjs')
  const loaded = ['seed-properties.mjs', 'watchdog.mjs'].flatMap((name) => [
    '--import',
    pathToFileURL(join(ROOT, 'scripts', name)).href,
  ])
  const timeout = `--test-timeout=${LONGEST_TEST_MS}`
  const options = [...loaded, timeout, `--test-concurrency=${lanes}`, `--test-reporter=${reporter}`]
  const detached = process.platform !== 'win32'
  const child = spawn(node, [...NODE_FLAGS, '--test', ...options, ...files], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 1, 2],
    detached,
  })
  const killGroup = () => {
    try {
      process.kill(detached ? -child.pid : child.pid, 'SIGKILL')
    } catch (error) {
      if (error.code !== 'ESRCH') throw error
    }
  }
  const abort = (signal) => {
    killGroup()
    process.exit(signal === 'SIGINT' ? 130 : 143)
  }
  for (const signal of ENDING) process.on(signal, abort)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => {
      killGroup() // what a test left behind
      for (const signal of ENDING) process.off(signal, abort)
      resolve(code ?? 1)
    })
  })
}

function readCounts(path, status) {
  let counts
  try {
    counts = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return { passed: 0, failed: 1 }
  }
  return { passed: counts.passed, failed: counts.failed === 0 && status !== 0 ? 1 : counts.failed }
}
