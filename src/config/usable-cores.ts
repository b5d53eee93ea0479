import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join, relative } from 'node:path'

/** The files and numbers of the system that say how much of it this process may use. */
export interface SystemView {
  /** The text of a file; undefined where it cannot be read. */
  read(path: string): string | undefined
  /** Where the system has no such files. */
  parallelism(): number
  /** Bytes of memory that this process may use. */
  memory(): number
}

/** The system of this process. */
export const THIS_SYSTEM: SystemView = {
  read(path) {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return undefined
    }
  },
  parallelism: availableParallelism,
  memory() {
    // 0, or more than there is, where no control group has a bound.
    const bound = process.constrainedMemory()
    return bound > 0 ? Math.min(bound, totalmem()) : totalmem()
  },
}

/**
 * Whole cores that this process may use, one at least: those of its affinity, and no more than the CPU quotas of its control group and of
 * all above it (versions 1 and 2). `availableParallelism` takes the share of a group in times of contention off its quota too.
 */
export function usableCores(system: SystemView): number {
  const allowed = affinity(system.read('/proc/self/status') ?? '')
  if (allowed === undefined) return Math.max(1, Math.floor(system.parallelism()))
  return Math.max(1, Math.floor(Math.min(allowed, ...quotas(system))))
}

/** The number of cores in `Cpus_allowed_list: 0-3,8`; undefined where that line is missing. */
function affinity(status: string): number | undefined {
  const list = /^Cpus_allowed_list:\s*([\d,-]+)$/m.exec(status)?.[1]
  const count = list?.split(',').reduce((sum, range) => {
    const [first, last = first] = range.split('-').map(Number)
    return sum + last! - first! + 1
  }, 0)
  return count !== undefined && count > 0 ? count : undefined
}

/** The quotas, in cores, that hold for this process. */
function quotas(system: SystemView): number[] {
  const groups = (system.read('/proc/self/cgroup') ?? '').split('\n').map((line) => {
    const [id, controllers = '', ...path] = line.split(':')
    return { isUnified: id === '0', controllers: controllers.split(','), path: path.join(':') }
  })
  const mounts = (system.read('/proc/self/mountinfo') ?? '').split('\n').flatMap((line) => readMount(line) ?? [])
  const found: number[] = []
  for (const { isUnified, controllers, path } of groups) {
    if (!isUnified && !controllers.includes('cpu')) continue
    for (const mount of mounts) {
      if (isUnified ? mount.type !== 'cgroup2' : mount.type !== 'cgroup' || !mount.options.includes('cpu')) continue
      for (const folder of foldersOf(mount, path)) {
        const quota = isUnified ? unifiedQuota(system, folder) : firstQuota(system, folder)
        if (quota !== undefined) found.push(quota)
      }
    }
  }
  return found
}

interface Mount {
  /** The group that is mounted. */
  readonly root: string
  readonly point: string
  readonly type: string
  readonly options: readonly string[]
}

/** `36 35 0:30 /root /sys/fs/cgroup/cpu rw shared:1 - cgroup cgroup rw,cpu`; a blank in a path is `\040`. */
function readMount(line: string): Mount | undefined {
  const [front = '', back] = line.split(' - ')
  const [, , , root, point] = front.split(' ').map(unescapePath)
  const [type, , options] = back?.split(' ') ?? []
  if (root === undefined || point === undefined || type === undefined || options === undefined) return undefined
  return { root, point, type, options: options.split(',') }
}

function unescapePath(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}

/** The folders of a group and of all above it that can be seen: a container may see its own group alone, under a path that is not below the mount. */
function foldersOf({ root, point }: Mount, path: string): string[] {
  const below = relative(root, path)
  const parts = below === '' || below === '..' || below.startsWith('../') ? [] : below.split('/')
  return Array.from({ length: parts.length + 1 }, (_, length) => join(point, ...parts.slice(0, length)))
}

function unifiedQuota(system: SystemView, folder: string): number | undefined {
  return coresOf((system.read(join(folder, 'cpu.max')) ?? '').trim().split(' '))
}

function firstQuota(system: SystemView, folder: string): number | undefined {
  const number = (name: string) => (system.read(join(folder, name)) ?? '').trim()
  return coresOf([number('cpu.cfs_quota_us'), number('cpu.cfs_period_us')])
}

/** `max` and -1 are no quota. */
function coresOf([quota = '', period = '']: readonly string[]): number | undefined {
  const cores = /^\d+$/.test(quota) && /^\d+$/.test(period) ? Number(quota) / Number(period) : 0
  return Number.isFinite(cores) && cores > 0 ? cores : undefined
}
