import type { Definition } from '../../../api/apis/apis.ts'
import { EXTENSION } from '../editor/tree.ts'

/** What the short form asks for. */
interface Wanted {
  readonly name: string
  readonly path: string
  readonly upstream: string
  /** `keyless`, `authToken`, `oauth`, `basic` or `hmac`. */
  readonly auth: string
}

const TOKEN = '/oauth/token'
const AUTHORIZE = '/oauth/authorize'

/** How OpenAPI declares each way; signed requests are none of its schemes. */
const DECLARED: Readonly<Record<string, Definition>> = {
  authToken: { type: 'apiKey', in: 'header', name: 'Authorization' },
  oauth: {
    type: 'oauth2',
    flows: {
      authorizationCode: { authorizationUrl: AUTHORIZE, tokenUrl: TOKEN, scopes: {} },
      clientCredentials: { tokenUrl: TOKEN, scopes: {} },
    },
  },
  basic: { type: 'http', scheme: 'basic' },
}

/** The document of a new API: nothing but what is needed, so that the rest stays at its defaults. */
export function freshDefinition({ name, path, upstream, auth }: Wanted): Definition {
  const declared = DECLARED[auth]
  return {
    openapi: '3.0.3',
    info: { title: name, version: '1.0.0' },
    paths: {},
    ...(declared !== undefined && {
      components: { securitySchemes: { [auth]: declared } },
      security: [{ [auth]: [] }],
    }),
    [EXTENSION]: {
      info: { name, state: { active: true, internal: false } },
      upstream: { url: upstream },
      server: { listenPath: { value: path, strip: true }, authentication: authenticationOf(auth) },
      middleware: { global: { contextVariables: { enabled: true }, trafficLogs: { enabled: true } } },
    },
  }
}

function authenticationOf(auth: string): Definition {
  if (auth === 'keyless') return { enabled: false }
  const held = { enabled: true, header: { enabled: true, name: 'Authorization' } }
  if (auth === 'hmac') return { enabled: true, hmac: held }
  return { enabled: true, securitySchemes: { [auth]: auth === 'oauth' ? { ...held, refreshToken: true } : held } }
}
