import assert from 'node:assert/strict'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { RecordRow } from '../../../src/store/ports/records.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { VERSIONS, type Version } from '../../worlds/gateway/exact-fields.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

/** More than all buffers on the way hold. */
const LARGE = 64 << 20

interface Download {
  /** Resolves when the answer has begun. */
  readonly begun: Promise<unknown>
  leave(): void
}

function download(port: number, version: Version, path: string): Download {
  if (version === '1.1') {
    const socket: Socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    // Reads no more than it has to: what waits in its buffers.
    const begun = new Promise((resolve) => socket.once('data', (chunk) => resolve(socket.pause() && chunk)))
    return { begun, leave: () => socket.destroy() }
  }
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  const stream = session.request({ ':path': path })
  stream.on('error', () => {})
  const begun = new Promise((resolve) => stream.once('response', resolve))
  return { begun, leave: () => session.destroy() }
}

interface Scene {
  readonly gateway: TestGateway
  /** Breaks the upstream's connection in the middle of the answer. */
  readonly breakUpstream: () => void
  lines(): Record<string, unknown>[]
  recorded(): Promise<unknown[]>
  /** Resolves when the upstream has begun an answer. */
  upstreamBegan(): Promise<void>
  /** Requests of an API by outcome, without those of which there is none. */
  outcomes(apiId: string): Promise<Record<string, number>>
}

async function open(t: TestContext, env: Record<string, string> = {}): Promise<Scene> {
  const origin = await startOrigin()
  let broken = () => {}
  let began = () => {}
  origin.script = ({ target }, response) => {
    response.writeHead(200)
    response.write(Buffer.alloc(target === '/large' ? LARGE : 1000))
    broken = () => response.destroy()
    began()
  }
  const store = openMemoryStore()
  const gateway = await startTestGateway({ store, accessLog: true, env })
  t.after(async () => {
    await gateway.close()
    await origin.close()
    await store.close()
  })
  const body = Buffer.from('{"a":1}').toString('base64')
  const buffered = defined({
    id: 'buffered',
    url: origin.url,
    paths: { '/small': { get: { operationId: 'small', responses: { 200: { description: 'ok' } } } } },
    operations: { small: { transformResponseBody: { enabled: true, format: 'json', body } } },
  })
  for (const api of [defined({ id: 'a', url: origin.url }), buffered])
    assert.equal((await gateway.svc('POST', '/svc/apis/oas', api)).status, 200)
  return {
    gateway,
    breakUpstream: () => broken(),
    lines: () =>
      gateway.accessLines.map((line) => JSON.parse(line)).filter(({ path }) => String(path).startsWith('/a/')),
    upstreamBegan: () =>
      new Promise((resolve) => {
        began = resolve
      }),
    async outcomes(apiId) {
      const page = (await gateway.svc('GET', '/metrics')).text
      const found = page.matchAll(/^svc_http_request_outcomes_total\{api="(\w+)",outcome="(\w+)"\} ([1-9]\d*)$/gm)
      return Object.fromEntries(
        [...found].filter(([, api]) => api === apiId).map(([, , name, count]) => [name, Number(count)]),
      )
    },
    async recorded() {
      await gateway.gateway.stop()
      const rows = (await store.records.after({ after: 0, limit: 10 })) as RecordRow[]
      return rows.map(({ status, fields }) => [status, fields.error_code])
    },
  }
}

const OUTCOMES = {
  client: 'cut_by_client',
  upstream: 'cut_by_upstream',
  stop: 'cut_by_gateway',
  timeout: 'cut_by_gateway',
} as const

const CUTS = {
  async client(_scene: Scene, { leave }: Download) {
    leave()
  },
  async upstream({ breakUpstream }: Scene) {
    breakUpstream()
  },
  async stop({ gateway }: Scene) {
    await gateway.gateway.stop()
  },
  // Does not read, for longer than `body_idle_ms`.
  async timeout() {},
}

for (const version of VERSIONS) {
  for (const [by, cut] of Object.entries(CUTS)) {
    test(`a download over HTTP/${version} that is cut by ${by} is logged and recorded so`, async (t) => {
      const scene = await open(t, {
        SVC_GW_DRAINTIMEOUTMS: '100',
        ...(by === 'timeout' && { SVC_GW_BODYIDLEMS: '200' }),
      })
      const reading = download(scene.gateway.port, version, by === 'timeout' ? '/a/large' : '/a/small')
      t.after(() => reading.leave())
      await reading.begun
      await cut(scene, reading)
      await eventually('its line is written', () => scene.lines().length === 1)
      const [line] = scene.lines()
      const outcome = OUTCOMES[by as keyof typeof OUTCOMES]
      assert.partialDeepStrictEqual(line, { status: 200, cut: by, outcome, level: by === 'client' ? 40 : 50 })
      if (by !== 'stop') assert.deepEqual(await scene.outcomes('a'), { [outcome]: 1 })
      assert.deepEqual(await scene.recorded(), [[200, `cut_by_${by}`]])
    })
  }
}

for (const version of VERSIONS) {
  for (const by of ['client', 'stop'] as const) {
    test(`over HTTP/${version} a request that ${by} cut before a byte was sent is not logged as 200`, async (t) => {
      const scene = await open(t, { SVC_GW_DRAINTIMEOUTMS: '100' })
      const begun = scene.upstreamBegan()
      // Read whole before any of it is sent.
      const reading = download(scene.gateway.port, version, '/buffered/small')
      t.after(() => reading.leave())
      reading.begun.catch(() => {})
      await begun
      await CUTS[by](scene, reading)
      const lines = () =>
        scene.gateway.accessLines.map((line) => JSON.parse(line)).filter(({ api_id }) => api_id === 'buffered')
      await eventually('its line is written', () => lines().length === 1)
      assert.partialDeepStrictEqual(lines()[0], { status: 499, cut: by, outcome: OUTCOMES[by], bytes_out: 0 })
    })
  }
}

test('an answer that is complete is not cut, whatever becomes of the connection', async (t) => {
  const scene = await open(t)
  const { gateway } = scene
  const reading = connect(gateway.port, '127.0.0.1')
  reading.write('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n')
  await new Promise((resolve) => reading.once('data', resolve))
  reading.destroy()
  await gateway.gateway.stop()
  assert.ok(gateway.accessLines.length > 0)
  assert.ok(gateway.accessLines.every((line) => line.includes('"outcome":"complete"')))
  assert.ok(gateway.accessLines.every((line) => !line.includes('"cut"')))
})
