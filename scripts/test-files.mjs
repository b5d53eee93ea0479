// Which files are tests, and which of them have long runs.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { ROOT } from './setup.mjs'

const DEEP = 'GATEHOUSE_DEEP'
/** Folders whose tests, and those of the folders in them, change nothing of the process that they run in, and take less time than it takes to load what they use. */
const TOGETHER = ['config', 'dashboard', 'flows', 'gateway', 'model', 'oauth', 'publish', 'store', 'wire']
const MOST_TOGETHER = 12
/** In a shared process they would run around the tests of all its files. */
const OWN_HOOK = /^(?:before|after)(?:Each)?\(/m
const IMPORT = /\b(?:from |import |import\()'(\.[^']+)'/g

/** Every `*.test.ts` below `test`, sorted, relative to the root of the project. */
export function testFiles() {
  return readdirSync(join(ROOT, 'test'), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('test', name))
    .sort()
}

/** The files of every run. */
export function shortFiles() {
  return testFiles().filter((file) => !isDeepOnly(file))
}

/** The files in groups for a process each, with a name; those in folders of `TOGETHER` share one with their neighbours, unless they have hooks. */
export function groupsOf(files) {
  const groups = []
  for (const file of files) {
    const folder = TOGETHER.find((name) => file.startsWith(join('test', name, sep)) && !hasHooks(file))
    const last = groups.at(-1)
    if (folder !== undefined && last?.folder === folder && last.files.length < MOST_TOGETHER) last.files.push(file)
    else groups.push({ folder, files: [file] })
  }
  return groups.map((group) => ({ ...group, name: nameOf(group) }))
}

function hasHooks(file) {
  return OWN_HOOK.test(readFileSync(resolve(ROOT, file), 'utf8'))
}

function nameOf({ folder, files }) {
  const [first, last] = [files[0], files.at(-1)].map((file) => basename(file, '.test.ts'))
  return files.length === 1 ? files[0] : `${join('test', folder)}, ${first} to ${last}`
}

/** True for a file that is too long for every run. */
function isDeepOnly(file) {
  return file.endsWith('.deep.test.ts')
}

/** True when the file is for long runs alone, or it, or one below `test` that it imports, reads the variable that raises the counts. */
export function usesDeep(file) {
  return isDeepOnly(file) || mentions(resolve(ROOT, file), new Set())
}

function mentions(path, seen) {
  if (seen.has(path) || relative(join(ROOT, 'test'), path).startsWith('..')) return false
  seen.add(path)
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false
  const text = readFileSync(path, 'utf8')
  if (text.includes(DEEP)) return true
  return [...text.matchAll(IMPORT)].some((match) => mentions(resolve(dirname(path), match[1]), seen))
}
