import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startPostgres, type ThrowAwayPostgres } from '../../../scripts/servers.mjs'
import { newSecret } from '../../../src/model/secrets/secret.ts'
import { type Answer, call } from '../base/client.ts'
import { startRedis, type TestRedis } from '../servers/redis.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** As the launcher gives them. It is not started here, for it would build the console where its sources have just changed. */
const FLAGS = ['--enable-experimental-regexp-engine-on-excessive-backtracks']

export const ADMIN = { email: 'ada@example.com', password: 'Correct-horse-7' }
export const SECRET = 'the-secret-of-every-gateway'
const ADMIN_SECRET = 'the-secret-of-every-dashboard-and-more'

/** One process of a cluster. */
export interface Node {
  /** Of the gateway, or of the dashboard where there is no gateway. */
  readonly port: number
  readonly pid: number
  readonly folder: string
  /** Everything printed so far. */
  output(): string
  call(path: string, headers?: Record<string, string>): Promise<Answer>
  /** A request with a body as it is. */
  send(method: string, path: string, headers: Record<string, string>, body: string): Promise<Answer>
  /** A call of the gateway's administration API. */
  svc(method: string, path: string, body?: unknown): Promise<Answer>
  /** A call of the dashboard's administration API. */
  admin(method: string, path: string, body?: unknown): Promise<Answer>
  /** Ends it as a crash would. */
  kill(): Promise<void>
  /** SIGTERM. Answers the exit status. */
  stop(): Promise<number | null>
  /** Waits until it ends by itself. Answers the exit status. */
  ended(): Promise<number | null>
}

/** Servers that the nodes of one test share. They end with it. */
export interface Cluster {
  readonly postgres: ThrowAwayPostgres
  readonly redis: TestRedis
  readonly sealKey: string
  start(role: 'gateway' | 'dashboard' | 'all', env?: Readonly<Record<string, string>>): Promise<Node>
  /** A program of this folder that prints what a node prints, with the settings of one. */
  startProgram(program: string, env?: Readonly<Record<string, string>>): Promise<Node>
}

/** Starts a PostgreSQL and a Redis for the nodes of a test. `redisSettings`: as for `startRedis`. */
export async function startCluster(t: TestContext, redisSettings: readonly string[] = []): Promise<Cluster> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis(t, redisSettings)])
  t.after(() => postgres.stop())
  const sealKey = newSecret()
  const env = {
    SVC_STORAGE_POSTGRESURL: postgres.url(),
    SVC_STORAGE_REDISURL: redis.url,
    SVC_STORAGE_SEALKEY: sealKey,
    SVC_GW_SECRET: SECRET,
    SVC_DB_ADMINSECRET: ADMIN_SECRET,
    SVC_BOOTSTRAP_ORGANISATION: 'Acme',
    SVC_BOOTSTRAP_EMAIL: ADMIN.email,
    SVC_BOOTSTRAP_PASSWORD: ADMIN.password,
  }
  return {
    ...{ postgres, redis, sealKey },
    start: (role, more) => startNode(t, [...FLAGS, join(ROOT, 'src/main.ts'), role], { ...env, ...more }),
    startProgram: (program, more) => startNode(t, [join(import.meta.dirname, program)], { ...env, ...more }),
  }
}

/** @throws Error with what the process printed when it ends before it serves */
async function startNode(
  t: TestContext,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Node> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-node-'))
  const child = spawn(process.execPath, command, {
    cwd: folder,
    env: {
      ...process.env,
      ...{ SVC_GW_LISTENPORT: '0', SVC_DB_LISTENPORT: '0', SVC_STORAGE_PATH: folder },
      // No load balancer has to notice.
      SVC_GW_DRAINDELAYMS: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
  t.after(async () => {
    await kill()
    rmSync(folder, { recursive: true, force: true })
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const print = { text: '' }
  await whenServing(child, print)
  const port = Number(/^(?:gateway|dashboard) +http:\/\/127\.0\.0\.1:(\d+)/m.exec(print.text)![1])
  const ask = (method: string, path: string, headers: Record<string, string>, body: unknown) =>
    call(port, path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  return {
    ...{ port, pid: child.pid!, folder, kill },
    output: () => print.text,
    call: (path, headers = {}) => call(port, path, { headers }),
    send: (method, path, headers, body) => call(port, path, { method, headers, body }),
    svc: (method, path, body) => ask(method, path, { 'x-svc-authorization': SECRET }, body),
    admin: (method, path, body) => ask(method, path, { 'admin-auth': ADMIN_SECRET }, body),
    async stop() {
      child.kill('SIGTERM')
      return ended
    },
    ended: () => ended,
  }
}

function whenServing(child: ChildProcess, print: { text: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (chunk: Buffer) => {
      print.text += chunk
      if (/^data +/m.test(print.text)) resolve()
    }
    child.stdout!.on('data', look)
    child.stderr!.on('data', look)
    child.once('exit', (code) => reject(new Error(`the node ended with ${code}: ${print.text}`)))
  })
}
