import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../contract/adapters.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { type Product, startProduct } from '../worlds/flows/product.ts'

const skip = process.platform === 'linux' ? false : 'affinity and control groups are those of Linux'
const NO_SHARED_PORTS = `import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function (options, ...rest) {
  if (options?.reusePort !== true) return listen.call(this, options, ...rest)
  queueMicrotask(() => this.emit('error', Object.assign(new Error('listen ENOTSUP'), { code: 'ENOTSUP' })))
  return this
}`

const AUTO = { SVC_GW_WORKERS: 'auto' }
const workersLine = ({ printed }: Product) => printed.find((line) => line.startsWith('workers '))

/** The calls that the start prints, which must be answered as it says. */
async function tryPrinted(product: Product): Promise<void> {
  assert.equal((await product.call('/sample/hello')).status, 200)
  const lines = product.printed.filter((line) => /^ *curl /.test(line))
  assert.ok(lines.length > 0)
  for (const line of lines) {
    const text = execFileSync('sh', ['-c', line.trim()], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    if (line.includes('-i ')) assert.match(text, /^HTTP\/1\.1 (?:200|401)/, line)
  }
}

/** The folder of a new group with half a core, in the version that this system lets us write; undefined where it lets us write none. */
function halfACore(t: TestContext): string | undefined {
  const name = `gatehouse-test-${process.pid}`
  for (const [top, files] of [
    ['/sys/fs/cgroup/cpu', { 'cpu.cfs_period_us': '100000', 'cpu.cfs_quota_us': '50000' }],
    ['/sys/fs/cgroup', { 'cpu.max': '50000 100000' }],
  ] as const) {
    const folder = `${top}/${name}`
    try {
      mkdirSync(folder)
      t.after(() => eventually('the group is empty', async () => rmdirSync(folder) === undefined))
      for (const [file, text] of Object.entries(files)) writeFileSync(`${folder}/${file}`, text)
      return folder
    } catch {}
  }
  return undefined
}

test('auto chooses as many gateway threads as the process may use cores, and says so', { skip }, async (t) => {
  await t.test('on one core it is one', async (t) => {
    const product = await startProduct(t, temporaryFolder(t), AUTO, { command: ['taskset', '-c', '0'] })
    assert.equal(workersLine(product), 'workers    1 thread (auto: 1 core)')
    await tryPrinted(product)
    assert.equal(await product.stop(), 0)
  })

  await t.test('with a quota of half a core it is one', async (t) => {
    const folder = halfACore(t)
    if (folder === undefined) return t.skip('no control group can be made')
    const command = ['sh', '-c', `echo $$ > ${folder}/cgroup.procs; exec "$@"`, 'sh']
    const product = await startProduct(t, temporaryFolder(t), AUTO, { command })
    assert.equal(workersLine(product), 'workers    1 thread (auto: 1 core)')
    assert.equal(await product.stop(), 0)
  })

  await t.test('on two cores there are two, and what the start prints works', async (t) => {
    const command = ['taskset', '-c', '0,1']
    const product = await startProduct(t, temporaryFolder(t), AUTO, { command })
    assert.equal(workersLine(product), 'workers    2 threads (auto: 2 cores)')
    for (let i = 0; i < 5; i++) await tryPrinted(product)
    assert.equal(await product.stop(), 0)
  })

  await t.test('where ports cannot be shared it is one, which the start and the log say', async (t) => {
    const preload = `data:text/javascript,${encodeURIComponent(NO_SHARED_PORTS)}`
    const product = await startProduct(t, temporaryFolder(t), {
      NODE_OPTIONS: `--import "${preload}"`,
      SVC_GW_WORKERS: '4',
    })
    assert.equal(workersLine(product), 'workers    1 thread (this system cannot share a port)')
    assert.match(product.output(), /gateway\.workers: this system cannot share a port/)
    await tryPrinted(product)
    assert.equal(await product.stop(), 0)
  })
})
