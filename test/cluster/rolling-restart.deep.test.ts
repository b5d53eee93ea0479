import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fromDebian } from '../../scripts/debian.mjs'
import { call } from '../worlds/base/client.ts'
import { defined } from '../worlds/base/definitions.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { type Cluster, type Node, startCluster } from '../worlds/cluster/nodes.ts'
import { freePort } from '../worlds/servers/free-port.ts'
import { startOrigin } from '../worlds/servers/origin.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/operate/stop.md'), 'utf8')
/** The default of a cluster. */
const DELAY_MS = '5000'
/** Fewer where the machine is busy: the pause goes from answer to answer. */
const MOST_PER_SECOND = 1000
const CLIENTS = 20

/** The settings of a load balancer as the page prints them, with these ports. */
function printed(language: string, ports: readonly number[]): string {
  const block = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(PAGE)?.[1]
  assert.ok(block, `the page has settings of ${language}`)
  return ports.reduce((text, port, i) => text.replace(`10.0.0.${i + 1}:8080`, `127.0.0.1:${port}`), block)
}

const haproxySettings = (port: number, ports: readonly number[]) => `
global
  maxconn 2000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend front
  bind 127.0.0.1:${port}
  default_backend gateways
${printed('haproxy', ports)}`

const nginxSettings = (folder: string, port: number, ports: readonly number[]) => `
daemon off; worker_processes 1; ${process.getuid?.() === 0 ? 'user root;' : ''} pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 2000; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f;
  uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  ${printed('nginx', ports)}
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://gateways; } }
}`

/** A balancer in front of these ports; ends with the test. Answers its port. */
async function balance(t: TestContext, name: 'haproxy' | 'nginx', ports: readonly number[]): Promise<number> {
  const place = `/usr/sbin/${name}`
  await fromDebian(name, () => (existsSync(place) ? place : undefined))
  const folder = mkdtempSync(join(tmpdir(), `gatehouse-${name}-`))
  const port = await freePort()
  const file = join(folder, 'settings')
  writeFileSync(file, name === 'haproxy' ? haproxySettings(port, ports) : nginxSettings(folder, port, ports))
  const words = name === 'haproxy' ? ['-db', '-f', file] : ['-p', folder, '-c', file]
  const child: ChildProcess = spawn(place, words, { stdio: ['ignore', 'ignore', 'inherit'] })
  t.after(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })
  return port
}

interface Load {
  readonly failures: string[]
  served: number
  stop(): Promise<void>
}

/** Clients that keep connections, and ask and write until they are stopped. */
function load(port: number, writes: 'POST' | 'PUT'): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  let stopped = false
  const made: Load = {
    failures: [],
    served: 0,
    async stop() {
      stopped = true
      await Promise.all(clients)
      agent.destroy()
    },
  }
  const client = async (number: number) => {
    for (let i = 0; !stopped; i++) {
      const post = i % 3 === 0
      try {
        const { status } = await call(port, `/a/${number}/${i}`, {
          agent,
          ...(post && { method: writes, body: 'text' }),
        })
        if (status === 200) made.served++
        else made.failures.push(`${post ? writes : 'GET'} ${status}`)
      } catch (error) {
        made.failures.push(`${post ? writes : 'GET'} ${error}`)
      }
      await new Promise((resolve) => setTimeout(resolve, (CLIENTS * 1000) / MOST_PER_SECOND))
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, number) => client(number))
  return made
}

async function startGateways(
  cluster: Cluster,
): Promise<{ nodes: Node[]; ports: number[]; restart(i: number): Promise<void> }> {
  const ports = [await freePort(), await freePort()]
  const start = (i: number) =>
    cluster.start('gateway', {
      ...{ SVC_GW_LISTENPORT: String(ports[i]), SVC_GW_NODENAME: `edge-${i + 1}`, SVC_GW_DRAINDELAYMS: DELAY_MS },
    })
  const nodes = [await start(0), await start(1)]
  return {
    ...{ nodes, ports },
    async restart(i) {
      assert.equal(await nodes[i]!.stop(), 0)
      nodes[i] = await start(i)
      await eventually('it is ready', async () => (await call(ports[i]!, '/ready')).status === 200)
    },
  }
}

test('a rolling restart loses no request', async (t) => {
  const cluster = await startCluster(t)
  const origin = await startOrigin()
  t.after(() => origin.close())
  const { nodes, ports, restart } = await startGateways(cluster)
  assert.equal((await nodes[0]!.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url }))).status, 200)
  for (const node of nodes) await eventually('both serve it', async () => (await node.call('/a/x')).status === 200)

  for (const name of ['haproxy', 'nginx'] as const) {
    await t.test(`behind ${name}`, async (t) => {
      const port = await balance(t, name, ports)
      await eventually('it forwards', () =>
        call(port, '/a/x').then(
          ({ status }) => status === 200,
          () => false,
        ),
      )
      // nginx without checks may send no POST again (docs/operate/stop.md).
      const running = load(port, name === 'nginx' ? 'PUT' : 'POST')
      for (const i of [0, 1]) {
        const before = running.served
        await restart(i)
        assert.ok(running.served > before, 'requests were served meanwhile')
        // The balancer is to know that this one is back before the other one goes.
        const again = origin.seen.length
        await eventually('it gets requests again', async () => {
          const page = (await nodes[i]!.svc('GET', '/metrics')).text
          return origin.seen.length > again && /^svc_http_requests_total\{[^}]*api="a"[^}]*\} [1-9]/m.test(page)
        })
      }
      await running.stop()
      t.diagnostic(`${running.served} requests served`)
      assert.deepEqual(running.failures, [])
    })
  }
})
