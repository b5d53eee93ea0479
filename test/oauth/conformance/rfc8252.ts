import assert from 'node:assert/strict'
import { SECRET } from '../../worlds/flows/oauth-world.ts'
import { type ConformanceRow, good, NOBODY, refused } from '../../worlds/oauth/conformance-world.ts'

const APP = 'com.example.app:/oauth2redirect/example-provider'

/** RFC 8252: native apps. */
export const NATIVE_ROWS: readonly ConformanceRow[] = [
  {
    section: '6',
    level: 'MUST',
    says: 'Public native apps use PKCE, and servers support it for them',
    async check({ main }) {
      const client_id = await main.publicClient({ redirect_uri: APP })
      const answer = await main.authorize({ client_id })
      assert.match(answer.headers.location ?? '', /^com\.example\.app:.*error=invalid_request/)
      const code = await main.code(client_id)
      good(await main.exchange('', { code, client_id }, NOBODY))
    },
  },
  {
    section: '7',
    level: 'MUST',
    says: 'Private-use schemes are supported as redirection URIs',
    async check({ main }) {
      const back = await main.comeBack(await main.publicClient({ redirect_uri: APP }))
      assert.ok(back.href.startsWith(APP))
    },
  },
  {
    section: '7',
    level: 'MUST',
    says: 'https redirection URIs that apps claim are supported',
    async check({ main }) {
      const redirect_uri = 'https://app.example.com/oauth2redirect/example-provider'
      assert.ok((await main.comeBack(await main.publicClient({ redirect_uri }))).href.startsWith(redirect_uri))
    },
  },
  {
    section: '7',
    level: 'MUST',
    says: 'Loopback redirection URIs are supported',
    async check({ main }) {
      const redirect_uri = 'http://127.0.0.1:51004/oauth2redirect'
      assert.ok((await main.comeBack(await main.publicClient({ redirect_uri }))).href.startsWith(redirect_uri))
    },
  },
  {
    section: '7.1',
    level: 'MUST',
    says: 'A private-use scheme is a domain name in reverse',
    async check({ plain }) {
      const register = (uri: string) => {
        const body = JSON.stringify({ redirect_uris: [uri], token_endpoint_auth_method: 'none' })
        const headers = { authorization: 'Bearer the-initial-access-token-of-the-installation' }
        return plain.send('/oauth/register', { method: 'POST', headers, type: 'application/json', body })
      }
      assert.equal((await register(APP)).status, 201)
      refused(await register('myapp:/callback'), 'invalid_redirect_uri')
    },
  },
  {
    section: '7.3',
    level: 'MUST',
    says: 'Any port of a loopback redirection URI is taken at the request',
    async check({ main }) {
      const client = await main.publicClient({ redirect_uri: 'http://127.0.0.1/cb' })
      for (const port of [1, 8080, 65_535]) {
        const redirect_uri = `http://127.0.0.1:${port}/cb`
        assert.ok((await main.comeBack(client, { redirect_uri })).href.startsWith(redirect_uri))
      }
    },
  },
  {
    section: '7.3',
    level: 'states',
    says: 'The loopback address of IPv6 is taken as well',
    async check({ main }) {
      const client = await main.publicClient({ redirect_uri: 'http://[::1]/cb' })
      const back = await main.comeBack(client, { redirect_uri: 'http://[::1]:61023/cb' })
      assert.equal(back.host, '[::1]:61023')
    },
  },
  {
    section: '7.3',
    level: 'states',
    says: 'Nothing but the port of a loopback address may differ',
    async check({ main }) {
      const client_id = await main.publicClient({ redirect_uri: 'http://127.0.0.1/cb' })
      for (const redirect_uri of [
        'http://127.0.0.1:80/cb2',
        'http://127.0.0.2:80/cb',
        'http://[::1]:80/cb',
        'https://127.0.0.1:80/cb',
      ])
        refused(await main.authorize({ client_id, redirect_uri }), 'invalid_request')
    },
  },
  {
    section: '8.1',
    level: 'MUST',
    says: 'Requests of native apps without PKCE are refused',
    async check({ main }) {
      const client_id = await main.publicClient({ redirect_uri: 'http://127.0.0.1/cb' })
      const answer = await main.authorize({ client_id })
      assert.match(answer.headers.location ?? '', /error=invalid_request/)
    },
  },
  {
    section: '8.2',
    level: 'SHOULD NOT',
    says: 'The implicit flow is used by native apps',
    async check({ main }) {
      const client_id = await main.publicClient({ redirect_uri: APP })
      const { location = '' } = (await main.authorize({ client_id, response_type: 'token' })).headers
      assert.match(location, /error=unsupported_response_type/)
    },
  },
  {
    section: '8.3',
    level: 'NOT RECOMMENDED',
    says: 'localhost is used as a loopback redirection URI',
    decided: 'Taken, with any port, as many desktop apps register it',
    async check({ main }) {
      const client = await main.publicClient({ redirect_uri: 'http://localhost/cb' })
      const back = await main.comeBack(client, { redirect_uri: 'http://localhost:9000/cb' })
      assert.equal(back.host, 'localhost:9000')
    },
  },
  {
    section: '8.4',
    level: 'MUST',
    says: 'Clients register their complete redirection URI, and others are refused',
    async check({ main }) {
      const client_id = await main.publicClient({ redirect_uri: APP })
      for (const redirect_uri of [`${APP}/x`, 'com.example.app:/', 'com.example.app2:/oauth2redirect/example-provider'])
        refused(await main.authorize({ client_id, redirect_uri }), 'invalid_request')
    },
  },
  {
    section: '8.4',
    level: 'MUST',
    says: 'Native apps are registered as public clients, and are those in what they may do',
    async check({ main }) {
      const client_id = await main.publicClient({ redirect_uri: APP })
      refused(await main.credentials('', { client_id }, NOBODY), 'unauthorized_client')
    },
  },
  {
    section: '8.5',
    level: 'NOT RECOMMENDED',
    says: 'A secret that is shipped with an app is asked for',
    async check({ main }) {
      const client_id = await main.publicClient({ redirect_uri: APP })
      const code = await main.code(client_id)
      refused(await main.exchange('', { code, client_id, client_secret: SECRET }, NOBODY), 'invalid_client', 401)
      good(await main.exchange('', { code, client_id }, NOBODY))
    },
  },
  {
    section: '8.9',
    level: 'RECOMMENDED',
    says: 'state of native apps comes back as it was sent',
    async check({ main }) {
      const back = await main.comeBack(await main.publicClient({ redirect_uri: APP }), { state: 'a=b' })
      assert.equal(back.searchParams.get('state'), 'a=b')
    },
  },
  {
    section: '8.10',
    level: 'states',
    says: 'Apps of several servers can tell by iss which one answers',
    async check({ main }) {
      const back = await main.comeBack(await main.publicClient({ redirect_uri: APP }))
      assert.equal(back.searchParams.get('iss'), main.issuer)
    },
  },
]
