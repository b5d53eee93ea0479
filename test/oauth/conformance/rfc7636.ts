import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  CHALLENGE,
  type ConformanceRow,
  good,
  NOBODY,
  refused,
  VERIFIER,
} from '../../worlds/oauth/conformance-world.ts'

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

/** RFC 7636: proof key for code exchange. */
export const PKCE_ROWS: readonly ConformanceRow[] = [
  {
    section: '4.1',
    level: 'states',
    says: 'A verifier has 43 to 128 characters',
    async check({ main }) {
      const client = await main.client()
      for (const length of [43, 128]) {
        const verifier = 'a'.repeat(length)
        const code = await main.code(client, { code_challenge: challengeOf(verifier) })
        good(await main.exchange(client, { code, code_verifier: verifier }))
      }
      for (const length of [42, 129]) {
        const verifier = 'a'.repeat(length)
        const code = await main.code(client, { code_challenge: challengeOf(verifier) })
        refused(await main.exchange(client, { code, code_verifier: verifier }), 'invalid_grant')
      }
    },
  },
  {
    section: '4.1',
    level: 'states',
    says: 'A verifier is of unreserved characters',
    async check({ main }) {
      const client = await main.client()
      const all = '-._~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
      const code = await main.code(client, { code_challenge: challengeOf(all) })
      good(await main.exchange(client, { code, code_verifier: all }))
      const strange = `${'a'.repeat(43)}+`
      const other = await main.code(client, { code_challenge: challengeOf(strange) })
      refused(await main.exchange(client, { code: other, code_verifier: strange }), 'invalid_grant')
    },
  },
  {
    section: '4.2',
    level: 'MUST',
    says: 'S256 is implemented on the server',
    async check({ main }) {
      good(await main.exchange(await main.client()))
    },
  },
  {
    section: '4.2',
    level: 'states',
    says: 'S256 is base64url of the SHA-256 of the verifier (example of appendix B)',
    async check({ main }) {
      const client = await main.client()
      const code = await main.code(client, { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' })
      const code_verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
      good(await main.exchange(client, { code, code_verifier }))
    },
  },
  {
    section: '4.2',
    level: 'MAY',
    says: 'plain is used where S256 is not possible',
    decided: 'plain is refused: it hides nothing from those who see the request (RFC 9700 section 2.1.1)',
    async check({ main }) {
      const fields = { code_challenge: VERIFIER, code_challenge_method: 'plain' }
      assert.equal((await main.refusal({ client_id: await main.client(), ...fields })).get('error'), 'invalid_request')
    },
  },
  {
    section: '4.3',
    level: 'OPTIONAL',
    says: 'A challenge without method is plain',
    decided: 'Refused, as plain is',
    async check({ main }) {
      const refusal = await main.refusal({ client_id: await main.client(), code_challenge: VERIFIER })
      assert.match(refusal.get('error_description')!, /code_challenge_method must be S256/)
    },
  },
  {
    section: '4.4',
    level: 'MUST',
    says: 'The challenge is bound to the code',
    async check({ main }) {
      const client = await main.client()
      const code = await main.code(client, { code_challenge: challengeOf('b'.repeat(43)) })
      refused(await main.exchange(client, { code }), 'invalid_grant')
    },
  },
  {
    section: '4.4',
    level: 'MUST NOT',
    says: 'The challenge is not readable in what clients get',
    async check({ main }) {
      const back = await main.comeBack(await main.client())
      assert.ok(!back.href.includes(CHALLENGE))
    },
  },
  {
    section: '4.4.1',
    level: 'MUST',
    says: 'Where PKCE is required, a request without challenge is invalid_request',
    async check({ main, strict }) {
      const refusal = await main.refusal({ client_id: await main.publicClient() })
      assert.equal(refusal.get('error'), 'invalid_request')
      const as = await strict.client()
      refused(await strict.post('par', { response_type: 'code' }, { as }), 'invalid_request')
    },
  },
  {
    section: '4.4.1',
    level: 'SHOULD',
    says: 'The refusal explains that a code challenge is required',
    async check({ main }) {
      const refusal = await main.refusal({ client_id: await main.publicClient() })
      assert.match(refusal.get('error_description')!, /code_challenge/)
    },
  },
  {
    section: '4.4.1',
    level: 'MUST',
    says: 'A transformation that is not supported is invalid_request',
    async check({ main }) {
      const fields = { code_challenge: CHALLENGE, code_challenge_method: 'S512' }
      const refusal = await main.refusal({ client_id: await main.client(), ...fields })
      assert.equal(refusal.get('error'), 'invalid_request')
      assert.match(refusal.get('error_description')!, /code_challenge_method/)
    },
  },
  {
    section: '4.5',
    level: 'REQUIRED',
    says: 'The token request of a code with challenge has the verifier',
    async check({ main }) {
      refused(await main.exchange(await main.client(), { code_verifier: undefined }), 'invalid_grant')
    },
  },
  {
    section: '4.6',
    level: 'MUST',
    says: 'A verifier that does not fit is invalid_grant',
    async check({ main }) {
      refused(await main.exchange(await main.client(), { code_verifier: 'w'.repeat(43) }), 'invalid_grant')
    },
  },
  {
    section: '4.6',
    level: 'states',
    says: 'Verification comes with the client authenticated and the code its own',
    async check({ main }) {
      const [client, other] = [await main.publicClient(), await main.publicClient()]
      const code = await main.code(client)
      refused(await main.exchange('', { code, client_id: other }, NOBODY), 'invalid_grant')
      good(await main.exchange('', { code, client_id: client }, NOBODY))
    },
  },
  {
    section: '5',
    level: 'MAY',
    says: 'Clients that do not know this extension are served',
    async check({ main }) {
      const client = await main.client()
      const page = await main.page({ client_id: client })
      const { code } = await main.login({ ...Object.fromEntries(page), username: 'ada' })
      good(await main.exchange(client, { code, code_verifier: undefined }))
    },
  },
  {
    section: '6.2',
    level: 'states',
    says: 'Metadata name the methods of the registry that are served',
    async check({ main }) {
      assert.deepEqual((await main.metadata()).code_challenge_methods_supported, ['S256'])
    },
  },
  {
    section: '4.4',
    level: 'states',
    says: 'The challenge cannot be taken out on the way to the code',
    async check({ main }) {
      const page = await main.page({
        client_id: await main.publicClient(),
        code_challenge: CHALLENGE,
        code_challenge_method: 'S256',
      })
      for (const name of ['code_challenge', 'code_challenge_method']) page.delete(name)
      const { error } = await main.login({ ...Object.fromEntries(page), username: 'ada' })
      assert.equal(error, 'invalid_request')
    },
  },
  {
    section: '4.2',
    level: 'states',
    says: 'The challenge has exactly the form of a SHA-256 in base64url',
    async check({ main }) {
      const client_id = await main.client()
      for (const code_challenge of [`${CHALLENGE}=`, CHALLENGE.slice(1), `${CHALLENGE}a`, `${CHALLENGE.slice(1)}+`]) {
        const refusal = await main.refusal({ client_id, code_challenge, code_challenge_method: 'S256' })
        assert.equal(refusal.get('error'), 'invalid_request')
      }
    },
  },
  {
    section: '7.5',
    level: 'MUST',
    says: 'Requests go over TLS',
    decided: 'TLS is a setting of the listener or ends at a proxy: RFC 6749 section 1.6 above',
    async check({ main }) {
      assert.match((await main.metadata()).authorization_endpoint, /^https:/)
    },
  },
]
