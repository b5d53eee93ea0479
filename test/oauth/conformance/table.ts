import type { Conformance } from '../../worlds/oauth/conformance-world.ts'
import { ENDPOINT_ROWS } from './rfc6749-endpoints.ts'
import { GRANT_ROWS } from './rfc6749-grants.ts'
import { TOKEN_ROWS } from './rfc6749-tokens.ts'
import { BEARER_ROWS } from './rfc6750.ts'
import { REVOCATION_ROWS } from './rfc7009.ts'
import { ASSERTION_ROWS } from './rfc7523.ts'
import { MANAGEMENT_ROWS, REGISTRATION_ROWS } from './rfc7591.ts'
import { PKCE_ROWS } from './rfc7636.ts'
import { INTROSPECTION_ROWS } from './rfc7662.ts'
import { NATIVE_ROWS } from './rfc8252.ts'
import { ISSUER_ROWS, METADATA_ROWS } from './rfc8414.ts'
import { DEVICE_ROWS } from './rfc8628.ts'
import { RESOURCE_ROWS } from './rfc8707.ts'
import { JWT_ROWS } from './rfc9068.ts'
import { REQUEST_OBJECT_ROWS } from './rfc9101.ts'
import { PUSHED_ROWS } from './rfc9126.ts'
import { DPOP_RESOURCE_ROWS } from './rfc9449-resource.ts'
import { DPOP_SERVER_ROWS } from './rfc9449-server.ts'
import { PRACTICE_ROWS } from './rfc9700.ts'
import { PROTECTED_ROWS } from './rfc9728.ts'

/** Statements of the OAuth RFCs for authorization servers and resource servers, each with its check. */
export const CONFORMANCE: readonly Conformance[] = [
  {
    rfc: 6749,
    title: 'The OAuth 2.0 Authorization Framework',
    rows: [...ENDPOINT_ROWS, ...GRANT_ROWS, ...TOKEN_ROWS],
  },
  { rfc: 6750, title: 'Bearer Token Usage', rows: BEARER_ROWS },
  { rfc: 7009, title: 'Token Revocation', rows: REVOCATION_ROWS },
  { rfc: 7523, title: 'JWT Profile for Client Authentication and Authorization Grants', rows: ASSERTION_ROWS },
  { rfc: 7591, title: 'Dynamic Client Registration', rows: REGISTRATION_ROWS },
  { rfc: 7592, title: 'Dynamic Client Registration Management', rows: MANAGEMENT_ROWS },
  { rfc: 7636, title: 'Proof Key for Code Exchange', rows: PKCE_ROWS },
  { rfc: 7662, title: 'Token Introspection', rows: INTROSPECTION_ROWS },
  { rfc: 8252, title: 'OAuth 2.0 for Native Apps', rows: NATIVE_ROWS },
  { rfc: 8414, title: 'Authorization Server Metadata', rows: METADATA_ROWS },
  { rfc: 8628, title: 'Device Authorization Grant', rows: DEVICE_ROWS },
  { rfc: 8707, title: 'Resource Indicators', rows: RESOURCE_ROWS },
  { rfc: 9068, title: 'JWT Profile for Access Tokens', rows: JWT_ROWS },
  { rfc: 9101, title: 'JWT-Secured Authorization Request (JAR)', rows: REQUEST_OBJECT_ROWS },
  { rfc: 9126, title: 'Pushed Authorization Requests', rows: PUSHED_ROWS },
  { rfc: 9207, title: 'Authorization Server Issuer Identification', rows: ISSUER_ROWS },
  {
    rfc: 9449,
    title: 'Demonstrating Proof of Possession (DPoP)',
    rows: [...DPOP_SERVER_ROWS, ...DPOP_RESOURCE_ROWS],
  },
  { rfc: 9700, title: 'Best Current Practice for OAuth 2.0 Security', rows: PRACTICE_ROWS },
  { rfc: 9728, title: 'Protected Resource Metadata', rows: PROTECTED_ROWS },
]
