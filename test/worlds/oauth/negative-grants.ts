import { createHash } from 'node:crypto'
import { REDIRECT } from '../flows/oauth-world.ts'
import {
  type Case,
  CLIENT_MISSING,
  FOREIGN_TOKEN,
  NO_STORE,
  NOT_FOUND,
  REDIRECT_BOUND,
  VERIFIER_FAILS,
} from './negative.ts'
import { as, bodyOf, one, post, type Sending, tokensOf } from './negative-requests.ts'
import type { CodeWish, Side } from './sides.ts'

const CODE = { grant_type: 'authorization_code', redirect_uri: REDIRECT }
const VERIFIER = 'v'.repeat(43)
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** A fresh code with these parameters beside it. */
const withCode =
  (form: Record<string, string | undefined>, wish: CodeWish = {}, sending: Sending = {}) =>
  async (side: Side) => {
    const all = { ...CODE, code: await side.code(wish), ...form }
    const sent = Object.entries(all).filter((each): each is [string, string] => each[1] !== undefined)
    return post(side, 'token', Object.fromEntries(sent), sending)
  }

export const GRANT_CASES: readonly Case[] = [
  { what: 'no code', ours: '400 invalid_request', run: one('token', CODE) },
  { what: 'an unknown code', ours: '400 invalid_grant', run: one('token', { ...CODE, code: 'unknown' }) },
  {
    what: 'a code for the second time',
    ours: '400 invalid_grant',
    async run(side) {
      const form = { ...CODE, code: await side.code() }
      await post(side, 'token', form)
      return post(side, 'token', form)
    },
  },
  {
    what: 'a token from a code that came twice',
    ours: '200 active=false',
    async run(side) {
      const form = { ...CODE, code: await side.code() }
      const { access_token = '' } = bodyOf(await post(side, 'token', form))
      await post(side, 'token', form)
      return post(side, 'introspect', { token: access_token })
    },
  },
  { what: "another client's code", ours: '400 invalid_grant', run: withCode({}, {}, { as: as('other') }) },
  { what: 'another redirect URI', ours: '400 invalid_grant', run: withCode({ redirect_uri: 'https://evil.example/' }) },
  {
    what: 'the redirect URI with a slash more',
    ours: '400 invalid_grant',
    run: withCode({ redirect_uri: `${REDIRECT}/` }),
  },
  {
    what: 'no redirect URI',
    ours: '400 invalid_grant',
    run: withCode({ redirect_uri: undefined }),
    peer: '200',
    why: REDIRECT_BOUND,
  },
  { what: 'no verifier', ours: '400 invalid_grant', run: withCode({}, { challenge: CHALLENGE }) },
  {
    what: 'a wrong verifier',
    ours: '400 invalid_grant',
    run: withCode({ code_verifier: 'w'.repeat(43) }, { challenge: CHALLENGE }),
  },
  {
    what: 'the challenge as the verifier (plain)',
    ours: '400 invalid_grant',
    run: withCode({ code_verifier: CHALLENGE }, { challenge: CHALLENGE }),
  },
  {
    what: 'a verifier that is too short',
    ours: '400 invalid_grant',
    run: withCode({ code_verifier: 'v' }, { challenge: CHALLENGE }),
    peer: '400 invalid_request',
    why: VERIFIER_FAILS,
  },
  {
    what: 'a verifier for a code without challenge',
    ours: '400 invalid_grant',
    run: withCode({ code_verifier: VERIFIER }),
  },
  { what: 'no refresh token', ours: '400 invalid_request', run: one('token', { grant_type: 'refresh_token' }) },
  {
    what: 'an unknown refresh token',
    ours: '400 invalid_grant',
    run: one('token', { grant_type: 'refresh_token', refresh_token: 'x' }),
  },
  {
    what: 'an access token as a refresh token',
    ours: '400 invalid_grant',
    run: async (side) => refresh(side, (await tokensOf(side)).access_token),
  },
  {
    what: "another client's refresh token",
    ours: '400 invalid_grant',
    run: async (side) => refresh(side, (await tokensOf(side)).refresh_token, { as: as('other') }),
  },
  {
    what: 'a refresh token for the second time',
    ours: '400 invalid_grant',
    async run(side) {
      const { refresh_token } = await tokensOf(side)
      await refresh(side, refresh_token)
      return refresh(side, refresh_token)
    },
  },
  {
    what: 'the refresh token of a family in which one came twice',
    ours: '400 invalid_grant',
    async run(side) {
      const { refresh_token } = await tokensOf(side)
      const next = bodyOf(await refresh(side, refresh_token))
      await refresh(side, refresh_token)
      return refresh(side, next.refresh_token)
    },
  },
  {
    what: 'a refresh for more scope',
    ours: '400 invalid_scope',
    run: async (side) =>
      post(side, 'token', {
        grant_type: 'refresh_token',
        refresh_token: (await tokensOf(side)).refresh_token!,
        scope: 'read write',
      }),
  },
]

