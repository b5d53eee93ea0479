import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../worlds/launcher/clone.ts'

const dependenciesOf = (path: string): string[] => {
  const { dependencies, optionalDependencies = {} } = JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
  return Object.keys({ ...dependencies, ...optionalDependencies })
}
const SERVER = dependenciesOf('package.json')
const CONSOLE = dependenciesOf('console/package.json')
const TEST = dependenciesOf('test/package.json')

/** Packages that the sources below a folder import, types left out: Node strips those. */
function importedBelow(folder: string): Set<string> {
  const found = new Set<string>()
  for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
    if (!/\.(?:ts|tsx|mjs)$/.test(name) || /(?:^|\/)(?:node_modules|dist)\//.test(name)) continue
    const text = readFileSync(join(ROOT, folder, name), 'utf8')
    for (const [, from] of text.matchAll(/^(?:import (?!type )[^'";]*?from|\} from|import) '([^'.][^']*)'/gm)) {
      const [scope, ...rest] = from!.split('/')
      if (!scope!.startsWith('node:') && !builtinModules.includes(scope!))
        found.add(scope!.startsWith('@') ? `${scope}/${rest[0]}` : scope!)
    }
  }
  return found
}

test('a start installs every package of server, console and login page', () => {
  const missing = (folder: string, known: readonly string[]) =>
    [...importedBelow(folder)].filter((name) => !known.includes(name)).map((name) => `${folder}: ${name}`)
  assert.ok(importedBelow('src').has('fastify') && importedBelow('console').has('react'))
  assert.deepEqual(
    [
      ...missing('src', SERVER),
      ...missing('console', [...CONSOLE, ...SERVER]),
      // Tutorials begin with it.
      ...missing('examples/login-page', SERVER),
    ],
    [],
  )
})

test('a package is in one of the three manifests, each of one version', () => {
  const all = [...SERVER, ...CONSOLE, ...TEST]
  assert.deepEqual(
    all.filter((name, at) => all.indexOf(name) !== at),
    [],
  )
  for (const path of ['package.json', 'console/package.json', 'test/package.json']) {
    const { dependencies, type } = JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
    assert.equal(type, 'module', path)
    assert.deepEqual(
      Object.entries(dependencies).filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(String(version))),
      [],
    )
  }
})
