import { createHash } from 'node:crypto'
import { REDIRECT } from '../flows/oauth-world.ts'
import {
  type Case,
  CLIENT_MISSING,
  FRAGMENT,
  MODE,
  NO_REDIRECT,
  NOT_FOUND,
  PAR_URI,
  PROOF_INVALID,
  REDIRECT_NAME,
  SCOPE_REFUSED,
} from './negative.ts'
import { browse, credentials, newHolder, one, PRIVATE_JWK, proof } from './negative-requests.ts'
import type { Side } from './sides.ts'

const CHALLENGE = createHash('sha256').update('v'.repeat(43)).digest('base64url')

/** Client credentials with a proof, which is made for each side. */
const proved = (make: (side: Side) => string) => (side: Side) =>
  credentials({}, { headers: { dpop: make(side) } })(side)

export const PROOF_CASES: readonly Case[] = [
  { what: 'no JWT', ours: '400 invalid_dpop_proof', run: proved(() => 'x') },
  { what: 'another method', ours: '400 invalid_dpop_proof', run: proved((side) => proof(side, { htm: 'GET' })) },
  {
    what: 'another address',
    ours: '400 invalid_dpop_proof',
    run: proved((side) => proof(side, { htu: 'https://evil.example/token' })),
  },
  {
    what: 'an hour old',
    ours: '400 invalid_dpop_proof',
    run: proved((side) => proof(side, { iat: Math.floor(Date.now() / 1000) - 3600 })),
  },
  {
    what: 'of the next hour',
    ours: '400 invalid_dpop_proof',
    run: proved((side) => proof(side, { iat: Math.floor(Date.now() / 1000) + 3600 })),
  },
  { what: 'no jti', ours: '400 invalid_dpop_proof', run: proved((side) => proof(side, { jti: undefined })) },
  { what: 'no iat', ours: '400 invalid_dpop_proof', run: proved((side) => proof(side, { iat: undefined })) },
  { what: 'another typ', ours: '400 invalid_dpop_proof', run: proved((side) => proof(side, {}, { typ: 'JWT' })) },
  { what: 'alg none', ours: '400 invalid_dpop_proof', run: proved((side) => proof(side, {}, { alg: 'none' })) },
  { what: 'a symmetric alg', ours: '400 invalid_dpop_proof', run: proved((side) => proof(side, {}, { alg: 'HS256' })) },
  {
    what: 'a private key in it',
    ours: '400 invalid_dpop_proof',
    run: proved((side) => proof(side, {}, { jwk: PRIVATE_JWK })),
  },
  {
    what: 'signed by another key',
    ours: '400 invalid_dpop_proof',
    run: proved((side) => proof(side, {}, {}, newHolder().privateKey)),
  },
  {
    what: 'used before',
    ours: '400 invalid_dpop_proof',
    peer: '400 invalid_grant',
    why: PROOF_INVALID,
    async run(side) {
      const headers = { dpop: proof(side) }
      const first = await credentials({}, { headers })(side)
      if (first.status !== 200) return first
      return credentials({}, { headers })(side)
    },
  },
]

