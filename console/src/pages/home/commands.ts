import { type FirstApi, firstKeyBody } from '../../api/traffic/home.ts'
import { quoted } from '../../parts/display/curl.ts'

/** The parameters of a command. */
interface Caller {
  /** Address of the dashboard. */
  readonly dashboard: string
  /** API credential of the reader. */
  readonly credential: string
}

/** Adds an API in front of an upstream that answers; its callers need a key. */
export function addApiCommand({ dashboard, credential }: Caller, upstream: string): string {
  const document = {
    openapi: '3.0.3',
    info: { title: 'First API', version: '1' },
    paths: {},
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
    security: [{ key: [] }],
    'x-svc-api-gateway': {
      info: { name: 'First API', state: { active: true } },
      upstream: { url: upstream },
      server: {
        listenPath: { value: '/first/', strip: true },
        authentication: { enabled: true, securitySchemes: { key: { enabled: true } } },
      },
      middleware: { global: { trafficLogs: { enabled: true } } },
    },
  }
  return post(`${dashboard}/api/apis/oas`, credential, document)
}

/** Makes this key, with rights for one API. */
export function makeKeyCommand({ dashboard, credential }: Caller, key: string, api: FirstApi): string {
  return post(`${dashboard}/api/keys/${key}`, credential, firstKeyBody(api))
}

function post(url: string, credential: string, body: unknown): string {
  const lines = [`curl -X POST ${quoted(url)}`, `  -H ${quoted(`Authorization: ${credential}`)}`]
  return [...lines, `  -d ${quoted(JSON.stringify(body, null, 1))}`].join(' \\\n')
}
