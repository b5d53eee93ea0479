import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../model/json/json.ts'
import { publishApi } from '../publish/apis/apis.ts'
import type { PublishParts } from '../publish/documents/parts.ts'

/** A small upstream that answers every request with what it saw of it. */
export interface EchoUpstream {
  readonly port: number
  close(): Promise<void>
}

const SAMPLE_ID = 'sample'
const PROTECTED_ID = 'protected'
const MAX_ECHO_BYTES = 64 * 1024

/** Starts the echo upstream on loopback, on the port it had before if that is free. */
export async function startEcho(wantedPort: number): Promise<EchoUpstream> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      if (length < MAX_ECHO_BYTES) chunks.push(chunk)
      length += chunk.length
    })
    request.on('end', () => {
      const body = Buffer.concat(chunks).subarray(0, MAX_ECHO_BYTES).toString('utf8')
      const { method, url, headers } = request
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(`${JSON.stringify({ method, path: url, headers, body }, null, 2)}\n`)
    })
  })
  const port = await listen(server, wantedPort).catch(() => listen(server, 0))
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.removeListener('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

/**
 * Fills the empty store of a new installation with a keyless API and a protected one in front of the echo upstream; in a store that still has them,
 * points them at the upstream's present port. Answers the running upstream, undefined when the store holds other things only.
 */
export async function openSample(parts: PublishParts, isNew: boolean): Promise<EchoUpstream | undefined> {
  const { documents } = parts
  const stored = await documents.find('api', 'api_id', SAMPLE_ID)
  const empty = isNew && (await documents.list('api', { limit: 1 })).total === 0
  if (stored === undefined && !empty) return undefined
  const echo = await startEcho(portOf(stored?.body) ?? 0)
  const url = `http://127.0.0.1:${echo.port}`
  for (const [id, definition] of [
    [SAMPLE_ID, sampleDefinition(SAMPLE_ID, 'Sample', '/sample/', url, false)],
    [PROTECTED_ID, sampleDefinition(PROTECTED_ID, 'Protected sample', '/protected/', url, true)],
  ] as const) {
    const before = await documents.find('api', 'api_id', id)
    // One that its owner has changed or deleted is left alone.
    if (empty) await publishApi(parts, { format: 'oas', definition, actor: 'sample' })
    else if (before !== undefined && portOf(before.body) !== undefined && portOf(before.body) !== echo.port) {
      await publishApi(parts, {
        format: 'oas',
        definition: withUpstream(before.body.definition as JsonObject, url),
        apiId: id,
        actor: 'sample',
      })
    }
  }
  return echo
}

/** The loopback port that a sample API points at; undefined when it points elsewhere. */
function portOf(body: JsonObject | undefined): number | undefined {
  const text = JSON.stringify((body?.definition as JsonObject | undefined)?.['x-svc-api-gateway'] ?? null)
  const found = /"url":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(text)
  return found === null ? undefined : Number(found[1])
}

function withUpstream(definition: JsonObject, url: string): JsonObject {
  const extension = definition['x-svc-api-gateway'] as JsonObject
  return {
    ...definition,
    'x-svc-api-gateway': { ...extension, upstream: { ...(extension.upstream as JsonObject), url } },
  }
}

function sampleDefinition(id: string, name: string, listenPath: string, url: string, guarded: boolean): JsonObject {
  const extension: JsonObject = {
    info: { id, name, state: { active: true } },
    upstream: { url },
    server: {
      listenPath: { value: listenPath, strip: true },
      ...(guarded ? { authentication: { enabled: true, securitySchemes: { key: { enabled: true } } } } : {}),
    },
    middleware: { global: { trafficLogs: { enabled: true } } },
  }
  const guard: JsonObject = {
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
    security: [{ key: [] }],
  }
  return {
    openapi: '3.0.3',
    info: { title: name, version: '1' },
    paths: {},
    ...(guarded ? guard : {}),
    'x-svc-api-gateway': extension,
  }
}
