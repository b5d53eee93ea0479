import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createClient } from '@redis/client'
import { fromDebian } from '../../../scripts/debian.mjs'
import { startServer, type ThrowAwayServer } from '../../../scripts/servers.mjs'
import { freePort } from './free-port.ts'

const NAMES = ['redis-server', 'valkey-server']
const FOLDERS = ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']
/** Another process may take a port between the look for a free one and its use. */
const TRIES = 5

/** An empty Redis of the machine on a free port. */
export interface TestRedis {
  readonly url: string
  readonly port: number
  /** Runs one command, on a separate connection. */
  command(...words: string[]): Promise<unknown>
  /** Kills it: what it has not saved is gone. */
  kill(): Promise<unknown>
  /** Starts it again on the same port. */
  start(): Promise<unknown>
}

/** Starts a server that ends with the test. `settings`: options of its command line, such as `--appendonly yes`. */
export async function startRedis(t: TestContext, settings: readonly string[] = []): Promise<TestRedis> {
  const { redis, server } = await launch(settings, [])
  t.after(() => server.stop())
  return redis
}

/** Starts a sentinel that watches a master by a name; two sentinels agree on its end. */
export async function startSentinel(t: TestContext, name: string, master: TestRedis): Promise<TestRedis> {
  const { redis, server } = await launch(['--sentinel'], ['sentinel resolve-hostnames no'])
  t.after(() => server.stop())
  await redis.command('SENTINEL', 'MONITOR', name, '127.0.0.1', String(master.port), '2')
  await redis.command('SENTINEL', 'SET', name, 'down-after-milliseconds', '500', 'failover-timeout', '3000')
  return redis
}

let common: Promise<TestRedis> | undefined

/** One server for all tests of the process, which must use separate keys. It ends with the process. */
export function commonRedis(): Promise<TestRedis> {
  common ??= launch([], []).then(({ redis }) => redis)
  return common
}

/** `file`: lines of a file of settings, which a sentinel writes to. */
async function launch(
  settings: readonly string[],
  file: readonly string[],
): Promise<{ redis: TestRedis; server: ThrowAwayServer }> {
  const place = await placeOfRedis()
  for (let left = TRIES; ; left--) {
    const port = await freePort()
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-redis-'))
    const named = file.length === 0 ? [] : [join(folder, 'redis.conf')]
    if (named[0] !== undefined) writeFileSync(named[0], file.join('\n'))
    const words = [...named, '--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...settings]
    try {
      const server = await startServer({
        ...{ folder, run: [place, ...words], ready: 'Ready to accept connections|Sentinel ID is', end: 'SIGKILL' },
      })
      const url = `redis://127.0.0.1:${port}`
      const redis: TestRedis = {
        ...{ url, port },
        command: (...own) => command(url, own),
        kill: () => server.halt('SIGKILL'),
        start: () => server.resume(),
      }
      return { redis, server }
    } catch (error) {
      if (left === 0) throw error
    }
  }
}

async function command(url: string, words: readonly string[]): Promise<unknown> {
  const client = createClient({ url })
  // The command reports it.
  client.on('error', () => {})
  await client.connect()
  try {
    return await client.sendCommand(words)
  } finally {
    client.destroy()
  }
}

/** The machine's server. Installed from Debian's packages where there is none and we may. */
function placeOfRedis(): Promise<string> {
  const places = FOLDERS.flatMap((folder) => NAMES.map((name) => join(folder, name)))
  return fromDebian('redis-server', () => places.find((path) => existsSync(path)))
}
