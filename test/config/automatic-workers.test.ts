import assert from 'node:assert/strict'
import { cpus } from 'node:os'
import { posix } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { loadConfig } from '../../src/config/load.ts'
import { THIS_SYSTEM, usableCores } from '../../src/config/usable-cores.ts'
import { bareSystem } from '../worlds/base/bare-system.ts'

const MIB = 2 ** 20
const AUTO = { SVC_GW_WORKERS: 'auto' }
const SOCKET = { SVC_GW_LISTENSOCKET: 'unix:/run/gate.sock' }
const CLUSTER = { SVC_STORAGE_POSTGRESURL: 'postgres://db/x', SVC_STORAGE_REDISURL: 'redis://cache' }
const chosen = (
  env: Record<string, string>,
  more: { cores?: number; memory?: number; dashboard?: boolean } = {},
): readonly [number, string | undefined] => {
  const { dashboard = true, ...system } = more
  const loaded = loadConfig({ env, cwd: import.meta.dirname, dashboard, system: bareSystem(system) })
  return [loaded.config.gateway.workers, loaded.workersReason]
}

test('auto is a gateway for each core, and it is said why', () => {
  assert.deepEqual(chosen(AUTO, { cores: 1 }), [1, 'auto: 1 core'])
  assert.deepEqual(chosen(AUTO, { cores: 2 }), [2, 'auto: 2 cores'])
  assert.deepEqual(chosen(AUTO, { cores: 3 }), [2, 'auto: 3 cores, one of them for the dashboard'])
  assert.deepEqual(chosen(AUTO, { cores: 64 }), [63, 'auto: 64 cores, one of them for the dashboard'])
  assert.deepEqual(chosen(AUTO, { cores: 64, dashboard: false }), [64, 'auto: 64 cores'])
  assert.deepEqual(chosen(AUTO, { cores: 999 })[0], 256)
  assert.deepEqual(chosen(AUTO, { cores: 64, memory: 1024 * MIB }), [3, 'auto: room in 1024 MiB of memory; 64 cores'])
  for (const [memory, count] of [
    [100, 1],
    [512, 1],
    [767, 1],
    [768, 2],
    [16_384, 7],
  ] as const)
    assert.deepEqual(chosen(AUTO, { cores: 8, memory: memory * MIB })[0], count, `${memory}`)
})

test('there is one gateway unless more are asked for, and with a socket', () => {
  const cores = 4
  for (const env of [{}, CLUSTER, { SVC_SAMPLE: 'true' }, SOCKET] as Record<string, string>[]) {
    assert.deepEqual(chosen(env, { cores }), [1, undefined])
    assert.equal(chosen({ ...env, ...AUTO }, { cores })[0], env === SOCKET ? 1 : 3)
  }
  assert.deepEqual(chosen({ SVC_GW_WORKERS: '4' }, { cores: 1 }), [4, undefined])
})

/** A group with at most one quota, `[micro-seconds, of so many]`. */
const quota = fc.option(fc.tuple(fc.integer({ min: 1000, max: 900_000 }), fc.constantFrom(10_000, 100_000, 250_000)), {
  nil: undefined,
})

test('usable cores are those of the affinity, within the quotas of the group and those above it', () => {
  const system = fc.record({
    // From the top: names of groups may have a colon or a blank.
    groups: fc.array(fc.record({ name: fc.constantFrom('a', 'pod:7', 'with blank', 'x.slice'), quota }), {
      maxLength: 4,
    }),
    top: quota,
    version: fc.constantFrom(1, 2),
    /** How many of the groups are above what is mounted: a container sees only what is below. */
    hidden: fc.nat({ max: 4 }),
    ranges: fc.uniqueArray(fc.nat({ max: 40 }), { minLength: 1, maxLength: 5 }),
    seesOwnPath: fc.boolean(),
  })
  fc.assert(
    fc.property(system, ({ groups, top, version, hidden, ranges, seesOwnPath }) => {
      const above = Math.min(hidden, groups.length)
      const path = `/${groups.map(({ name }) => name).join('/')}`
      const root = `/${groups
        .slice(0, above)
        .map(({ name }) => name)
        .join('/')}`
      const point = version === 2 ? '/sys/fs/cgroup' : '/sys/fs/cgroup/cpu,cpuacct'
      const files: Record<string, string> = {
        '/proc/self/status': `Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t${ranges.map((at) => (at % 2 ? `${at * 4}-${at * 4 + 2}` : at * 4)).join(',')}\n`,
        '/proc/self/cgroup':
          version === 2 ? `0::${path}\n` : `12:memory:/elsewhere\n4:cpu,cpuacct:${path}\n1:name=systemd:/\n0::/other\n`,
        '/proc/self/mountinfo':
          version === 2
            ? `30 24 0:26 ${root.replaceAll(' ', '\\040')} ${point} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n`
            : `31 25 0:27 /elsewhere /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n33 25 0:29 ${root.replaceAll(' ', '\\040')} ${point} rw shared:9 master:2 - cgroup cgroup rw,cpu,cpuacct\n`,
      }
      const put = (folder: string, given: readonly [number, number] | undefined) => {
        if (version === 2)
          files[`${folder}/cpu.max`] = given === undefined ? 'max 100000\n' : `${given[0]} ${given[1]}\n`
        else {
          files[`${folder}/cpu.cfs_quota_us`] = `${given?.[0] ?? -1}\n`
          files[`${folder}/cpu.cfs_period_us`] = `${given?.[1] ?? 100_000}\n`
        }
      }
      const visible = [above === 0 ? top : groups[above - 1]!.quota]
      put(point, visible[0])
      let folder = point
      for (const group of groups.slice(above)) {
        folder = posix.join(folder, group.name)
        put(folder, group.quota)
        visible.push(group.quota)
      }
      // A namespace of its own shows the path of a container as above its mount.
      if (!seesOwnPath && above === groups.length)
        files['/proc/self/cgroup'] = version === 2 ? '0::/../..\n' : '4:cpu,cpuacct:/another\n'
      const affine = ranges.reduce((sum, at) => sum + (at % 2 ? 3 : 1), 0)
      const cores = visible.flatMap((each) => (each === undefined ? [] : [each[0] / each[1]]))
      const expected = Math.max(1, Math.floor(Math.min(affine, ...cores)))
      assert.equal(usableCores(bareSystem({ cores: 777, files })), expected, JSON.stringify(files))
    }),
    { numRuns: 300 },
  )
})

test('a system that says nothing has the cores that Node counts', () => {
  assert.equal(usableCores(bareSystem({ cores: 6 })), 6)
  assert.equal(usableCores(bareSystem({ cores: 0 })), 1)
  const here = usableCores(THIS_SYSTEM)
  assert.ok(here >= 1 && here <= cpus().length, String(here))
})
