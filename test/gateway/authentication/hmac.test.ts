import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { readMessageSignature, signatureText } from '../../../src/gateway/authentication/message-signature.ts'
import { toOas } from '../../../src/model/apis/convert/convert.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { classicApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const SECRET = 'the secret that ann signs with'
const DATE = new Date(1_700_000_000_000).toUTCString()

async function world(
  t: TestContext,
  more: JsonObject = {},
  session: JsonObject = {},
  format: 'classic' | 'oas' = 'classic',
) {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const api = classicApi('H', '/h/', {
    ...{ api_id: 'h', use_keyless: false, enable_signature_checking: true },
    proxy: { listen_path: '/h/', target_url: origin.url, strip_listen_path: true },
    ...more,
  })
  const place = format === 'classic' ? '/svc/apis' : '/svc/apis/oas'
  const written = (definition: JsonObject) => (format === 'classic' ? definition : toOas(definition).document)
  const published = await gate.svc('POST', place, written(api))
  assert.equal(published.status, 200, published.text)
  const rights = { access_rights: rightsOn('h'), hmac_enabled: true, hmac_string: SECRET, ...session }
  const made = await gate.svc('POST', '/svc/keys/create', rights)
  assert.equal(made.status, 200, made.text)
  const keyId = String((made.json as JsonObject).key)
  return {
    ...{ origin, keyId, api },
    gate: Object.assign(gate, {
      /** Replaces the API; the members that the warnings of the answer name, as an OpenAPI document calls them. */
      async save(definition: JsonObject): Promise<string[]> {
        const answer = await gate.svc('PUT', `${place}/h`, written(definition))
        assert.equal(answer.status, 200, answer.text)
        const { warnings = [] } = answer.json as { warnings?: { path: string }[] }
        const names = warnings.map(
          ({ path }) =>
            path
              .replace(/\[\d+\]$/, '')
              .split('.')
              .at(-1)!,
        )
        return names.map((name) =>
          name.replace('hmac_', '').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
        )
      },
    }),
    async status(draft: Draft = {}): Promise<number> {
      const { method = 'GET', target = '/h/x?a=1&b', headers = { date: DATE } } = draft
      const authorization = draft.authorization ?? signed({ keyId, ...draft })
      const sent = { ...headers, ...(authorization !== '' && { authorization }) }
      return (await gate.call(target, { method, headers: sent })).status
    },
  }
}

interface Draft {
  readonly keyId?: string
  readonly method?: string
  readonly target?: string
  readonly headers?: Record<string, string>
  /** Where the signature is not over what is sent. */
  readonly text?: string
  readonly covers?: string
  readonly algorithm?: string
  readonly hash?: string
  readonly secret?: string
  readonly encode?: (signature: string) => string
  readonly authorization?: string
}

function signed(draft: Draft): string {
  const { method = 'GET', target = '/h/x?a=1&b', headers = { date: DATE }, covers = '(request-target) date' } = draft
  const { algorithm = 'hmac-sha256', secret = SECRET, encode = (text: string) => text } = draft
  const lines = covers
    .split(' ')
    .map((name) => `${name}: ${name === '(request-target)' ? `${method.toLowerCase()} ${target}` : headers[name]}`)
  const hash = draft.hash ?? algorithm.replace('hmac-', '')
  const signature = createHmac(hash, secret)
    .update(draft.text ?? lines.join('\n'))
    .digest('base64')
  return `Signature keyId="${draft.keyId}",algorithm="${algorithm}",headers="${covers}",signature="${encode(signature)}"`
}

test('a request signed with the secret of its key is accepted and known by the key', async (t) => {
  const { status, origin, gate, keyId } = await world(t, { strip_auth_data: true }, { rate: 6, per: 60, alias: 'ann' })
  assert.equal(await status(), 200)
  assert.equal(origin.seen.at(-1)!.headers.authorization, undefined)
  assert.equal(await status({ algorithm: 'hmac-sha512' }), 200)
  assert.equal(await status({ method: 'DELETE', target: '/h/y' }), 200)
  assert.equal(await status({ encode: encodeURIComponent }), 200)
  const headers = { date: DATE, host: 'h', 'x-a': 'one', digest: 'SHA-256=x' }
  assert.equal(await status({ headers, covers: '(request-target) host date digest x-a' }), 200)
  assert.equal(await status({ headers: { 'x-aux-date': DATE }, covers: '(request-target) x-aux-date' }), 200)
  assert.equal(await status(), 429)
  assert.ok(!JSON.stringify(gate.log).includes(keyId))
})

