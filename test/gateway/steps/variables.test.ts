import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

/** One request, and what every variable is for it. */
const SENT = {
  target: '/v/a/b?q=1&q=2&x-y=z&e=%C3%A9&l=x%0d%0aX-Evil:%201',
  fields: {
    host: 'named.example:81',
    'x-OWN': 'Zürich',
    'x-Old': 'old',
    cookie: 'b=1; my-c=two',
    authorization: 'Bearer secret',
  },
}
const VALUES: Readonly<Record<string, string>> = {
  method: 'GET',
  path: '/v/a/b',
  path_parts: 'v,a,b',
  remote_addr: '127.0.0.1',
  headers_X_Own: 'Zürich',
  headers_x_own: 'Zürich',
  'headers_X-OWN': 'Zürich',
  headers_X_Old: 'old',
  headers_Authorization: '',
  headers_X_None: '',
  headers_Host: 'named.example:81',
  headers_host: 'named.example:81',
  request_data: 'q:1,2;x-y:z;e:é;l:x\r\nX-Evil: 1',
  request_data_q: '1',
  request_data_x_y: 'z',
  'request_data_x-y': 'z',
  request_data_e: 'é',
  request_data_l: 'x\r\nX-Evil: 1',
  cookies_b: '1',
  cookies_my_c: 'two',
  'cookies_my-c': 'two',
  jwt_claims_sub: '',
  weather: '',
}
const META: JsonObject = { uid: 'u 1', plan: { a: 1 }, roles: ['r', 's'], 'a.b': 'dotted', n: 7, on: true }
const METAS: Readonly<Record<string, string>> = {
  uid: 'u 1',
  'uid.json': 'u 1.json',
  'none.json': '.json',
  'a.b': 'dotted',
  roles: 'r,s',
  n: '7',
  on: 'true',
  plan: '',
  none: '',
}
const VARIABLES = [
  ...Object.entries(VALUES).map(([name, value]) => [`$acme_context.${name}`, value] as const),
  ...Object.entries(METAS).map(([name, value]) => [`$acme_meta.${name}`, value] as const),
]

const base64 = (text: string) => Buffer.from(text).toString('base64')
/** Bytes of UTF-8, as they are in a field. */
const inField = (text: string) => Buffer.from(text.replace(/[\r\n]/g, '')).toString('latin1')