export const TOKEN_STATE_CASES: readonly Case[] = [
  {
    what: 'introspection by GET',
    ours: '405 invalid_request',
    run: one('introspect', '', { method: 'GET' }),
    peer: '404 cacheable',
    why: NOT_FOUND,
  },
  { what: 'introspection of nothing', ours: '400 invalid_request', run: one('introspect') },
  {
    what: 'introspection by nobody',
    ours: '401 invalid_client Basic',
    run: one('introspect', { token: 'x' }, { as: '' }),
    peer: '400 invalid_request',
    why: CLIENT_MISSING,
  },
  {
    what: 'introspection with a wrong secret',
    ours: '401 invalid_client Basic',
    run: one('introspect', { token: 'x' }, { as: as('shop', 'wrong') }),
  },
  { what: 'introspection of two tokens', ours: '400 invalid_request', run: one('introspect', 'token=x&token=y') },
  {
    what: 'introspection of a token in the query',
    ours: '400 invalid_request',
    run: one('introspect', '', { query: '?token=x' }),
  },
  { what: 'introspection of an unknown token', ours: '200 active=false', run: one('introspect', { token: 'unknown' }) },
  {
    what: 'introspection by an unknown hint',
    ours: '200 active=false',
    run: one('introspect', { token: 'x', token_type_hint: 'id_token' }),
  },
  {
    what: 'introspection of a code',
    ours: '200 active=false',
    run: async (side) => post(side, 'introspect', { token: await side.code() }),
  },
  {
    what: 'introspection of a revoked token',
    ours: '200 active=false',
    async run(side) {
      const { access_token = '' } = await tokensOf(side)
      await post(side, 'revoke', { token: access_token })
      return post(side, 'introspect', { token: access_token })
    },
  },
  {
    what: 'introspection of the access token of a revoked refresh token',
    ours: '200 active=false',
    async run(side) {
      const { access_token = '', refresh_token = '' } = await tokensOf(side)
      await post(side, 'revoke', { token: refresh_token })
      return post(side, 'introspect', { token: access_token })
    },
  },
  {
    what: 'revocation of nothing',
    ours: '400 invalid_request',
    run: one('revoke'),
    peer: '400 invalid_request cacheable',
    why: NO_STORE,
  },
  {
    what: 'revocation by nobody',
    ours: '401 invalid_client Basic',
    run: one('revoke', { token: 'x' }, { as: '' }),
    peer: '400 invalid_request cacheable',
    why: CLIENT_MISSING,
  },
  {
    what: 'revocation of an unknown token',
    ours: '200',
    run: one('revoke', { token: 'unknown' }),
    peer: '200 cacheable',
    why: NO_STORE,
  },
  {
    what: 'revocation by an unknown hint',
    ours: '200',
    run: one('revoke', { token: 'x', token_type_hint: 'magic' }),
    peer: '200 cacheable',
    why: NO_STORE,
  },
  {
    what: "revocation of another client's token",
    ours: '400 invalid_grant',
    peer: '200 cacheable',
    why: FOREIGN_TOKEN,
    run: async (side) => post(side, 'revoke', { token: (await tokensOf(side)).access_token! }, { as: as('other') }),
  },
  {
    what: 'a token that another client tried to revoke',
    ours: '200 active=true',
    async run(side) {
      const { access_token = '' } = await tokensOf(side)
      await post(side, 'revoke', { token: access_token }, { as: as('other') })
      return post(side, 'introspect', { token: access_token })
    },
  },
  {
    what: 'a device by nobody',
    ours: '401 invalid_client Basic',
    run: one('device', {}, { as: '' }),
    peer: '400 invalid_request',
    why: CLIENT_MISSING,
  },
  {
    what: 'an unknown device code',
    ours: '400 invalid_grant',
    run: one('token', { grant_type: DEVICE_GRANT, device_code: 'x' }),
  },
  { what: 'no device code', ours: '400 invalid_request', run: one('token', { grant_type: DEVICE_GRANT }) },
  {
    what: 'a device that nobody has allowed yet',
    ours: '400 authorization_pending',
    async run(side) {
      const { device_code = '' } = bodyOf(await post(side, 'device', { scope: 'read' }))
      return post(side, 'token', { grant_type: DEVICE_GRANT, device_code })
    },
  },
  {
    what: "another client's device code",
    ours: '400 invalid_grant',
    async run(side) {
      const { device_code = '' } = bodyOf(await post(side, 'device', { scope: 'read' }))
      return post(side, 'token', { grant_type: DEVICE_GRANT, device_code }, { as: as('other') })
    },
  },
]

function refresh(side: Side, refresh_token = '', sending: Sending = {}) {
  return post(side, 'token', { grant_type: 'refresh_token', refresh_token }, sending)
}