test('whatever does not prove the secret over method, path and date is refused', async (t) => {
  const { status, gate, keyId } = await world(t)
  const other = await gate.svc('POST', '/svc/keys/create', { access_rights: rightsOn('h'), hmac_string: SECRET })
  const bad: Record<string, Draft> = {
    'another secret': { secret: 'x' },
    'no secret': { secret: '' },
    'an unknown key': { keyId: 'nobody-has-this-key' },
    'a key that may not sign': { keyId: String((other.json as JsonObject).key) },
    'another path': { text: `(request-target): get /h/y\ndate: ${DATE}` },
    'another method': { text: `(request-target): post /h/x?a=1&b\ndate: ${DATE}` },
    'another query': { text: `(request-target): get /h/x?a=2&b\ndate: ${DATE}` },
    'a field that is not there': { covers: '(request-target) date x-none', text: `x` },
    'only the date': { covers: 'date' },
    'only the path': { covers: '(request-target)' },
    'an algorithm that is not allowed': { algorithm: 'hmac-sha1' },
    'an algorithm that nobody knows': { algorithm: 'rsa-sha256', hash: 'sha256' },
    'an algorithm of a prototype': { algorithm: 'constructor', hash: 'sha256' },
    'the hash of another algorithm': { algorithm: 'hmac-sha256', hash: 'sha512' },
    'a signature cut short': { encode: (text) => `${text.slice(0, 20)}==` },
    'a signature with spare bits': { encode: (text) => text.replace(/.=$/, (end) => (end[0] === '8' ? '9=' : '8=')) },
    'a date of yesterday': { headers: { date: new Date(1_700_000_000_000 - 300_001).toUTCString() } },
    'a date of tomorrow': { headers: { date: new Date(1_700_000_000_000 + 301_000).toUTCString() } },
    'a date that is none': { headers: { date: 'now' } },
    'a date in another form': { headers: { date: '2023-11-14T22:13:20Z' } },
    'an empty date': { headers: { date: '' } },
    'nothing at all': { authorization: 'Signature ' },
    'a bare key': { authorization: keyId },
    'a key as a bearer token': { authorization: `Bearer ${keyId}` },
    'a parameter twice': { authorization: `${signed({ keyId })},keyId="x"` },
    'a parameter without quotes': { authorization: signed({ keyId }).replace(/keyId="([^"]*)"/, 'keyId=$1') },
    'something behind': { authorization: `${signed({ keyId })} x` },
    'many fields': { covers: `(request-target) date ${'a '.repeat(40)}b`, text: 'x' },
  }
  for (const [name, draft] of Object.entries(bad)) assert.equal(await status(draft), 401, name)
  const missing = await gate.call('/h/x')
  assert.equal(missing.status, 401)
  assert.match(String(missing.headers['www-authenticate']), /^Signature realm=/)
  assert.equal(await status(), 200)
})

test('the definition sets algorithms and clock skew; unknown algorithms are refused by name', async (t) => {
  const more = { hmac_allowed_algorithms: ['HMAC-SHA1'], hmac_allowed_clock_skew: 1000 }
  const { status, gate, api } = await world(t, more)
  const at = (ms: number) => ({ date: new Date(1_700_000_000_000 + ms).toUTCString() })
  assert.equal(await status({ algorithm: 'hmac-sha1' }), 200)
  assert.equal(await status(), 401)
  assert.equal(await status({ algorithm: 'hmac-sha1', headers: at(1000) }), 200)
  assert.equal(await status({ algorithm: 'hmac-sha1', headers: at(2000) }), 401)
  const refused = await gate.svc('PUT', '/svc/apis/h', { ...api, hmac_allowed_algorithms: ['hmac-md5'] })
  assert.equal(refused.status, 400)
  assert.match(refused.text, /hmac_allowed_algorithms\[0\]: must be one of hmac-sha1/)
})

const DAY_MS = 86_400_000
/** Parts that a signature leaves open, and the coverage of an API that takes it. */
const LESS: Readonly<Record<string, { readonly draft: Draft; readonly takenBy: readonly string[] }>> = {
  nothing: { draft: {}, takenBy: ['target', 'path', 'date'] },
  query: { draft: { text: `(request-target): get /h/x\ndate: ${DATE}` }, takenBy: ['path', 'date'] },
  escapes: {
    draft: { target: '/h/%C3%A4?a=1', text: `(request-target): get /h/\u00e4\ndate: ${DATE}` },
    takenBy: ['path', 'date'],
  },
  target: { draft: { covers: 'date', text: `date: ${DATE}` }, takenBy: ['date'] },
  date: { draft: { covers: '(request-target)', text: '(request-target): get /h/x?a=1&b' }, takenBy: [] },
  'the path of another request': { draft: { text: `(request-target): get /h/y\ndate: ${DATE}` }, takenBy: [] },
  'another field, by a line end in the path': {
    draft: { target: '/h/x%0Aa:%20b', text: `(request-target): get /h/x\na: b\ndate: ${DATE}` },
    takenBy: [],
  },
  'the query of another request, by an escape in the path': {
    draft: { target: '/h/x%3fa=1', text: `(request-target): get /h/x?a=1\ndate: ${DATE}` },
    takenBy: [],
  },
  'the query of another request': { draft: { text: `(request-target): get /h/x?a=2\ndate: ${DATE}` }, takenBy: [] },
}

