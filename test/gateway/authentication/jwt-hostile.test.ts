import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import {
  base64,
  claims,
  compact,
  es,
  hs,
  hsToken,
  jwtApi,
  jwtWorld,
  keyedApi,
  NOW_S,
  SECRET,
  signer,
} from '../../worlds/gateway/jwt-fixtures.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 3_000 : 60
const HEADER = { alg: 'HS256', typ: 'JWT' }
const text = (value: string) => Buffer.from(value).toString('base64url')

/** The last part of a token in place of which another one is put. */
const resigned = (token: string, signature: string) => token.replace(/[^.]*$/, signature)
/** The same number of characters with spare bits set, which a lenient decoder forgives. */
const spare = (token: string) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return token.slice(0, -1) + alphabet[alphabet.indexOf(token.at(-1)!) + 1]
}

describe('tokens that are not what they say, at an API with a shared secret', () => {
  const good = hsToken()
  const [head, body, signature] = good.split('.') as [string, string, string]
  const none = (alg: unknown) => compact({ alg, typ: 'JWT' } as JsonObject, claims(), () => Buffer.alloc(0))
  const signed = (header: unknown, payload: unknown = claims()) => compact(header, payload, hs(SECRET))
  const cases: Record<string, string> = {
    'alg none without a signature': none('none'),
    'alg None': none('None'),
    'alg nOnE with the signature of HS256': signed({ alg: 'nOnE' }),
    'alg empty': signed({ alg: '' }),
    'no alg': signed({ typ: 'JWT' }),
    'alg a list': signed({ alg: ['HS256'] }),
    'alg an object': signed({ alg: { name: 'HS256' } }),
    'alg with a space': signed({ alg: 'HS256 ' }),
    'alg in lower case': signed({ alg: 'hs256' }),
    'alg of a public key': signed({ alg: 'RS256' }),
    'alg of a prototype': signed({ alg: 'constructor' }),
    'signed with nothing': compact(HEADER, claims(), hs(Buffer.alloc(0))),
    'signed with the base64 of the secret': compact(HEADER, claims(), hs(Buffer.from(base64(SECRET)))),
    'HS256 with the hash of HS512': compact(HEADER, claims(), hs(SECRET, 'sha512')),
    'a signature cut short': resigned(good, Buffer.from(signature, 'base64url').subarray(0, 31).toString('base64url')),
    'a signature made longer': resigned(good, `${signature}AAAA`),
    'an empty signature': resigned(good, ''),
    'a signature of zeros': resigned(good, Buffer.alloc(32).toString('base64url')),
    'spare bits in the signature': spare(good),
    'padding at the signature': `${good}=`,
    'base64 instead of base64url': compact({ alg: 'HS256', x: '???>>>' }, claims(), hs(SECRET)).replaceAll('_', '/'),
    'a line feed within': `${head}.${body}.${signature.slice(0, 4)}%0A${signature.slice(4)}`,
    'two parts': `${head}.${body}`,
    'four parts': `${good}.${signature}`,
    'five parts (encrypted)': `${head}.${body}.${signature}.${signature}.${signature}`,
    'empty parts': '..',
    'no text at all': '...',
    'a header that is no JSON': `${text('alg')}.${body}.${signature}`,
    'a header that is a list': signed([{ alg: 'HS256' }]),
    'a header with alg twice': compact('{"alg":"HS256","alg":"HS256"}', claims(), hs(SECRET)),
    'a header with crit': signed({ ...HEADER, crit: ['exp'] }),
    'a header with an empty crit': signed({ ...HEADER, crit: [] }),
    'b64 false': signed({ ...HEADER, b64: false, crit: ['b64'] }),
    'b64 false without crit': signed({ ...HEADER, b64: false }),
    'a kid that is a number': signed({ ...HEADER, kid: 7 }),
    'a kid that is a path': compact({ ...HEADER, kid: '../../../../dev/null' }, claims(), hs(Buffer.alloc(0))),
    'a key in its own header': compact(
      { ...HEADER, jwk: { kty: 'oct', k: base64(Buffer.alloc(32, 1)) } },
      claims(),
      hs(Buffer.alloc(32, 1)),
    ),
    'the typ of a logout notice': signed({ ...HEADER, typ: 'logout+jwt' }),
    'the typ of a proof': signed({ ...HEADER, typ: 'dpop+jwt' }),
    'claims that are a list': signed(HEADER, [claims()]),
    'claims that are a text': signed(HEADER, '"ann"'),
    'claims with sub twice': signed(HEADER, `{"sub":"ann","sub":"eve","exp":${NOW_S + 60}}`),
    'claims with exp twice': signed(HEADER, `{"sub":"ann","exp":1,"exp":${NOW_S + 60}}`),
    'claims that are not UTF-8': signed(HEADER, Buffer.from(`{"sub":"ann\xff","exp":${NOW_S + 60}}`, 'latin1')),
    'claims with a byte order mark': signed(HEADER, `\ufeff${JSON.stringify(claims())}`),
    'claims nested deep': signed(HEADER, { ...claims(), x: JSON.parse('['.repeat(50) + ']'.repeat(50)) }),
    'without exp': signed(HEADER, { sub: 'ann' }),
    'exp a text': signed(HEADER, claims({ exp: String(NOW_S + 60) })),
    'exp null': signed(HEADER, claims({ exp: null })),
    'exp beyond all numbers': signed(HEADER, `{"sub":"ann","exp":1e999}`),
    'exp negative': signed(HEADER, claims({ exp: -1 })),
    'exp of a far future that dates cannot hold': signed(HEADER, claims({ exp: 1e300 })),
    'nbf a text': signed(HEADER, claims({ nbf: '0' })),
    'iat a list': signed(HEADER, claims({ iat: [] })),
    'sub empty': signed(HEADER, claims({ sub: '' })),
    'sub missing': signed(HEADER, { exp: NOW_S + 60 }),
  }
  test('each is refused with 401 and reaches nobody; the good one still goes through', async (t) => {
    const { get, origin } = await jwtWorld(t)
    assert.equal((await get(`Bearer ${good}`)).status, 200)
    const before = origin.seen.length
    for (const [name, token] of Object.entries(cases)) {
      const answer = await get(`Bearer ${token}`)
      assert.equal(answer.status, 401, `${name}: ${answer.text}`)
      assert.match(String(answer.headers['www-authenticate']), /^Bearer /, name)
    }
    assert.equal(origin.seen.length, before)
    assert.equal((await get(`Bearer ${good}`)).status, 200)
  })
})

