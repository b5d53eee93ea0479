// Programs that tests need and Debian packages.
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withLock } from './lock.mjs'

/** Test files run side by side, in several checkouts too, and apt does not wait for the lists of packages. */
const LOCK = join(tmpdir(), 'gatehouse-apt.lock')
const INSTALL_MS = 600_000
/** RUNLEVEL: a server's package would start a server. */
const QUIETLY = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }

/**
 * Answers what `find` answers, after installing the package where it finds nothing and this is root.
 * @throws Error that names the package when it finds nothing even so
 */
export async function fromDebian(name, find) {
  let place = find()
  if (place === undefined && process.getuid?.() === 0) {
    place = await withLock(LOCK, () => {
      // Another test may have installed it meanwhile.
      if (find() === undefined) install(name)
      return find()
    })
  }
  if (place !== undefined) return place
  throw new Error(`the tests need what Debian's package ${name} holds: apt-get install ${name}`)
}

function install(name) {
  const apt = (...words) => {
    const options = { env: { ...process.env, ...QUIETLY }, encoding: 'utf8', timeout: INSTALL_MS }
    // Another apt-get is waited for as well.
    const { status, stderr } = spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=300', ...words], options)
    return status === 0 ? '' : stderr
  }
  // Lists that are there may be new enough; those of a new machine are not there.
  const get = ['install', '-y', '--no-install-recommends', name]
  if (apt(...get) === '') return
  const trouble = apt('update') || apt(...get)
  if (trouble !== '') throw new Error(`apt-get could not install ${name}: ${trouble}`)
}