for (const format of ['classic', 'oas'] as const)
  test(`${format}: a signature may cover less where the API says so, which the save reports`, async (t) => {
    const { status, api, gate, keyId } = await world(t, {}, {}, format)
    for (const coverage of ['', 'target', 'path', 'date']) {
      const saved = await gate.save({ ...api, hmac_coverage: coverage })
      assert.deepEqual(saved, ['path', 'date'].includes(coverage) ? ['coverage'] : [], coverage)
      for (const [name, { draft, takenBy }] of Object.entries(LESS))
        assert.equal(await status(draft), takenBy.includes(coverage || 'target') ? 200 : 401, `${coverage}: ${name}`)
      assert.equal(await status({ covers: 'date', text: 'date: yesterday', headers: { date: 'yesterday' } }), 401)
      assert.equal(await status({ covers: 'date', text: `date: ${DATE}`, secret: 'x' }), 401)
      assert.equal(await status({ authorization: signed({ keyId }).replace('keyId=', 'KeyID=') }), 200)
    }
  })

for (const format of ['classic', 'oas'] as const)
  test(`${format}: dates of any time are a choice of the API, SHA-1 too`, async (t) => {
    const { status, api, gate } = await world(t, {}, {}, format)
    const at = (ms: number) => ({ date: new Date(1_700_000_000_000 + ms).toUTCString() })
    for (const skew of [undefined, 0, 1000, -1]) {
      const saved = await gate.save({ ...api, ...(skew !== undefined && { hmac_allowed_clock_skew: skew }) })
      assert.deepEqual(saved, skew === -1 ? ['allowedClockSkew'] : [], String(skew))
      assert.equal(await status({ headers: at(1000) }), 200)
      assert.equal(await status({ headers: at(60_000) }), skew === 1000 ? 401 : 200)
      for (const far of [-400 * DAY_MS, 400 * DAY_MS])
        assert.equal(await status({ headers: at(far) }), skew === -1 ? 200 : 401, `${skew} ${far}`)
      for (const date of ['', 'now', '2023-11-14T22:13:20Z']) assert.equal(await status({ headers: { date } }), 401)
    }
    for (const [date, expected] of [
      [DATE.replace('GMT', 'UTC'), 200],
      [DATE.replace('22:', '23:').replace('GMT', '+01'), 200],
      [DATE.replace('GMT', '+01'), 401],
    ] as const) {
      await gate.save(api)
      assert.equal(await status({ headers: { date } }), expected, date)
    }
    assert.equal(await status({ algorithm: 'hmac-sha1' }), 401)
    assert.deepEqual(await gate.save({ ...api, hmac_allowed_algorithms: ['hmac-sha1'] }), ['allowedAlgorithms'])
    assert.equal(await status({ algorithm: 'hmac-sha1' }), 200)
  })

test('a key with the newer switch signs as well', async (t) => {
  const { status } = await world(t, {}, { hmac_enabled: false, enable_http_signature_validation: true })
  assert.equal(await status(), 200)
})

test('a policy allows its keys to sign, as reads of them show', async (t) => {
  const { status, gate, keyId } = await world(t)
  for (const [id, more] of Object.entries({
    none: {},
    older: { hmac_enabled: true },
    newer: { enable_http_signature_validation: true },
  })) {
    await gate.svc('POST', '/svc/policies', { id, active: true, access_rights: rightsOn('h'), ...more })
    const key = { apply_policies: [id], access_rights: {}, hmac_string: SECRET, hmac_enabled: false }
    assert.equal((await gate.svc('PUT', `/svc/keys/${keyId}`, key)).status, 200)
    const read = (await gate.svc('GET', `/svc/keys/${keyId}`)).json as JsonObject
    assert.equal(read.hmac_enabled === true || read.enable_http_signature_validation === true, id !== 'none', id)
    assert.equal(await status(), id === 'none' ? 401 : 200, id)
  }
})

