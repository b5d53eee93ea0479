import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { jsonOffset, lineAt, twiceNamed, yamlLine } from '../../src/cli/moves/files.ts'
import { pathOfWords, pathText, valueAt, withValueAt } from '../../src/cli/moves/paths.ts'
import { escapeAllPlaceholders, resolvePlaceholders } from '../../src/cli/moves/placeholders.ts'
import { fileName, renderJson, sortedJson } from '../../src/cli/moves/rendered.ts'
import { secretPlaces } from '../../src/cli/moves/secret-places.ts'
import { isObject, type Json, type JsonObject } from '../../src/model/json/json.ts'
import { openSealed, readIdentity, readRecipient, sealFor } from '../../src/model/secrets/recipient-seal.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 5000 : 200

/** Texts that look like marks more often than chance would have it. */
const text = () =>
  fc.oneof(
    fc.string(),
    fc
      .array(fc.constantFrom('$', '{', '}', 'env:', 'A', 'kept', 'sealed:', ':-', '|', '$sealed:'))
      .map((words) => words.join('')),
  )
const json = () =>
  fc.jsonValue({ maxDepth: 3 }).chain((value) => text().map((more): Json => ({ value: value as Json, more })))

test('every document comes back from its file as it was, whatever its texts look like', () => {
  fc.assert(
    fc.property(json(), (value) => {
      const flaws: string[] = []
      const reader = {
        env: { A: 'a' },
        open: () => undefined,
        flaw: (_path: unknown, name: string) => void flaws.push(name),
      }
      const read = resolvePlaceholders(
        JSON.parse(renderJson(escapeAllPlaceholders(value) as JsonObject)) as Json,
        reader,
      )
      assert.deepEqual(JSON.stringify(sortedJson(read)), JSON.stringify(sortedJson(value)))
      assert.deepEqual(flaws, [])
    }),
    { numRuns: RUNS, examples: [[{ more: `\${env:\${env:` }], [{ more: `\${env:A$\${kept}` }]] },
  )
})

test('the walk over JSON finds each member where the parser put it', () => {
  fc.assert(
    fc.property(json(), fc.nat(4), (value, space) => {
      const written = JSON.stringify(value, null, space)
      assert.equal(twiceNamed(written), undefined)
      visit(value, [], (path, member) => {
        const offset = jsonOffset(written, path)
        const rest = written
          .slice(offset)
          .replace(/^"(?:[^"\\]|\\.)*"\s*:\s*/, (name) => (typeof path.at(-1) === 'string' ? '' : name))
        assert.ok(rest.startsWith(JSON.stringify(member, null, space).slice(0, 1)))
        assert.equal(valueAt(value, path), member)
        assert.deepEqual(pathOfWords(pathText(path), value).map(String), path.map(String))
        assert.equal(valueAt(withValueAt(value, path, 'other'), path), 'other')
      })
    }),
    { numRuns: RUNS },
  )
  assert.deepEqual(twiceNamed('{"a": 1, "b": {"c": 1, "c": 2}}')?.path, ['b', 'c'])
  assert.equal(lineAt('a\nb\nc', 4), 3)
  assert.equal(yamlLine('a: 1\nb:\n  - c: 2\n    d: 3\n', ['b', 0, 'd', 'nothing']), 4)
})

function visit(value: Json, path: (string | number)[], seen: (path: (string | number)[], value: Json) => void): void {
  if (path.length > 0) seen(path, value)
  if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, [...path, index], seen)
  else if (isObject(value)) for (const [name, item] of Object.entries(value)) visit(item, [...path, name], seen)
}

test('file names tell all identities apart, on file systems that know no case too', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(
        fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('a', 'A', 'a.', 'a-b', 'A-B', '../a', 'a/b')),
        { minLength: 2 },
      ),
      (ids) => {
        const names = ids.map((id) => fileName(id).toLowerCase())
        assert.equal(new Set(names).size, ids.length)
        for (const name of names) assert.match(name, /^[a-z0-9][a-z0-9._-]*$/)
      },
    ),
    { numRuns: RUNS },
  )
})

const pair = () => {
  const { publicKey, privateKey } = generateKeyPairSync('x25519')
  return {
    recipient: readRecipient(String(publicKey.export({ type: 'spki', format: 'pem' })), 'test'),
    identity: readIdentity(String(privateKey.export({ type: 'pkcs8', format: 'pem' })), 'test'),
  }
}

test('a sealed value opens only for its recipient, at its place, unmodified', () => {
  const [mine, other] = [pair(), pair()]
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.nat(), (secret, place, bit) => {
      const sealed = sealFor(mine.recipient, 'seed', place, secret)
      assert.match(sealed, /^\$sealed:v1:[0-9a-f]{16}:[\w-]{43}:[\w-]+$/)
      assert.equal(openSealed(mine.identity, place, sealed), secret)
      assert.equal(sealFor(mine.recipient, 'seed', place, secret), sealed)
      for (const differing of [
        sealFor(mine.recipient, 'seed', place, `${secret}.`),
        sealFor(mine.recipient, 'other', place, secret),
        sealFor(mine.recipient, 'seed', `${place}.`, secret),
      ])
        assert.notEqual(differing.split(':')[3], sealed.split(':')[3])
      assert.throws(() => openSealed(other.identity, place, sealed), /sealed for another key/)
      assert.throws(() => openSealed(mine.identity, `${place}.`, sealed), /was changed, or belongs to another place/)
      const parts = sealed.split(':')
      const box = Buffer.from(parts[4]!, 'base64url')
      box[bit % box.length]! ^= 1 << (bit % 8)
      assert.throws(
        () => openSealed(mine.identity, place, [...parts.slice(0, 4), box.toString('base64url')].join(':')),
        /was changed/,
      )
    }),
    { numRuns: Math.min(RUNS, 1000) },
  )
  assert.throws(() => openSealed(mine.identity, 'x', '$sealed:v2:a:b:c'), /format that is not known here: v2/)
  assert.throws(() => readRecipient('no key', '--recipient'), /--recipient: is no key in PEM/)
  const ed = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' })
  assert.throws(() => readRecipient(String(ed), '--recipient'), /must be an X25519 key/)
})

test('secrets of definitions are found by their names, and what only speaks of them is none', () => {
  const definition: JsonObject = {
    notifications: { shared_secret: 's', oauth_on_keychange_url: 'https://x.example/' },
    auth: { auth_header_name: 'Authorization', cookie_name: 'c' },
    hmac_allowed_algorithms: ['hmac-sha256'],
    upstream_auth: { basic_auth: { username: 'u', password: 'p' } },
    proxy: { target_url: 'https://user:pass@up.example/' },
    global_headers: { Authorization: 'Bearer x', 'X-Plain': 'y' },
    add: [
      { name: 'X-Api-Key', value: 'k' },
      { name: 'X-Other', value: 'o' },
    ],
    jwt_default_policies: ['gold'],
    jwt_signing_method: 'HMAC',
    jwt_source: 'c2hhcmVk',
    schemes: { shared: { signingMethod: 'hmac', source: 's' }, open: { signingMethod: 'rsa', source: 'PEM' } },
    token: '',
  }
  assert.deepEqual(secretPlaces(definition).map(pathText), [
    'notifications.shared_secret',
    'upstream_auth.basic_auth.password',
    'proxy.target_url',
    'global_headers.Authorization',
    'add[0].value',
    'jwt_source',
    'schemes.shared.source',
  ])
})
