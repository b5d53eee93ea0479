import { flagOf, textOf } from '../apis/definition/members.ts'
import type { JsonObject } from '../json/json.ts'
import { PROOF_FIELD, type Scheme } from './scheme.ts'

/** A key, or the client certificate of the connection in its place. */
export const TOKEN_SCHEME: Scheme<'token'> = {
  method: 'token',
  type: 'authToken',
  on: 'use_standard_auth',
  config: 'authToken',
  identity: 'auth_token',
  rank: 6,
  declaration: { matches: ({ type }) => type === 'apiKey', declare: declareApiKey },
  classicSchema: {},
  oasSchema: {},
  classicTexts: {
    use_standard_auth: 'true: keys (`authToken`). Also without any method, unless `use_keyless`.',
  },
  oasTexts: {},
  pairs: [],
  takesCertificates: true,
  access: 'key',
  takesAnyWord: true,
  extraFields: [PROOF_FIELD],
  identifies: true,
}

function declareApiKey(config: JsonObject): JsonObject {
  const named = (member: string) => textOf(config, member) || 'Authorization'
  // Where no header is read, its name is that of no other place.
  if (flagOf(config, 'disable_header') && flagOf(config, 'use_param'))
    return { type: 'apiKey', in: 'query', name: named('param_name') }
  if (flagOf(config, 'disable_header') && flagOf(config, 'use_cookie'))
    return { type: 'apiKey', in: 'cookie', name: named('cookie_name') }
  return { type: 'apiKey', in: 'header', name: named('auth_header_name') }
}