describe('variables', () => {
  let origin: Awaited<ReturnType<typeof startOrigin>>
  let gateway: Awaited<ReturnType<typeof startTestGateway>>
  let key = ''
  before(async () => {
    origin = await startOrigin()
    gateway = await startTestGateway()
  })
  after(() => Promise.all([origin.close(), gateway.close()]))

  /** Puts the definition of the API, and answers the warnings of the save. */
  const put = async (version: JsonObject, members: JsonObject = {}) => {
    const made = await gateway.svc(key === '' ? 'POST' : 'PUT', key === '' ? '/svc/apis' : '/svc/apis/v', {
      ...{ api_id: 'v', name: 'v', active: true, use_keyless: false, enable_context_vars: true, ...members },
      auth: { auth_header_name: 'X-Key' },
      proxy: { listen_path: '/v/', target_url: origin.url, strip_listen_path: true },
      version_data: {
        not_versioned: true,
        versions: { Default: { name: 'Default', use_extended_paths: true, ...version } },
      },
    })
    assert.equal(made.status, 200, made.text)
    if (key === '') {
      const created = await gateway.svc('POST', '/svc/keys', {
        access_rights: { v: { api_id: 'v', versions: ['Default'] } },
        ...{ meta_data: META, rate: 0, per: 0 },
      })
      key = (JSON.parse(created.text) as { key: string }).key
    }
    return (JSON.parse(made.text) as { warnings?: { path: string; message: string }[] }).warnings ?? []
  }
  const call = async (target = SENT.target, fields: Record<string, string> = SENT.fields, init: object = {}) => {
    const answer = await gateway.call(target, { ...init, headers: { ...fields, 'x-key': key } })
    return { answer, seen: origin.seen.at(-1)! }
  }
  const named = Object.fromEntries(VARIABLES.map(([variable], at) => [`X-V${at}`, `<${variable}>`]))
  const wanted = VARIABLES.map(([variable, value]) => [variable, `<${inField(value)}>`])
  const edits = (add_headers: JsonObject, delete_headers: string[] = []) => [
    { ...{ path: '/a/b', method: 'GET', act_on: false }, add_headers, delete_headers },
  ]
  const told = (fields: (name: string) => unknown) =>
    VARIABLES.map(([variable], at) => [variable, String(fields(`x-v${at}`) ?? '')])

  const PLACES: Readonly<Record<string, { readonly version: JsonObject; readonly ofAnswer: boolean }>> = {
    global_headers: { version: { global_headers: named }, ofAnswer: false },
    // A field that a rule takes away had a value.
    transform_headers: { version: { extended_paths: { transform_headers: edits(named, ['X-Old']) } }, ofAnswer: false },
    global_response_headers: {
      version: { global_response_headers: named, global_headers_remove: ['X-Old', 'Cookie'] },
      ofAnswer: true,
    },
    transform_response_headers: {
      version: { extended_paths: { transform_response_headers: edits(named) } },
      ofAnswer: true,
    },
  }
  for (const [place, { version, ofAnswer }] of Object.entries(PLACES)) {
    test(`all of them have their values in ${place}`, async () => {
      const warnings = await put(version)
      const { answer, seen } = await call()
      assert.deepEqual(
        told((name) => (ofAnswer ? answer.headers[name] : seen.headers[name])),
        wanted,
      )
      assert.equal(seen.headers['x-evil'], undefined)
      assert.equal(answer.headers['x-evil'], undefined)
      assert.equal(answer.headers['x-old'], undefined)
      assert.deepEqual(
        warnings
          .map(({ message }) => /^asks for (\w+), which (no request has|by its name)/.exec(message)?.slice(1))
          .sort(),
        [
          ['headers_Authorization', 'by its name'],
          ['weather', 'no request has'],
        ],
      )
    })
  }

  test('values that name a part of the request thousands of times are refused', async () => {
    const many = (times: number) => ({ 'X-Many': '$acme_context.path'.repeat(times) })
    for (const [version, name] of [
      [{ global_headers: many(1000) }, 'request'],
      [{ extended_paths: { transform_headers: edits(many(1000)) } }, 'request'],
      [{ global_response_headers: many(1000) }, 'answer'],
    ] as const) {
      await put(version)
      const { answer, seen } = await call('/v/a/b')
      assert.equal((name === 'answer' ? answer : seen).headers['x-many'], '/v/a/b'.repeat(1000))
      await put(JSON.parse(JSON.stringify(version).replaceAll('$acme_context.path', '$acme_context.path'.repeat(11))))
      const long = await call('/v/a/b?x')
      assert.deepEqual([long.answer.status, long.answer.headers['x-many']], [name === 'answer' ? 200 : 400, undefined])
    }
  })

  test('all of them have their values in a target, escaped', async () => {
    const target = VARIABLES.map(([variable], at) => `${at}=${variable}`).join('&')
    await put({
      extended_paths: {
        url_rewrites: [{ path: '/a/b', method: 'GET', match_pattern: '.*', rewrite_to: `/n?${target}` }],
      },
    })
    const { seen } = await call()
    const query = new URL(seen.target, 'http://up').searchParams
    assert.deepEqual(
      VARIABLES.map(([variable], at) => [variable, query.get(String(at))]),
      VARIABLES,
    )
  })

  test('those of the request have their values in templates of both bodies', async () => {
    const names = Object.keys(VALUES).filter((name) => !['path_parts', 'request_data'].includes(name))
    const plain = names.filter((name) => /^\w+$/.test(name))
    const template = `{${plain.map((name) => `"${name}":"{{ ._acme_context.${name} }}"`).join()},"u":"{{ ._acme_meta.uid }}"}`
    const entry = {
      ...{ path: '/a/b', method: 'GET' },
      template_data: {
        ...{ template_mode: 'blob', input_type: 'json', enable_session: true },
        template_source: base64(template),
      },
    }
    const warnings = await put({ extended_paths: { transform: [entry], transform_response: [entry] } })
    const { answer, seen } = await call()
    const values = { ...Object.fromEntries(plain.map((name) => [name, VALUES[name]!])), u: 'u 1' }
    assert.deepEqual(JSON.parse(Buffer.from(seen.body, 'latin1').toString()) as Json, values)
    assert.deepEqual(JSON.parse(answer.text) as Json, values)
    assert.deepEqual(
      warnings.map(({ path }) => path),
      ['transform', 'transform_response'].map(
        (list) => `version_data.versions.Default.extended_paths.${list}[0].template_data.template_source`,
      ),
    )
  })

  test('without context variables nothing of the request is told, and the save says so', async () => {
    const warnings = await put({ global_headers: named }, { enable_context_vars: false })
    const { seen } = await call()
    const [ofRequest, ofSession] = [told((name) => seen.headers[name]), wanted].map((all) => [
      all!.filter(([variable]) => variable!.includes('_context.')),
      all!.filter(([variable]) => variable!.includes('_meta.')),
    ])
    assert.deepEqual(new Set(ofRequest![0]!.map(([, value]) => value)), new Set(['<>']))
    assert.deepEqual(ofRequest![1], ofSession![1])
    assert.equal(warnings.length, Object.keys(VALUES).length)
    for (const { message } of warnings) assert.match(message, /empty without enable_context_vars$/)
  })

  test('triggers name every match of a body, and single values without an index', async () => {
    const rewrite = (options: JsonObject, rewrite_to: string) => ({
      ...{ path: '/a/b', method: 'POST', match_pattern: '.*', rewrite_to: '/none' },
      triggers: [{ on: 'all', options, rewrite_to }],
    })
    const found = async (options: JsonObject, target: string) => {
      await put({ extended_paths: { url_rewrites: [rewrite(options, `/t/${target}`)] } })
      return (await call(SENT.target, SENT.fields, { method: 'POST', body: 'k1 k23 k4' })).seen.target
    }
    const find = (name: string) => `$acme_context.trigger-0-${name}`
    assert.equal(
      await found(
        { payload_matches: { match_rx: 'k(\\d+)' } },
        ['payload', 'payload-0', 'payload-0-0', 'payload-1', 'payload-1-0', 'payload-2', 'payload-3']
          .map((name) => find(name))
          .join('/'),
      ),
      '/t/k1/k1/1/k23/23/k4/',
    )
    assert.equal(
      await found(
        {
          session_meta_matches: { uid: { match_rx: '(u) (\\d)' } },
          request_context_matches: { headers_X_Own: { match_rx: 'Z.' } },
        },
        ['uid', 'uid-0', 'uid-1', 'headers_X_Own'].map((name) => find(name)).join('/'),
      ),
      `/t/u%201/u/1/${encodeURIComponent('Zü')}`,
    )
    // A name that begins as that of the body is no index of its matches.
    assert.equal(
      await found(
        { payload_matches: { match_rx: 'k(\\d+)' }, header_matches: { 'X-Own': { match_rx: 'Z' } } },
        `${find('payload-1')}/${find('payload-type')}`,
      ),
      '/t/k23/',
    )
  })

  test('claims of a verified token are values', async () => {
    const secret = 'a secret of more than 32 characters, for HMAC'
    const policy = await gateway.svc('POST', '/svc/policies', {
      ...{ id: 'p', name: 'p', active: true },
      access_rights: { j: { api_id: 'j', versions: ['Default'] } },
    })
    assert.equal(policy.status, 200, policy.text)
    const made = await gateway.svc('POST', '/svc/apis', {
      ...{ api_id: 'j', name: 'j', active: true, enable_context_vars: true },
      ...{ enable_jwt: true, jwt_signing_method: 'hmac', jwt_source: base64(secret), jwt_identity_base_field: 'sub' },
      jwt_default_policies: ['p'],
      proxy: { listen_path: '/j/', target_url: origin.url, strip_listen_path: true },
      version_data: {
        not_versioned: true,
        versions: {
          Default: {
            name: 'Default',
            global_headers: { 'X-Who': '$acme_context.jwt_claims_given-name', 'X-By': '$acme_context.jwt_claims_alg' },
          },
        },
      },
    })
    assert.equal(made.status, 200, made.text)
    const signed = [{ alg: 'HS256' }, { sub: 's', given_name: 'Ada', exp: Math.floor(Date.now() / 1000) + 600 }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    const token = `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
    // The second time the token is known.
    for (let i = 0; i < 2; i++) {
      const answer = await gateway.call('/j/', { headers: { authorization: `Bearer ${token}` } })
      assert.equal(answer.status, 200, answer.text)
      const { headers } = origin.seen.at(-1)!
      assert.deepEqual([headers['x-who'], headers['x-by']], ['Ada', 'HS256'])
    }
  })

  test('an answer with values of its request is not stored for others', async () => {
    await put(
      { global_response_headers: { 'X-Told': '$acme_context.headers_X_Own' } },
      { cache_options: { enable_cache: true, cache_all_safe_requests: true, cache_timeout: 60 } },
    )
    const toldTo = async (own: string) => (await call('/v/a/b', { 'x-own': own })).answer.headers['x-told']
    assert.deepEqual([await toldTo('one'), await toldTo('two')], ['one', 'two'])
  })

  test('secrets of a store are refused where they are asked for', async () => {
    const refused = await gateway.svc('PUT', '/svc/apis/v', {
      ...{ api_id: 'v', name: 'v', active: true, use_keyless: true },
      proxy: { listen_path: '/v/', target_url: origin.url },
      version_data: {
        not_versioned: true,
        versions: { Default: { name: 'Default', global_response_headers: { 'X-A': '$secret_env.DB' } } },
      },
    })
    assert.equal(refused.status, 400)
    assert.match(refused.text, /global_response_headers.*secrets of a store/)
  })

  // A name that may name something issued elsewhere is no credential of this request.
  const PLAIN = ['redirect_to', 'code', 'nonce', 'state', 'keys', 'history', 'key_id', 'recovery', 'cookie_consent']
  const CREDENTIALS = ['token', 'access_token', 'password', 'api_key', 'client_secret', 'sid', 'x_key']
  test('values that are asked for by name are there, but for credentials, of which the save warns', async () => {
    const all = [...PLAIN, ...CREDENTIALS]
    const variable = (place: string, name: string) => `$acme_context.${place}_${name}`
    for (const [place, sent] of Object.entries({
      cookies: { target: '/v/a/b', fields: { cookie: all.map((name) => `${name}=${name}-1`).join('; ') } },
      request_data: { target: `/v/a/b?${all.map((name) => `${name}=${name}-1`).join('&')}`, fields: {} },
      headers: {
        target: '/v/a/b',
        fields: Object.fromEntries(
          all
            .filter((name) => name !== 'x_key' && name !== 'cookie_consent')
            .map((name) => [name.replaceAll('_', '-'), `${name}-1`]),
        ),
      },
    })) {
      const global_headers = Object.fromEntries(
        all.map((name) => [`X-V-${name.replaceAll('_', '-')}`, variable(place, name)]),
      )
      const warned = (await put({ global_headers })).filter(({ message }) => message.includes('credential'))
      assert.deepEqual(
        warned.map(({ path }) => path.slice(path.indexOf('X-V-') + 4).replace(/\W+$/, '')).sort(),
        CREDENTIALS.filter((name) => name !== 'x_key')
          .map((name) => name.replaceAll('_', '-'))
          .sort(),
        place,
      )
      const { seen } = await call(sent.target, sent.fields as Record<string, string>)
      for (const name of all) {
        const shown = seen.headers[`x-v-${name.replaceAll('_', '-')}`]
        const isSent = place !== 'headers' || name.replaceAll('_', '-') in sent.fields
        assert.equal(shown, PLAIN.includes(name) && isSent ? `${name}-1` : '', `${place} ${name}`)
      }
    }
  })

  test('triggers look at cookies of any name', async () => {
    const options = { request_context_matches: { cookies_redirect_to: { match_rx: 'target-(.)', reverse: false } } }
    const triggers = [{ on: 'all', options, rewrite_to: '/hit/$acme_context.trigger-0-cookies_redirect_to-0' }]
    const rewrite = { path: '/a/b', method: 'GET', match_pattern: '/a/b', rewrite_to: '/missed', triggers }
    await put({ extended_paths: { url_rewrites: [rewrite] } })
    const targets: string[] = []
    for (const cookie of ['redirect_to=target-1', 'redirect_to=other', 'x=target-1'])
      targets.push((await call('/v/a/b', { cookie })).seen.target)
    assert.deepEqual(targets, ['/hit/1', '/missed', '/missed'])
  })
})
