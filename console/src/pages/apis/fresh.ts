import type { Definition } from '../../api/apis.ts'
import { EXTENSION } from './tree.ts'

/** What the short form asks for. */
interface Wanted {
  readonly name: string
  readonly path: string
  readonly upstream: string
  /** `keyless`, `authToken` or `oauth`. */
  readonly auth: string
}

const TOKEN = '/oauth/token'
const AUTHORIZE = '/oauth/authorize'

/** The document of a new API: nothing but what is needed, so that the rest stays at its defaults. */
export function freshDefinition({ name, path, upstream, auth }: Wanted): Definition {
  const held = { enabled: true, header: { enabled: true, name: 'Authorization' } }
  const scheme = auth === 'oauth' ? 'oauth' : 'authToken'
  const isOpen = auth === 'keyless'
  const declared: Definition =
    auth === 'oauth'
      ? {
          type: 'oauth2',
          flows: {
            authorizationCode: { authorizationUrl: AUTHORIZE, tokenUrl: TOKEN, scopes: {} },
            clientCredentials: { tokenUrl: TOKEN, scopes: {} },
          },
        }
      : { type: 'apiKey', in: 'header', name: 'Authorization' }
  return {
    openapi: '3.0.3',
    info: { title: name, version: '1.0.0' },
    paths: {},
    ...(!isOpen && { components: { securitySchemes: { [scheme]: declared } }, security: [{ [scheme]: [] }] }),
    [EXTENSION]: {
      info: { name, state: { active: true, internal: false } },
      upstream: { url: upstream },
      server: {
        listenPath: { value: path, strip: true },
        authentication: isOpen
          ? { enabled: false }
          : {
              enabled: true,
              securitySchemes: { [scheme]: auth === 'oauth' ? { ...held, refreshToken: true } : held },
            },
      },
      middleware: { global: { contextVariables: { enabled: true }, trafficLogs: { enabled: true } } },
    },
  }
}