test('a public key is never taken for a secret, nor one algorithm for another', async (t) => {
  const rsa = signer('RS256', 'r')
  const { get } = await jwtWorld(t, (origin) => keyedApi(origin, base64(rsa.pem), 'rsa'))
  const rsaSign = (hash: string, options: object) => (signed: Buffer) =>
    sign(hash, signed, { key: rsa.privateKey, ...options })
  const status = async (alg: string, signature: (signed: Buffer) => Uint8Array) =>
    (await get(`Bearer ${compact({ alg }, claims(), signature)}`)).status
  assert.equal(await status('RS256', rsaSign('sha256', {})), 200)
  for (const secret of [rsa.pem, rsa.pem.trim(), base64(rsa.pem), JSON.stringify(rsa.jwk), String(rsa.jwk.n)])
    assert.equal(await status('HS256', hs(Buffer.from(secret))), 401)
  assert.equal(await status('RS512', rsaSign('sha256', {})), 401)
  assert.equal(await status('RS256', rsaSign('sha1', {})), 401)
  assert.equal(await status('PS256', rsaSign('sha256', {})), 401)
  assert.equal(await status('PS256', rsaSign('sha256', { padding: 6, saltLength: 20 })), 401)
  assert.equal(await status('PS256', rsaSign('sha256', { padding: 6, saltLength: 32 })), 200)
  assert.equal(await status('ES256', rsaSign('sha256', {})), 401)
  assert.equal(await status('EdDSA', rsaSign('sha256', {})), 401)
  assert.equal(await status('none', () => Buffer.alloc(0)), 401)
})

test('curves are not mixed, and a signature is what RFC 7518 says it is', async (t) => {
  const [p256, p384] = [signer('ES256', 'a'), signer('ES384', 'b')]
  const { get } = await jwtWorld(t, (origin) => keyedApi(origin, base64(p256.pem), 'ecdsa'))
  const status = async (alg: string, signature: (signed: Buffer) => Uint8Array) =>
    (await get(`Bearer ${compact({ alg }, claims(), signature)}`)).status
  assert.equal(await status('ES256', es(p256.privateKey)), 200)
  assert.equal(await status('ES256', es(p256.privateKey, 'sha256', 'der')), 401)
  assert.equal(await status('ES384', es(p256.privateKey, 'sha384')), 401)
  assert.equal(await status('ES256', es(p384.privateKey, 'sha256')), 401)
  assert.equal(await status('ES384', es(p384.privateKey, 'sha384')), 401)
  assert.equal(await status('HS256', hs(Buffer.from(p256.pem))), 401)
  // r and s zero or of the order of the curve (CVE-2022-21449), and the right numbers with a byte too much.
  const order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex')
  for (const bytes of [
    ...[Buffer.alloc(64), Buffer.alloc(0), Buffer.alloc(63), Buffer.alloc(128)],
    ...[Buffer.concat([order, order]), Buffer.concat([Buffer.alloc(31), Buffer.of(1), Buffer.alloc(32)])],
  ])
    assert.equal(await status('ES256', () => bytes), 401)
  const longer = (signed: Buffer) => Buffer.concat([Buffer.of(0), es(p256.privateKey)(signed)])
  assert.equal(await status('ES256', longer), 401)
})

