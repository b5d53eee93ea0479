import assert from 'node:assert/strict'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { type Draft, defined } from '../base/definitions.ts'
import { startTestGateway, type TestGateway } from '../base/harness.ts'
import { type Origin, startOrigin } from '../servers/origin.ts'

/** An event of the gateway itself. */
export interface Told {
  readonly kind: string
  readonly apiId: string
  readonly detail: Readonly<Record<string, string | number>>
}

export interface Cared extends TestGateway {
  readonly told: Told[]
}

/** A gateway that serves one API, `/a/`. */
export async function caredFor(
  t: TestContext,
  draft: Partial<Draft> & { readonly url: string },
  env: Record<string, string> = {},
): Promise<Cared> {
  const told: Told[] = []
  const gateway = await startTestGateway({
    env,
    onGatewayEvent: (kind, apiId, detail) => void told.push({ kind, apiId, detail }),
  })
  t.after(() => gateway.close())
  const made = await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', ...draft }))
  assert.equal(made.status, 200, made.text)
  return { ...gateway, told }
}

/** Origins that answer with their own number. */
export async function origins(t: TestContext, count: number): Promise<Origin[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => numbered(t, index)))
}

async function numbered(t: TestContext, index: number): Promise<Origin> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  origin.script = (_request, response) => void response.end(String(index))
  return origin
}

/** `upstream.loadBalancing` over these URLs. */
export function balanced(urls: readonly string[], weights: readonly number[] = urls.map(() => 1)): JsonObject {
  const targets = urls.map((url, index) => ({ url, weight: weights[index]! }))
  return { enabled: true, skipUnavailableHosts: true, targets }
}

/** A bare TCP upstream. `talk` is called when the first bytes of a connection have arrived. */
export async function bareOrigin(
  t: TestContext,
  talk: (socket: Socket, text: string) => void,
): Promise<{ readonly url: string; readonly seen: string[] }> {
  const sockets = new Set<Socket>()
  const seen: string[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', (chunk) => {
      const text = chunk.toString('latin1')
      seen.push(text)
      talk(socket, text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

/** State of each target, in the order in which the definition names them, as `/svc/node` tells it. */
export async function targetStates(gateway: TestGateway): Promise<string[]> {
  const { json } = await gateway.svc('GET', '/svc/node')
  const { upstreams = [] } = json as { upstreams?: { targets: { state: string }[] }[] }
  return upstreams.flatMap(({ targets }) => targets.map(({ state }) => state))
}