/** A request signed as in RFC 9421; members of `draft` replace the correct ones. */
function signed9421(draft: {
  keyId: string
  components?: string
  values?: string
  params?: string
  secret?: string
  label?: string
}): Record<string, string> {
  const { keyId, components = '"@method" "@path" "@query" "x-a"', secret = SECRET, label = 'sig1' } = draft
  const params = draft.params ?? `;created=1700000000;keyid="${keyId}";alg="hmac-sha256"`
  const values = draft.values ?? '"@method": GET\n"@path": /h/x\n"@query": ?a=1\n"x-a": one'
  const base = `${values}\n"@signature-params": (${components})${params}`
  const value = createHmac('sha256', secret).update(base).digest('base64')
  return { 'x-a': 'one', 'signature-input': `${label}=(${components})${params}`, signature: `sig1=:${value}:` }
}

test('a request signed as RFC 9421 has it is let in, and nothing that proves less', async (t) => {
  const { gate, keyId } = await world(t)
  const send = async (headers: Record<string, string>, target = '/h/x?a=1', method = 'GET') =>
    (await gate.call(target, { method, headers })).status
  assert.equal(await send(signed9421({ keyId })), 200)
  const whole = '"@method": GET\n"@target-uri": http://h.example/h/x?a=1'
  const uri = signed9421({ keyId, components: '"@method" "@target-uri"', values: whole })
  assert.equal(await send({ ...uri, host: 'H.example:80' }), 200)
  const short = ';created=1699999990;expires=1700000001;keyid='
  assert.equal(await send(signed9421({ keyId, params: `${short}"${keyId}"` })), 200)
  const good = signed9421({ keyId })
  const bad: Record<string, Record<string, string>> = {
    'another secret': signed9421({ keyId, secret: 'x' }),
    'an unknown key': signed9421({ keyId: 'nobody-has-this-key' }),
    'a changed field': { ...good, 'x-a': 'two' },
    'another label': signed9421({ keyId, label: 'sig2' }),
    'two signatures': { ...good, 'signature-input': `${good['signature-input']}, ${good['signature-input']}` },
    'no signature': { 'signature-input': good['signature-input']! },
    'without the query': signed9421({
      keyId,
      components: '"@method" "@path"',
      values: '"@method": GET\n"@path": /h/x',
    }),
    'without the method': signed9421({ keyId, components: '"@request-target"', values: '"@request-target": /h/x?a=1' }),
    'a component with a parameter': signed9421({ keyId, components: '"@method" "@request-target" "x-a";bs' }),
    'a component twice': signed9421({ keyId, components: '"@method" "@method" "@request-target"' }),
    'a component that nobody knows': signed9421({ keyId, components: '"@method" "@request-target" "@x"' }),
    'no created': signed9421({ keyId, params: `;keyid="${keyId}"` }),
    'no keyid': signed9421({ keyId, params: ';created=1700000000' }),
    'created twice': signed9421({ keyId, params: `;created=1700000000;created=1;keyid="${keyId}"` }),
    'created long ago': signed9421({ keyId, params: `;created=1699999699;keyid="${keyId}"` }),
    'created tomorrow': signed9421({ keyId, params: `;created=1700000301;keyid="${keyId}"` }),
    expired: signed9421({ keyId, params: `;created=1699999990;expires=1700000000;keyid="${keyId}"` }),
    'another algorithm': signed9421({ keyId, params: `;created=1700000000;keyid="${keyId}";alg="rsa-v1_5-sha256"` }),
    'a parameter that nobody knows': signed9421({ keyId, params: `;created=1700000000;keyid="${keyId}";x="y"` }),
  }
  for (const [name, headers] of Object.entries(bad)) assert.equal(await send(headers), 401, name)
  assert.equal(await send(good, '/h/x?a=2'), 401)
  assert.equal(await send(good, '/h/y?a=1'), 401)
  assert.equal(await send(good, '/h/x?a=1', 'POST'), 401)
  assert.equal(await send(good), 200)
})

test('the example of RFC 9421 appendix B.2.5 comes out as it stands there', () => {
  const input = 'sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"'
  const value = 'sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:'
  const read = readMessageSignature(input, value)
  assert.ok(read)
  const fields: Record<string, string> = {
    date: 'Tue, 20 Apr 2021 02:07:55 GMT',
    'content-type': 'application/json',
  }
  const base = signatureText(read, {
    ...{ method: 'POST', authority: 'example.com', scheme: 'https', path: '/foo', query: '?param=Value&Pet=dog' },
    field: (name) => (fields[name] === undefined ? [] : [fields[name]]),
  })
  const secret = 'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ=='
  const made = createHmac('sha256', Buffer.from(secret, 'base64')).update(base!).digest('base64')
  assert.equal(made, read.value.toString('base64'))
})
