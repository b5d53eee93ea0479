import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { call } from './worlds/base/client.ts'
import { eventually } from './worlds/base/eventually.ts'
import { inContext, stages } from './worlds/deploy/image.ts'
import { freePort } from './worlds/servers/free-port.ts'

const ROOT = join(import.meta.dirname, '..')
const NOBODY = 65534

/** The work of Docker without Docker: the commands of the build in a folder, what is copied from it in another. */
test('the image is built from its context alone, runs on the pinned Node, and tells its health', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-image-'))
  t.after(() => rmSync(folder, { recursive: true, maxRetries: 5, retryDelay: 100 }))
  const [build, image, data] = ['build', 'image', 'data'].map((name) => join(folder, name)) as [string, string, string]
  for (const path of [build, image, data]) mkdirSync(path)
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  for (const name of listed.toString().split('\0'))
    if (name !== '' && inContext(name) && existsSync(join(ROOT, name))) cpSync(join(ROOT, name), join(build, name))
  const [building, final] = stages() as [ReturnType<typeof stages>[0], ReturnType<typeof stages>[0]]
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_/i.test(name)))
  // The pinned Node is not on the machine that builds.
  env.PATH = env
    .PATH!.split(':')
    .filter((path) => path !== dirname(process.execPath) && !path.includes('node_modules'))
    .join(':')
  for (const { name, words } of building)
    if (name === 'RUN') execFileSync('sh', ['-ec', words], { cwd: build, env, stdio: ['ignore', 'inherit', 'inherit'] })
  for (const { name, words } of final) {
    if (name !== 'COPY') continue
    const [to, ...from] = words.split(' ').slice(1).reverse()
    for (const path of from) {
      const source = join(build, path.replace('/app/', ''))
      cpSync(source, to === './' ? join(image, path.replace('/app/', '')) : join(image, to!), {
        recursive: true,
        verbatimSymlinks: true,
      })
    }
  }
  const sbom = JSON.parse(readFileSync(join(image, 'sbom.cdx.json'), 'utf8'))
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const listedNames = new Set(
    sbom.components.map(({ name, group }: { name: string; group?: string }) => (group ? `${group}/${name}` : name)),
  )
  assert.deepEqual(
    Object.keys(dependencies).filter((name) => !listedNames.has(name)),
    [],
  )
  assert.ok(!listedNames.has('typescript'))

  const [port, dashboard] = [await freePort(), await freePort()]
  const root = process.getuid?.() === 0
  if (root) chownSync(data, NOBODY, NOBODY)
  execFileSync('chmod', ['-R', 'a+rX', folder])
  const options = {
    cwd: image,
    // Nothing but the image's own Node, and a user who cannot write.
    env: {
      PATH: `${join(image, 'node_modules/.bin')}:/usr/bin:/bin`,
      SVC_STORAGE_PATH: data,
      SVC_GW_LISTENPORT: String(port),
      SVC_DB_LISTENPORT: String(dashboard),
      NODE_COMPILE_CACHE: join(data, 'cache'),
    },
    ...(root && { uid: NOBODY, gid: NOBODY }),
  }
  const child = spawn(join(image, 'bin/gatehouse'), ['all'], { ...options, stdio: ['ignore', 'ignore', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const ended = new Promise((resolve) => child.on('exit', resolve))
  await eventually('it serves', () =>
    call(port, '/ready').then(
      ({ status }) => status === 200,
      () => false,
    ),
  )
  const program = execFileSync('readlink', ['-f', `/proc/${child.pid}/exe`]).toString()
  assert.ok(program.startsWith(image), program)
  const health = JSON.parse(/CMD (.*)$/.exec(final.find(({ name }) => name === 'HEALTHCHECK')!.words)![1]!)
  const check = () =>
    new Promise((resolve) => spawn(health[0], health.slice(1), { ...options, stdio: 'ignore' }).on('exit', resolve))
  assert.equal(await check(), 0)
  assert.equal((await call(dashboard, '/', { headers: { accept: 'text/html' } })).status, 200)
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
  assert.equal(await check(), 1)
})
