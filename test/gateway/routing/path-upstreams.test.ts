import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { fromDebian } from '../../../scripts/debian.mjs'
import { call } from '../../worlds/base/client.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { freePort } from '../../worlds/servers/free-port.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'

/** Starts a server that answers every request with the path that it takes it for; answers its port. */
type Upstream = (t: TestContext) => Promise<number>

const nodeServer =
  (pathOf: (target: string) => string): Upstream =>
  async (t) => {
    const server = createServer(({ url = '' }, response) => {
      try {
        response.end(pathOf(url))
      } catch {
        response.writeHead(400).end()
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
    return (server.address() as AddressInfo).port
  }

function started(t: TestContext, command: string, ...words: string[]): ChildProcess {
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(async () => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit')
  })
  return child
}

const WSGI = `
import posixpath, sys
from wsgiref.simple_server import make_server, WSGIRequestHandler
class Quiet(WSGIRequestHandler):
    def log_message(self, *args): pass
def app(environ, start_response):
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [environ['PATH_INFO'].encode('latin-1')]
server = make_server('127.0.0.1', 0, app, handler_class=Quiet)
print(server.server_port, flush=True)
server.serve_forever()
`

const python: Upstream = async (t) => {
  const child = started(t, 'python3', '-c', WSGI)
  const [line] = (await once(createInterface(child.stdout!), 'line')) as [string]
  return Number(line)
}

const nginx: Upstream = async (t) => {
  const find = () => ['/usr/sbin/nginx', '/usr/bin/nginx'].find((file) => existsSync(file))
  const program = await fromDebian('nginx-light', find)
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-nginx-'))
  const port = await freePort()
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const server = `server { listen 127.0.0.1:${port}; location / { return 200 "$uri"; } }`
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr crit; events {} http { access_log off; ${paths.join(' ')} ${server} }`,
  )
  started(t, program, '-p', folder, '-c', join(folder, 'nginx.conf'))
  t.after(() => rmSync(folder, { recursive: true }))
  const answers = () =>
    call(port, '/').then(
      ({ status }) => status === 200,
      () => false,
    )
  await eventually('nginx answers', answers)
  return port
}

const UPSTREAMS: Readonly<Record<string, Upstream>> = {
  decoding: nodeServer((target) => decodeURIComponent(target)),
  'decoding, backslashes are slashes': nodeServer((target) => decodeURIComponent(target).replaceAll('\\', '/')),
  'URL of the platform': nodeServer((target) => decodeURIComponent(new URL(target, 'http://up.test').pathname)),
  ...(DEEP && { python, nginx }),
}

const piece = fc.constantFrom(
  ...[
    '/',
    '/',
    '/',
    'public',
    'public',
    'admin',
    'admin',
    'x',
    '..',
    '..',
    '.',
    '%2e',
    '%2E%2e',
    '%2f',
    '%2F',
    '%5c',
    '%5C',
    '%252f',
  ],
  ...[
    '%255c',
    '%252e',
    '%c0%ae',
    '%c0%af',
    '%e0%80%af',
    '%ff',
    ';',
    '%3b',
    '//',
    '%61dmin',
    'p%75blic',
    '%20',
    '%0a',
    '%09',
    'é'.normalize(),
    '%C3%A9',
  ],
)
const attack = fc
  .array(piece, { minLength: 2, maxLength: 9 })
  .map((pieces) => `/${pieces.join('')}`.replaceAll('é', '%c3%a9'))

for (const [name, start] of Object.entries(UPSTREAMS)) {
  test(`no spelling of a path gets past a rule: ${name}`, async (t) => {
    const port = await start(t)
    const gateway = await startTestGateway()
    t.after(() => gateway.close())
    const url = `http://127.0.0.1:${port}/pbase`
    const on = { enabled: true }
    const operation = (operationId: string) => ({ get: { operationId, responses: { 200: { description: 'ok' } } } })
    const drawn = {
      paths: { '/admin/*': operation('admin'), '/public/{slug}': operation('public') },
      operations: { admin: { block: on }, public: { ignoreAuthentication: on } },
    }
    const version = {
      name: 'Default',
      use_extended_paths: true,
      extended_paths: {
        black_list: [{ path: '/admin/*', method: 'GET' }],
        ignored: [{ path: '/public/{slug}', method: 'GET' }],
      },
    }
    const keyed = { use_keyless: false, auth_configs: { authToken: { auth_header_name: 'X-Key' } } }
    const keys: Record<string, { all: string; public: string }> = {}
    const keyOf = async (id: string, allowed_urls: object[]) => {
      const access_rights = { [id]: { api_id: id, api_name: id, versions: ['Default'], allowed_urls } }
      return ((await gateway.svc('POST', '/svc/keys', { access_rights })).json as { key: string }).key
    }
    for (const allowed of [false, true]) {
      const [oas, old] = [`o${allowed}`, `c${allowed}`]
      const definitions = [
        defined({ id: oas, url, keyIn: 'X-Key', server: { allowEncodedSlashes: allowed }, ...drawn }),
        classic(old, `/${old}/`, url, {
          ...keyed,
          allow_encoded_slashes: allowed,
          version_data: { not_versioned: true, versions: { Default: version } },
        }),
      ]
      for (const api of definitions) {
        const made = await gateway.svc('POST', 'openapi' in api ? '/svc/apis/oas' : '/svc/apis', api)
        assert.equal(made.status, 200, made.text)
      }
      for (const id of [oas, old]) {
        keys[id] = {
          all: await keyOf(id, []),
          public: await keyOf(id, [{ url: `^/${id}/public/.*`, methods: ['GET'] }]),
        }
      }
    }
    let reached = 0
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.keys(keys)), attack, async (id, path) => {
        for (const who of ['all', 'public', 'nobody'] as const) {
          const headers = who === 'nobody' ? {} : { 'X-Key': keys[id]![who] }
          const { status, text } = await call(gateway.port, `/${id}${path}`, { headers })
          if (status !== 200) continue
          reached++
          const seen = posix.normalize(text)
          const told = `${who} at ${id}: ${path} was taken for ${text}`
          assert.match(seen, /^\/pbase(?:\/|$)/, told)
          assert.doesNotMatch(seen, /^\/pbase\/admin(?:\/|$)/, told)
          if (who === 'public') assert.match(seen, /^\/pbase\/public\//, told)
          if (who === 'nobody') assert.match(seen, /^\/pbase\/public\/[^/]+\/?$/, told)
        }
      }),
      { numRuns: DEEP ? 5000 : 250 },
    )
    assert.ok(reached > 0, 'nothing ever came through')
  })
}
