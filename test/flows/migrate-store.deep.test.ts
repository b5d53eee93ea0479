import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { classic, rights } from '../worlds/base/definitions.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { BASIC, done, FORM, storeOAuth } from '../worlds/cluster/acts.ts'
import { type Node, startCluster } from '../worlds/cluster/nodes.ts'
import { startOrigin } from '../worlds/servers/origin.ts'
import { runSql } from '../worlds/servers/postgres.ts'

const ROOT = join(import.meta.dirname, '../..')
const EMBEDDED = { SVC_GW_WORKERS: '1', SVC_STORAGE_POSTGRESURL: '', SVC_STORAGE_REDISURL: '' }
const PAGE = readFileSync(join(ROOT, 'docs/operate/growing.md'), 'utf8')
/** The commands that the page prints: to a cluster, back, and to give up. */
const PRINTED = [...PAGE.matchAll(/^bin\/gatehouse (migrate-store.*)$/gm)]

interface Ended {
  readonly status: number | null
  readonly text: string
}

/** Runs a command beside a node that serves from its folder. */
function run(node: Node, words: readonly string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [join(ROOT, 'src/main.ts'), ...words], {
    cwd: node.folder,
    env: { ...process.env, SVC_STORAGE_PATH: node.folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk))
  return { child, ended: new Promise((resolve) => child.on('close', (status) => resolve({ status, text }))) }
}

/** Calls one after the other, at whatever node is the present one, and the statuses of all of them. */
class Caller {
  readonly statuses: string[] = []
  #running: Promise<void> | undefined
  #stopped = false
  readonly #call: () => Promise<string>

  constructor(call: () => Promise<string>) {
    this.#call = call
    this.#running = this.#run()
  }

  /** Waits for some more answers. */
  more(count: number): Promise<unknown> {
    const wanted = this.statuses.length + count
    return eventually('more answers', () => this.statuses.length >= wanted)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#stopped) this.statuses.push(await this.#call().catch((error: Error) => error.message))
  }
}

test('a running installation moves to a cluster, and no reader notices', async (t) => {
  const cluster = await startCluster(t)
  const origin = await startOrigin()
  t.after(() => origin.close())
  const old = await cluster.start('all', EMBEDDED)
  await storeOAuth(old, origin.url)
  await done(old.svc('POST', '/svc/apis', classic('shop', '/shop/', origin.url, { use_keyless: false })))
  const quota = { quota_max: 100_000, quota_renewal_rate: 3600, quota_remaining: 100_000 }
  const create = (node: Node) => node.svc('POST', '/svc/keys/create', { access_rights: rights('shop'), ...quota })
  const { key } = (await done(create(old))) as { key: string }
  const issue = (node: Node) =>
    node.send('POST', '/tok/oauth/token', { ...BASIC, ...FORM }, 'grant_type=client_credentials')
  const { access_token: token } = (await issue(old)).json as { access_token: string }

  let node = old
  const keys: string[] = []
  const reader = (path: string, authorization: string) =>
    new Caller(async () => String((await node.call(path, { authorization })).status))
  const readers = [reader('/shop/a', key), reader('/tok/a', `Bearer ${token}`)]
  const refusal = ({ status, headers, text }: Awaited<ReturnType<typeof issue>>) =>
    status === 200 || (status === 503 && Number(headers['retry-after']) > 0) ? String(status) : `${status} ${text}`
  const writers = [
    new Caller(async () => {
      const answer = await create(node)
      if (answer.status === 200) keys.push((answer.json as { key: string }).key)
      return refusal(answer)
    }),
    new Caller(async () => refusal(await issue(node))),
  ]
  const callers = [...readers, ...writers]
  t.after(() => Promise.all(callers.map((caller) => caller.stop())))

  const [there = [], , givenUp = []] = PRINTED.map(([, line = '']) => line.split(' '))
  const addresses = (to: string) =>
    there.map((word) => (word.startsWith('postgres:') ? to : word.startsWith('redis:') ? cluster.redis.url : word))
  const url = cluster.postgres.url()
  const refused = await run(old, addresses(Object.assign(new URL(url), { username: 'nobody' }).href)).ended
  assert.equal(refused.status, 1, refused.text)
  const takesWrites = async () => assert.equal((await create(node)).status, 200)
  await takesWrites()

  // Killed in the freeze: writes stay refused until the move is given up, and nothing is in the target.
  const killed = run(old, addresses(url))
  await eventually('the freeze', async () => (await create(node)).status === 503)
  const second = await run(old, addresses(url)).ended
  assert.equal(second.status, 1)
  assert.match(second.text, /is in use by|holds data|a server is running/)
  killed.child.kill('SIGKILL')
  await killed.ended
  assert.equal((await create(node)).status, 503)
  const lifted = await run(old, givenUp).ended
  assert.equal(lifted.status, 0, lifted.text)
  await takesWrites()
  await eventually('the target is empty', async () => {
    const there = await runSql<{ n: number }>(
      url,
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE state LIKE 'idle in%'",
    )
    return there[0]!.n === 0
  })

  await Promise.all(callers.map((caller) => caller.more(5)))
  const before = await remaining(old, key)
  const moved = await run(old, addresses(url)).ended
  assert.equal(moved.status, 0, moved.text)
  assert.match(moved.text, /Writes were refused for/)
  // A new node makes each that it is not given.
  const secrets = Object.keys(JSON.parse(readFileSync(join(old.folder, 'secrets.json'), 'utf8')) as object)
  const needed = secrets.filter((name) => !name.endsWith('_previous'))
  assert.ok(needed.length >= 3)
  for (const name of needed) for (const text of [PAGE, moved.text]) assert.ok(text.includes(name), name)
  const acknowledged = [...keys]
  const next = await cluster.start('all')
  node = next
  await Promise.all(callers.map((caller) => caller.more(5)))
  assert.equal(await old.stop(), 0)
  await Promise.all(callers.map((caller) => caller.more(5)))
  await Promise.all(callers.map((caller) => caller.stop()))

  for (const { statuses } of readers) assert.deepEqual(new Set(statuses), new Set(['200']), 'reads')
  for (const { statuses } of writers) {
    assert.deepEqual(new Set(statuses), new Set(['200', '503']), 'writes')
    assert.deepEqual(statuses.slice(-5), ['200', '200', '200', '200', '200'])
  }
  for (const one of acknowledged) assert.equal((await next.call('/shop/a', { authorization: one })).status, 200)
  assert.ok((await remaining(next, key)) <= before)
})

async function remaining(node: Node, key: string): Promise<number> {
  const { headers } = await node.call('/shop/a', { authorization: key })
  return Number(headers['x-ratelimit-remaining'])
}
