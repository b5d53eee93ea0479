// Which files are tests, and which of them have long runs.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { ROOT } from './setup.mjs'

const DEEP = 'GATEHOUSE_DEEP'
const IMPORT = /\b(?:from |import |import\()'(\.[^']+)'/g

/** Every `*.test.ts` below `test`, sorted, relative to the root of the project. */
export function testFiles() {
  return readdirSync(join(ROOT, 'test'), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('test', name))
    .sort()
}

/** True when the file, or one below `test` that it imports, reads the variable that raises the counts. */
export function usesDeep(file) {
  return mentions(resolve(ROOT, file), new Set())
}

function mentions(path, seen) {
  if (seen.has(path) || relative(join(ROOT, 'test'), path).startsWith('..')) return false
  seen.add(path)
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false
  const text = readFileSync(path, 'utf8')
  if (text.includes(DEEP)) return true
  return [...text.matchAll(IMPORT)].some((match) => mentions(resolve(dirname(path), match[1]), seen))
}
