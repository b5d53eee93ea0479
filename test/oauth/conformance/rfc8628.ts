import assert from 'node:assert/strict'
import { LOGIN_PAGE } from '../../worlds/flows/oauth-world.ts'
import {
  bitsOf,
  type ConformanceRow,
  DEVICE_GRANT_TYPE,
  good,
  membersOf,
  NOBODY,
  refused,
  type Sent,
  type Served,
} from '../../worlds/oauth/conformance-world.ts'

/** A poll of the token endpoint. */
function poll(served: Served, clientId: string, deviceCode: string | undefined, sent: Sent = {}) {
  const form = { grant_type: DEVICE_GRANT_TYPE, device_code: deviceCode }
  return served.post('token', form, { as: clientId, ...sent })
}

const decide = (served: Served, user_code: string, decision: string) =>
  served.login({ user_code, decision, username: 'ada' })

/** RFC 8628: device authorization. */
export const DEVICE_ROWS: readonly ConformanceRow[] = [
  {
    section: '3.1',
    level: 'states',
    says: 'A device begins by POST of a form to the device authorization endpoint',
    async check({ main }) {
      good(await main.post('device_authorization', {}, { as: await main.client() }))
      const answer = await main.send('/oauth/device_authorization', { as: await main.client() })
      assert.deepEqual([answer.status, answer.headers.allow], [405, 'POST'])
    },
  },
  {
    section: '3.1',
    level: 'REQUIRED',
    says: 'client_id is required where the client does not authenticate otherwise',
    async check({ main }) {
      refused(await main.post('device_authorization'), 'invalid_client', 401)
      good(await main.post('device_authorization', { client_id: await main.publicClient() }))
    },
  },
  {
    section: '3.1',
    level: 'OPTIONAL',
    says: 'scope is as RFC 6749 section 3.3 says',
    async check({ main }) {
      const as = await main.client()
      good(await main.post('device_authorization', { scope: 'read' }, { as }))
      refused(await main.post('device_authorization', { scope: 'admin' }, { as }), 'invalid_scope')
    },
  },
  {
    section: '3.1',
    level: 'MUST',
    says: 'A confidential client authenticates at the device authorization endpoint',
    async check({ main }) {
      refused(await main.post('device_authorization', { client_id: await main.client() }), 'invalid_client', 401)
    },
  },
  {
    section: '3.1',
    level: 'MUST',
    says: 'Parameters without a value are omitted, unrecognized ones ignored',
    async check({ main }) {
      good(await main.post('device_authorization', { scope: '', 'x-unknown': 'v' }, { as: await main.client() }))
    },
  },
  {
    section: '3.1',
    level: 'MUST NOT',
    says: 'Parameters of a device authorization request are given once',
    async check({ main }) {
      const form = { scope: ['read', 'write'] }
      refused(await main.post('device_authorization', form, { as: await main.client() }), 'invalid_request')
    },
  },
  {
    section: '3.1',
    level: 'states',
    says: 'An API without the device grant refuses',
    async check({ plain }) {
      refused(await plain.post('device_authorization', {}, { as: await plain.client() }), 'unsupported_grant_type')
    },
  },
  {
    section: '3.1',
    level: 'states',
    says: 'A client that may not use the grant is unauthorized_client',
    async check({ main }) {
      const as = await main.client({ grant_types: ['authorization_code'] })
      refused(await main.post('device_authorization', {}, { as }), 'unauthorized_client')
    },
  },
  ...(
    [
      ['device_code', 'string'],
      ['user_code', 'string'],
      ['verification_uri', 'string'],
      ['expires_in', 'number'],
    ] as const
  ).map(
    ([name, type]): ConformanceRow => ({
      section: '3.2',
      level: 'REQUIRED',
      says: `The answer has ${name}`,
      async check({ main }) {
        assert.equal(typeof (await main.device(await main.client()))[name], type)
      },
    }),
  ),
  {
    section: '3.2',
    level: 'OPTIONAL',
    says: 'verification_uri_complete holds the user code',
    async check({ main }) {
      const { user_code, verification_uri_complete } = await main.device(await main.client())
      assert.equal(verification_uri_complete, `${LOGIN_PAGE}?user_code=${user_code}`)
    },
  },
  {
    section: '3.2',
    level: 'OPTIONAL',
    says: 'interval is the least number of seconds between polls',
    async check({ main }) {
      assert.equal((await main.device(await main.client())).interval, 5)
    },
  },
  {
    section: '3.2',
    level: 'states',
    says: 'The answer is JSON with Cache-Control: no-store',
    async check({ main }) {
      const answer = await main.post('device_authorization', {}, { as: await main.client() })
      assert.ok(membersOf(answer).device_code)
      assert.match(answer.headers['cache-control']!, /\bno-store\b/)
    },
  },
  {
    section: '3.3',
    level: 'states',
    says: 'The user need not enter the code as it is written: case and dashes',
    async check({ main }) {
      const { user_code } = await main.device(await main.client())
      const typed = user_code.toLowerCase().replace('-', ' ')
      assert.equal((await decide(main, typed, '')).status, 'pending')
    },
  },
  {
    section: '3.3',
    level: 'SHOULD',
    says: 'The user can be shown which client asks for what before deciding',
    async check({ main }) {
      const client = await main.client({ description: 'The television' })
      const { user_code } = await main.device(client, { scope: 'read' })
      const { client_id, description, scope, status } = await main.login({ user_code })
      assert.deepEqual([client_id, description, scope, status], [client, 'The television', 'read', 'pending'])
    },
  },
  {
    section: '3.4',
    level: 'REQUIRED',
    says: 'grant_type and device_code of a poll are required',
    async check({ main }) {
      const client = await main.client()
      refused(await poll(main, client, undefined), 'invalid_request')
      const { device_code } = await main.device(client)
      refused(await main.post('token', { device_code }, { as: client }), 'invalid_request')
    },
  },
  {
    section: '3.4',
    level: 'REQUIRED',
    says: 'A poll authenticates the client, or has client_id of a public one',
    async check({ main }) {
      const client_id = await main.publicClient()
      const { device_code } = await main.device('', { client_id }, NOBODY)
      refused(await poll(main, '', device_code, NOBODY), 'invalid_client', 401)
      const form = { grant_type: DEVICE_GRANT_TYPE, device_code, client_id }
      refused(await main.post('token', form), 'authorization_pending')
    },
  },
  {
    section: '3.4',
    level: 'states',
    says: 'A device code is for the client that it was issued to',
    async check({ main }) {
      const { device_code } = await main.device(await main.client())
      refused(await poll(main, await main.client(), device_code), 'invalid_grant')
    },
  },
  {
    section: '3.5',
    level: 'states',
    says: 'authorization_pending until the user has decided',
    async check({ main }) {
      const client = await main.client()
      const { device_code } = await main.device(client)
      refused(await poll(main, client, device_code), 'authorization_pending')
    },
  },
  {
    section: '3.5',
    level: 'MUST',
    says: 'slow_down makes the interval five seconds longer',
    async check({ main, clock }) {
      const client = await main.client()
      const { device_code } = await main.device(client)
      refused(await poll(main, client, device_code), 'authorization_pending')
      refused(await poll(main, client, device_code), 'slow_down')
      await clock.advance(9_000)
      refused(await poll(main, client, device_code), 'slow_down')
      await clock.advance(15_001)
      refused(await poll(main, client, device_code), 'authorization_pending')
    },
  },
  {
    section: '3.5',
    level: 'states',
    says: 'access_denied once the user has denied',
    async check({ main }) {
      const client = await main.client()
      const { device_code, user_code } = await main.device(client)
      await decide(main, user_code, 'deny')
      refused(await poll(main, client, device_code), 'access_denied')
    },
  },
  {
    section: '3.5',
    level: 'states',
    says: 'expired_token once the device code is too old',
    async check({ main, clock }) {
      const client = await main.client()
      const { device_code, expires_in } = await main.device(client)
      await clock.advance(expires_in * 1000 + 1)
      refused(await poll(main, client, device_code), 'expired_token')
    },
  },
  {
    section: '3.5',
    level: 'states',
    says: 'Tokens once the user has approved, and once only',
    async check({ main }) {
      const client = await main.client()
      const { device_code, user_code } = await main.device(client, { scope: 'read' })
      assert.equal((await decide(main, user_code, 'approve')).status, 'approved')
      const { access_token, scope } = good(await poll(main, client, device_code))
      assert.equal(scope, 'read')
      assert.equal((await main.use(access_token)).status, 200)
      refused(await poll(main, client, device_code), 'invalid_grant')
    },
  },
  {
    section: '3.5',
    level: 'states',
    says: 'An unknown device code is invalid_grant',
    async check({ main }) {
      refused(await poll(main, await main.client(), 'unknown'), 'invalid_grant')
    },
  },
  {
    section: '4',
    level: 'states',
    says: 'Metadata name device_authorization_endpoint and the grant where it is served',
    async check({ main, plain }) {
      const metadata = await main.metadata()
      assert.equal(metadata.device_authorization_endpoint, main.url('device_authorization'))
      assert.ok(metadata.grant_types_supported.includes(DEVICE_GRANT_TYPE))
      assert.ok(!('device_authorization_endpoint' in (await plain.metadata())))
    },
  },
  {
    section: '5.1',
    level: 'SHOULD',
    says: 'Guesses of user codes are limited',
    async check({ main }) {
      const statuses = new Set<string>()
      for (let at = 0; at < 60 && !statuses.has('slow_down'); at++)
        statuses.add((await main.login({ user_code: 'BBBB-BBBB', user_address: '192.0.2.77' })).error)
      assert.deepEqual([...statuses], ['invalid_grant', 'slow_down'])
    },
  },
  {
    section: '5.1',
    level: 'SHOULD',
    says: 'A user code has entropy enough beside its limited attempts',
    async check({ main }) {
      const { user_code } = await main.device(await main.client())
      assert.match(user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    },
  },
  {
    section: '5.2',
    level: 'states',
    says: 'A device code cannot be guessed',
    async check({ main }) {
      assert.ok(bitsOf((await main.device(await main.client())).device_code) >= 160)
    },
  },
  {
    section: '5.5',
    level: 'states',
    says: 'A user code works once: a decision is final',
    async check({ main }) {
      const { user_code } = await main.device(await main.client())
      await decide(main, user_code, 'deny')
      assert.equal((await decide(main, user_code, 'approve')).error, 'invalid_grant')
    },
  },
  {
    section: '6.1',
    level: 'RECOMMENDED',
    says: 'User codes are of letters without vowels, compared without case',
    async check({ main }) {
      const { user_code } = await main.device(await main.client())
      assert.doesNotMatch(user_code, /[AEIOUY0-9]/)
      assert.equal((await main.login({ user_code: user_code.toLowerCase() })).user_code, user_code)
    },
  },
  {
    section: '6.1',
    level: 'RECOMMENDED',
    says: 'Characters that are no part of the alphabet are stripped: dashes and spaces',
    async check({ main }) {
      const { user_code } = await main.device(await main.client())
      const typed = ` ${[...user_code.replace('-', '')].join(' ')} `
      assert.equal((await main.login({ user_code: typed })).user_code, user_code)
    },
  },
]