test('a token of the largest size is refused or accepted after one check', async (t) => {
  const { get } = await jwtWorld(t)
  const large = (bytes: number) => `Bearer ${hsToken(claims({ x: 'x'.repeat(bytes) }))}`
  assert.equal((await get(large(8_000))).status, 200)
  assert.ok([401, 431].includes((await get(large(16_000))).status))
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`c${i}`, i]))
  assert.equal((await get(`Bearer ${hsToken(claims(many))}`)).status, 200)
})

test('no change of a token is let in', async (t) => {
  const { get } = await jwtWorld(t)
  const good = hsToken()
  assert.equal((await get(`Bearer ${good}`)).status, 200)
  const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/%']
  const edit = fc.record({
    at: fc.nat(good.length - 1),
    cut: fc.nat(3),
    put: fc.array(fc.constantFrom(...alphabet), { maxLength: 3 }),
  })
  await fc.assert(
    fc.asyncProperty(edit, async ({ at, cut, put }) => {
      const changed = good.slice(0, at) + put.join('') + good.slice(at + cut)
      if (changed === good) return
      assert.equal((await get(`Bearer ${changed}`)).status, 401, changed)
    }),
    { numRuns: RUNS },
  )
})

test('any claims under a good signature get a proper answer', async (t) => {
  const { get } = await jwtWorld(t, (origin) =>
    jwtApi(origin, {
      jwt_policy_field_name: 'a.b',
      jwt_identity_base_field: 'a.c',
      scopes: { jwt: { scope_claim_name: 'a.d', scope_to_policy: { read: 'p' } } },
    }),
  )
  const member = fc.oneof(
    fc.constantFrom('p', 'read', 'read p', '', 7, null, ['p'], ['read']),
    fc.jsonValue({ maxDepth: 2 }),
  )
  await fc.assert(
    fc.asyncProperty(member, member, member, fc.jsonValue({ maxDepth: 2 }), async (b, c, d, whole) => {
      for (const a of [{ b, c, d }, whole]) {
        const token = hsToken({ ...claims(), a } as JsonObject)
        const { status } = await get(`Bearer ${token}`)
        assert.ok([200, 401, 403].includes(status), String(status))
      }
    }),
    { numRuns: RUNS },
  )
})

test('definitions whose keys cannot be right are refused by name', async (t) => {
  const { gate, origin } = await jwtWorld(t)
  const own = signer('ES256', 'a')
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ type: 'spki', format: 'pem' })
  const curve = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey.export({ type: 'spki', format: 'pem' })
  const secretPem = own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const cases: [JsonObject, RegExp][] = [
    [{ jwt_source: 'not base64!' }, /jwt_source: must be an http or https address, or a key/],
    [{ jwt_source: base64('short') }, /jwt_source: must be a secret of at least 32 bytes/],
    [{ jwt_source: base64(own.pem) }, /jwt_source: must be a secret, not a key/],
    [{ jwt_source: base64(JSON.stringify(own.jwk)) }, /jwt_source: must be a secret, not a key/],
    [{ jwt_source: base64(secretPem), jwt_signing_method: 'ecdsa' }, /jwt_source: must be a public key, not a private/],
    [{ jwt_source: base64(own.pem), jwt_signing_method: 'rsa' }, /jwt_source: must be a public key that fits rsa/],
    [{ jwt_source: base64(String(weak)), jwt_signing_method: 'rsa' }, /jwt_source: must be a public key that fits rsa/],
    [{ jwt_source: base64(String(curve)), jwt_signing_method: 'ecdsa' }, /must be a public key that fits ecdsa/],
    [{ jwt_source: base64(SECRET), jwt_signing_method: 'rsa' }, /jwt_source: must be a public key or certificate/],
    [{ jwt_signing_method: '' }, /jwt_signing_method: needs a key type/],
    [{ jwt_signing_method: 'none' }, /jwt_signing_method: must be one of/],
    [{ jwt_source: 'https://idp.example/jwks' }, /jwt_signing_method: must not be .*hmac/],
    [{ jwt_default_policies: [] }, /jwt_default_policies: must name a policy/],
    [{ jwt_jwks_uris: [{ url: 'file:///etc/passwd' }] }, /jwt_jwks_uris\[0\]\.url/],
    [{ jwt_expires_at_validation_skew: -1 }, /jwt_expires_at_validation_skew: must be at least 0/],
    [{ scopes: { jwt: { scope_to_policy: { read: '' } } } }, /scope_to_policy: must name a policy for each/],
  ]
  for (const [more, says] of cases) {
    const answer = await gate.svc('PUT', '/svc/apis/j', jwtApi(origin, more))
    assert.equal(answer.status, 400, `${JSON.stringify(more)}: ${answer.text}`)
    assert.match(answer.text, says)
    assert.ok(!answer.text.includes(base64(SECRET)))
  }
})
