import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A disk of so many MB, 3 MB of which are taken by a file `ballast`; undefined without the right to mount one. */
export function smallDisk(t: TestContext, megabytes: number): string | undefined {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'ignore' })
  } catch {
    rmSync(path, { recursive: true })
    return undefined
  }
  t.after(() => {
    execFileSync('umount', ['-l', path])
    rmSync(path, { recursive: true })
  })
  writeFileSync(join(path, 'ballast'), Buffer.alloc(3_000_000))
  return path
}
