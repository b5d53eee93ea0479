import type { Definition } from '../../../api/apis/apis.ts'
import type { SchemeForm } from '../authentication/scheme-setting.ts'
import { PROOFS, schemeForm } from '../authentication/schemes.ts'
import { EXTENSION } from '../editor/tree.ts'

/** The values of the short form. */
interface Wanted {
  readonly name: string
  readonly path: string
  readonly upstream: string
  /** `keyless`, or one of `OFFERED`. */
  readonly auth: string
}

/** The schemes that a new API can begin with, by the name of their settings. */
export const OFFERED: ReadonlyMap<string, SchemeForm> = new Map(
  PROOFS.map(schemeForm).flatMap((form) => (form.offer === undefined ? [] : [[form.config, form]])),
)

/** The document of a new API: nothing but what is needed, so that the rest stays at its defaults. */
export function freshDefinition({ name, path, upstream, auth }: Wanted): Definition {
  const declared = OFFERED.get(auth)?.offer?.declared
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
  const offer = OFFERED.get(auth)?.offer
  if (offer === undefined) return { enabled: false }
  const held = { enabled: true, header: { enabled: true, name: 'Authorization' }, ...offer.settings }
  return { enabled: true, ...(offer.declared === undefined ? { [auth]: held } : { securitySchemes: { [auth]: held } }) }
}
