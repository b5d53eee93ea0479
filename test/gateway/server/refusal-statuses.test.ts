import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../../worlds/base/client.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'
import { deadUrl } from '../../worlds/servers/free-port.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

interface Refusals {
  /** Calls an API with a key or token. */
  readonly ask: (path: string, credential?: string, headers?: Record<string, string>) => Promise<Answer>
  /** A key for the API `k` with these members. */
  readonly key: (more?: JsonObject) => Promise<string>
}

interface Expected {
  readonly status: number
  /** Text of a plain refusal; undefined: JSON. */
  readonly text?: string
  readonly waits?: boolean
  readonly challenge?: RegExp
}

/** Each refusal of the data plane: what causes it, its answer by today's standards, and with `compat.legacy_statuses`. */
const REFUSALS: Readonly<Record<string, readonly [(world: Refusals) => Promise<Answer>, Expected, Expected]>> = {
  'no API has the path': [({ ask }) => ask('/none/'), { status: 404 }, { status: 404, text: 'Not Found' }],
  'no credential at an API for tokens': [
    ({ ask }) => ask('/o/'),
    { status: 401, challenge: /^Bearer(?!.*error=)/ },
    { status: 400 },
  ],
  'an unknown token': [
    ({ ask }) => ask('/o/', 'Bearer nonsense'),
    { status: 401, challenge: /^Bearer .*error="invalid_token"/ },
    { status: 403 },
  ],
  'no credential at an API for keys': [({ ask }) => ask('/k/'), { status: 401 }, { status: 401 }],
  'an unknown key': [({ ask }) => ask('/k/', 'nonsense'), { status: 403 }, { status: 403 }],
  'a key of another API': [async ({ ask, key }) => ask('/other/', await key()), { status: 403 }, { status: 403 }],
  'a quota that is used up': [
    async ({ ask, key }) => twice(ask, await key({ quota_max: 1, quota_renewal_rate: 60 })),
    { status: 429, waits: true },
    { status: 403 },
  ],
  'a rate that is used up': [
    async ({ ask, key }) => twice(ask, await key({ rate: 1, per: 60 })),
    { status: 429, waits: true },
    { status: 429 },
  ],
  'an unknown version': [
    ({ ask }) => ask('/versioned/', undefined, { 'x-version': 'v9' }),
    { status: 404 },
    { status: 403 },
  ],
  'an upstream that is not there': [({ ask }) => ask('/dead/'), { status: 502 }, { status: 500 }],
}

async function twice(ask: Refusals['ask'], key: string): Promise<Answer> {
  assert.equal((await ask('/k/', key)).status, 200)
  return ask('/k/', key)
}

async function world(t: TestContext, env: Record<string, string>): Promise<Refusals> {
  const [gateway, origin] = [await startTestGateway({ env }), await startOrigin()]
  t.after(() => Promise.all([gateway.close(), origin.close()]))
  const { url } = origin
  const versioning = { enabled: true, name: 'v1', default: 'v1', location: 'header', key: 'x-version', versions: [] }
  const definitions = [
    defined({ id: 'k', url, keyIn: 'Authorization' }),
    defined({ id: 'other', url, keyIn: 'Authorization' }),
    defined({ id: 'versioned', url, info: { versioning } }),
    defined({ id: 'dead', url: await deadUrl() }),
    oauthApi(url, { id: 'o' }),
  ]
  for (const definition of definitions) {
    const { status, text } = await gateway.svc('POST', '/svc/apis/oas', definition)
    assert.equal(status, 200, text)
  }
  return {
    ask: (path, credential, headers = {}) =>
      gateway.call(path, { headers: { ...headers, ...(credential !== undefined && { authorization: credential }) } }),
    key: async (more = {}) => {
      const { status, text, json } = await gateway.svc('POST', '/svc/keys', { access_rights: rights('k'), ...more })
      assert.equal(status, 200, text)
      return String((json as JsonObject).key)
    },
  }
}

const LEGACY = { SVC_COMPAT_LEGACYSTATUSES: 'true' }
const SETTINGS: readonly (readonly [name: string, env: Record<string, string>, of: 1 | 2])[] = [
  ['by today’s standards', {}, 1],
  ['with legacy statuses', LEGACY, 2],
]

for (const [name, env, of] of SETTINGS)
  test(`every refusal of the data plane has its status and fields: ${name}`, async (t) => {
    const refusals = await world(t, env)
    for (const [what, row] of Object.entries(REFUSALS)) {
      const { status, text, waits = false, challenge } = row[of]
      const answer = await row[0](refusals)
      const { headers, json } = answer
      assert.equal(answer.status, status, `${what}: ${answer.text}`)
      assert.equal(headers['retry-after'] !== undefined, waits, `${what}: Retry-After`)
      if (text === undefined) assert.equal(typeof (json as JsonObject)?.error, 'string', `${what}: ${answer.text}`)
      else assert.equal(answer.text.trim(), text, what)
      if (challenge !== undefined) assert.match(String(headers['www-authenticate']), challenge, what)
      assert.match(String(headers['x-request-id']), /./, what)
    }
  })
