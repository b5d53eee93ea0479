import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Compares the bare wire engine with HAProxy: `node bench/wire.ts [seconds]`. Needs haproxy, nginx, wrk, taskset and two cores. */
const SECONDS = Number(process.argv[2] ?? 5)
const CLOCK_TICKS_PER_SECOND = 100
const proxyFile = fileURLToPath(new URL('wire-proxy.ts', import.meta.url))

interface Run {
  readonly name: string
  readonly requestsPerSecond: number
  readonly microsecondsPerRequest: number
  readonly latency: string
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

function pinned(core: number, command: string, args: readonly string[]): ChildProcess {
  return spawn('taskset', ['-c', String(core), command, ...args], { stdio: ['ignore', 'inherit', 'inherit'] })
}

async function listening(port: number): Promise<void> {
  const endsAt = Date.now() + 5000
  while (Date.now() < endsAt) {
    const socket = connect(port, '127.0.0.1')
    const open = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (open === true) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`nothing listens on ${port}`)
}

/** CPU seconds that a process has used. */
async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const parts = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(parts[11]) + Number(parts[12])) / CLOCK_TICKS_PER_SECOND
}

async function measure(name: string, port: number, pid: number): Promise<Run> {
  const wrk = (seconds: number) =>
    promisify(execFile)('taskset', [
      '-c',
      '1',
      'wrk',
      '-t1',
      '-c64',
      `-d${seconds}s`,
      '--latency',
      `http://127.0.0.1:${port}/a`,
    ])
  await wrk(1)
  const before = await cpuSeconds(pid)
  const { stdout } = await wrk(SECONDS)
  const used = (await cpuSeconds(pid)) - before
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1])
  const failed = /Non-2xx.*|Socket errors.*/.exec(stdout)
  if (failed !== null) throw new Error(`${name}: ${failed[0]}`)
  return {
    name,
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
    microsecondsPerRequest: (used / requests) * 1e6,
    latency: [...stdout.matchAll(/^\s+(50|99)%\s+([\d.]+\w+)$/gm)].map(([, p, v]) => `p${p} ${v}`).join(' '),
  }
}

function nginxConfig(folder: string, port: number): string {
  return `worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 100000000;
  server { listen 127.0.0.1:${port} reuseport; default_type application/json;
    location / { return 200 '{"id":1,"name":"small answer"}'; } } }`
}

function haproxyConfig(port: number, upstream: number): string {
  return `global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  option http-keep-alive
  http-reuse always
frontend f
  bind 127.0.0.1:${port}
  default_backend b
backend b
  server s 127.0.0.1:${upstream} pool-max-conn 128
`
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'wire-bench-'))
  const children: ChildProcess[] = []
  try {
    const [upstream, haproxy, engine] = [await freePort(), await freePort(), await freePort()]
    await writeFile(join(folder, 'nginx.conf'), nginxConfig(folder, upstream))
    await writeFile(join(folder, 'haproxy.cfg'), haproxyConfig(haproxy, upstream))
    children.push(pinned(1, 'nginx', ['-c', join(folder, 'nginx.conf'), '-p', folder]))
    await listening(upstream)
    const peer = pinned(0, 'haproxy', ['-db', '-q', '-f', join(folder, 'haproxy.cfg')])
    const own = pinned(0, process.execPath, [...process.execArgv, proxyFile, String(engine), String(upstream)])
    children.push(peer, own)
    await Promise.all([listening(haproxy), listening(engine)])
    const runs: Run[] = []
    for (let round = 0; round < 2; round++) {
      runs.push(await measure('haproxy', haproxy, peer.pid!))
      runs.push(await measure('engine', engine, own.pid!))
    }
    console.table(runs)
    const best = (name: string) =>
      Math.min(...runs.filter((run) => run.name === name).map((run) => run.microsecondsPerRequest))
    const ratio = best('haproxy') / best('engine')
    console.log(`CPU of HAProxy / CPU of the engine: ${ratio.toFixed(2)}`)
  } finally {
    for (const child of children) child.kill('SIGTERM')
    await rm(folder, { recursive: true, force: true })
  }
}

await main()
