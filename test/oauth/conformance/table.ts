import type { Conformance } from '../../worlds/oauth/conformance-world.ts'
import { ENDPOINT_ROWS } from './rfc6749-endpoints.ts'
import { GRANT_ROWS } from './rfc6749-grants.ts'
import { TOKEN_ROWS } from './rfc6749-tokens.ts'
import { BEARER_ROWS } from './rfc6750.ts'
import { PKCE_ROWS } from './rfc7636.ts'
import { DPOP_RESOURCE_ROWS } from './rfc9449-resource.ts'
import { DPOP_SERVER_ROWS } from './rfc9449-server.ts'
import { PRACTICE_ROWS } from './rfc9700.ts'

/** Statements of the OAuth RFCs for authorization servers and resource servers, each with its check. */
export const CONFORMANCE: readonly Conformance[] = [
  {
    rfc: 6749,
    title: 'The OAuth 2.0 Authorization Framework',
    rows: [...ENDPOINT_ROWS, ...GRANT_ROWS, ...TOKEN_ROWS],
  },
  { rfc: 6750, title: 'Bearer Token Usage', rows: BEARER_ROWS },
  { rfc: 7636, title: 'Proof Key for Code Exchange', rows: PKCE_ROWS },
  {
    rfc: 9449,
    title: 'Demonstrating Proof of Possession (DPoP)',
    rows: [...DPOP_SERVER_ROWS, ...DPOP_RESOURCE_ROWS],
  },
  { rfc: 9700, title: 'Best Current Practice for OAuth 2.0 Security', rows: PRACTICE_ROWS },
]