export const REQUEST_CASES: readonly Case[] = [
  {
    what: 'a pushed request by nobody',
    ours: '401 invalid_client Basic',
    run: one('par', {}, { as: '' }),
    peer: '400 invalid_request',
    why: CLIENT_MISSING,
  },
  {
    what: 'a pushed request by GET',
    ours: '405 invalid_request',
    run: one('par', '', { method: 'GET' }),
    peer: '404 cacheable',
    why: NOT_FOUND,
  },
  {
    what: 'a pushed request_uri',
    ours: '400 invalid_request',
    run: pushed({ request_uri: 'urn:ietf:params:oauth:request_uri:x' }),
    peer: '400 request_uri_not_supported',
    why: PAR_URI,
  },
  {
    what: 'a pushed foreign redirect URI',
    ours: '400 invalid_request',
    run: pushed({ redirect_uri: 'https://evil.example/' }),
  },
  { what: 'a pushed request without response_type', ours: '400 invalid_request', run: pushed({ response_type: '' }) },
  { what: 'a pushed implicit request', ours: '400 unsupported_response_type', run: pushed({ response_type: 'token' }) },
  {
    what: 'a pushed plain challenge',
    ours: '400 invalid_request',
    run: pushed({ code_challenge: CHALLENGE, code_challenge_method: 'plain' }),
  },
  {
    what: 'a pushed malformed challenge',
    ours: '400 invalid_request',
    run: pushed({ code_challenge: 'x', code_challenge_method: 'S256' }),
  },
  {
    what: 'a pushed unknown scope',
    ours: '400 invalid_scope',
    run: pushed({ scope: 'admin' }),
    peer: '201',
    why: SCOPE_REFUSED,
  },
  { what: 'an unknown client', ours: '400 invalid_client', run: (side) => browse(side, { client_id: 'nobody' }) },
  { what: 'no client', ours: '400 invalid_request', run: (side) => browse(side, { client_id: undefined }) },
  {
    what: 'a foreign redirect URI',
    ours: '400 invalid_request',
    run: (side) => browse(side, { redirect_uri: 'https://evil.example/' }),
    peer: '400 invalid_redirect_uri',
    why: REDIRECT_NAME,
  },
  {
    what: 'a redirect URI below the registered one',
    ours: '400 invalid_request',
    run: (side) => browse(side, { redirect_uri: `${REDIRECT}/../x` }),
    peer: '400 invalid_redirect_uri',
    why: REDIRECT_NAME,
  },
  {
    what: 'a redirect URI with a query more',
    ours: '400 invalid_request',
    run: (side) => browse(side, { redirect_uri: `${REDIRECT}?a=b` }),
    peer: '400 invalid_redirect_uri',
    why: REDIRECT_NAME,
  },
  { what: 'two clients', ours: '400 invalid_request', run: (side) => browse(side, {}, '&client_id=other') },
  {
    what: 'two redirect URIs',
    ours: '400 invalid_request',
    run: (side) => browse(side, {}, `&redirect_uri=${REDIRECT}`),
    peer: '303 invalid_request > client.example',
    why: NO_REDIRECT,
  },
  {
    what: 'an unknown request_uri',
    ours: '400 invalid_request_uri',
    run: (side) => browse(side, { request_uri: 'urn:ietf:params:oauth:request_uri:x' }),
    peer: '303 invalid_request_uri > client.example',
    why: NO_REDIRECT,
  },
  {
    what: 'no response_type',
    ours: '303 invalid_request > client.example',
    run: (side) => browse(side, { response_type: undefined }),
  },
  {
    what: 'an implicit request',
    ours: '303 unsupported_response_type > client.example',
    run: (side) => browse(side, { response_type: 'token' }),
    peer: '303 > client.example',
    why: FRAGMENT,
  },
  {
    what: 'a plain challenge',
    ours: '303 invalid_request > client.example',
    run: (side) => browse(side, { code_challenge: CHALLENGE, code_challenge_method: 'plain' }),
  },
  {
    what: 'two scopes parameters',
    ours: '303 invalid_request > client.example',
    run: (side) => browse(side, {}, '&scope=write'),
  },
  { what: 'two states', ours: '303 invalid_request > client.example', run: (side) => browse(side, {}, '&state=other') },
  {
    what: 'an unknown scope',
    ours: '303 invalid_scope > client.example',
    run: (side) => browse(side, { scope: 'admin' }),
    peer: '303 > self',
    why: SCOPE_REFUSED,
  },
  {
    what: 'a request object',
    ours: '303 request_not_supported > client.example',
    run: (side) => browse(side, { request: 'a.b.c' }),
  },
  {
    what: 'a response mode that is none',
    ours: '303 invalid_request > client.example',
    run: (side) => browse(side, { response_mode: 'magic' }),
    peer: '303 unsupported_response_mode > client.example',
    why: MODE,
  },
  {
    what: 'a public client without PKCE',
    ours: '303 invalid_request > client.example',
    run: (side) => browse(side, { client_id: 'app' }),
  },
]

function pushed(params: Record<string, string>) {
  return one('par', { client_id: 'shop', response_type: 'code', redirect_uri: REDIRECT, scope: 'read', ...params })
}
