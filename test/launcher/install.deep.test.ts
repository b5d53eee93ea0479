import assert from 'node:assert/strict'
import { existsSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { environment, freshClone, start } from '../worlds/launcher/clone.ts'

test('a real install from a fresh clone, after one that was interrupted, gives the pinned server', async (t) => {
  const clone = freshClone(t)
  mkdirSync(join(clone, 'node_modules/left-over'), { recursive: true })
  mkdirSync(join(clone, '.setup.lock'))
  writeFileSync(join(clone, '.setup.lock', `999999999@${hostname()}`), '')
  const { code, stdout, stderr } = await start(t, hostNode(), ['bin/gatehouse', '--version'], clone).ended
  assert.equal(code, 0, stderr)
  assert.match(stdout, new RegExp(`^gatehouse \\d+\\.\\d+\\.\\d+ \\(Node ${process.version}\\)\n$`))
  assert.ok(existsSync(join(clone, 'node_modules/.installed')))
  assert.ok(!existsSync(join(clone, 'node_modules/left-over')))
  assert.ok(lstatSync(join(clone, 'node_modules/.bin/node')).isSymbolicLink())
  const size = diskBytes(join(clone, 'node_modules')) / 2 ** 20
  assert.ok(size <= 450, `node_modules takes ${Math.round(size)} MiB; docs/adr/0004-dependencies.md says at most 450`)
  assert.doesNotMatch(stderr, /npm warn/i)
})

function diskBytes(path: string): number {
  const stats = lstatSync(path)
  // Windows has no blocks.
  const own = (stats.blocks ?? Math.ceil(stats.size / 512)) * 512
  return stats.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + diskBytes(join(path, name)), own) : own
}

/** The Node that the machine brings, where npm or the shell can name one. */
function hostNode(): string {
  return process.env.npm_node_execpath ?? (environment().PATH ? 'node' : process.execPath)
}
