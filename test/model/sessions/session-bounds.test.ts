import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { readClientFields } from '../../../src/model/oauth-clients/oauth-client-fields.ts'
import { checkPolicy } from '../../../src/model/policies/policy.ts'
import { checkSession } from '../../../src/model/sessions/session.ts'
import {
  COMMON,
  checkFields,
  checkLength,
  checksOf,
  Findings,
  MOST,
} from '../../../src/model/sessions/session-fields.ts'

const many = (count: number, item: (number: number) => Json) => Array.from({ length: count }, (_, i) => item(i))
const named = (count: number, item: Json): JsonObject =>
  Object.fromEntries(many(count, (i) => [`n${i}`, item]) as [string, Json][])
const right = (more: JsonObject): JsonObject => ({
  access_rights: { a: { api_id: 'a', versions: ['Default'], ...more } },
})
const url = { url: '^/a$', methods: ['GET'] }
const endpoint = { path: '^/a$', methods: [] }

/** A body with so many of what is bounded, and the bound. */
const BOUNDS: Readonly<Record<keyof typeof MOST, (count: number) => JsonObject>> = {
  allowed_urls: (count) => right({ allowed_urls: many(count, () => url) }),
  endpoints: (count) => right({ endpoints: many(count, () => endpoint) }),
  methods: (count) => right({ allowed_urls: [{ url: '/', methods: many(count, () => 'GET') }] }),
  versions: (count) => right({ versions: many(count, (i) => `v${i}`) }),
  types: (count) => right({ allowed_types: many(count, (i) => ({ name: `t${i}`, fields: [] })) }),
  tags: (count) => ({ tags: many(count, (i) => `t${i}`) }),
  rights: (count) => ({ access_rights: named(count, {}) }),
  patterns: (count) => ({
    access_rights: {
      ...named(Math.floor(count / MOST.allowed_urls), { allowed_urls: many(MOST.allowed_urls, () => url) }),
      rest: { endpoints: many(count % MOST.allowed_urls, () => endpoint) },
    },
  }),
  pattern_characters: (count) => {
    const most = MOST.allowed_urls
    const long = { url: 'a'.repeat(most), methods: ['GET'] }
    const full = { allowed_urls: many(most, () => long) }
    const rest = count % (most * most)
    return {
      access_rights: {
        ...named(Math.floor(count / (most * most)), full),
        rest: { allowed_urls: [{ url: '/'.repeat(rest), methods: [] }] },
      },
    }
  },
  members: (count) => ({ meta_data: named(count, 'x') }),
  characters: (count) => ({ alias: 'x'.repeat(count - '["alias",""]'.length) }),
  characters_of_right: (count) => ({
    ...right({ unknown: 'x'.repeat(count - '["a",{"api_id":"a","versions":["Default"],"unknown":""}]'.length) }),
    alias: 'x'.repeat(MOST.characters - '["alias",""]'.length),
  }),
}

for (const [name, bodyOf] of Object.entries(BOUNDS))
  test(`keys and policies hold a bounded number of ${name}, and a refusal names the bound`, () => {
    const most = MOST[name as keyof typeof MOST]
    const flawsOf = (body: JsonObject) => {
      const findings = new Findings()
      checkFields(body, checksOf(COMMON), '', findings)
      checkLength(body, findings)
      return JSON.stringify(findings)
    }
    const right = flawsOf(bodyOf(most))
    const over = flawsOf(bodyOf(most + 1))
    assert.ok(!right.includes('at most'), right)
    assert.ok(
      over.includes(`at most ${name === 'characters_of_right' ? MOST.characters + most : most} `),
      over.slice(0, 200),
    )
  })

const CHECKS = {
  key: (body: JsonObject) => checkSession({ apply_policies: ['p'], ...body }),
  policy: (body: JsonObject) => checkPolicy(body),
  'OAuth client': (body: JsonObject) => readClientFields(body),
}
for (const [noun, check] of Object.entries(CHECKS))
  test(`a ${noun} has at most ${MOST.characters} characters, whichever member holds them`, () => {
    const text = 'x'.repeat(MOST.characters)
    for (const member of ['alias', 'unknown', 'name', 'client_uri', 'hmac_string', 'org_id']) {
      assert.throws(() => check({ [member]: text }), /at most 100000 characters/, member)
      check({ [member]: text.slice(100) })
    }
    for (const held of [{ a: text }, named(MOST.members + 1, 'x')] as JsonObject[])
      assert.throws(() => check({ meta_data: held }), /at most/)
    assert.throws(() => check({ tags: [text], policies: [text] }), /at most/)
  })

test('no place of a key escapes the bound of its length', () => {
  const long = 'x'.repeat(MOST.characters + MOST.characters_of_right)
  const bodies: Readonly<Record<string, JsonObject>> = {
    'a member of another name': { own: { endpoints: long } },
    metadata: { meta_data: { allowed_urls: long } },
    'a list of metadata': { meta_data: { endpoints: [{ path: long }] } },
    'an entry of a right': right({ allowed_urls: [{ url: '/', methods: [], own: long }] }),
    'a limit of a right': right({
      endpoints: [{ path: '/', methods: [{ name: 'GET', limit: { rate: 1, per: 1, own: [long] } }] }],
    }),
    'an entry of another kind': right({ endpoints: [[{ own: long }]] }),
  }
  for (const [place, body] of Object.entries(bodies)) {
    const findings = new Findings()
    checkLength(body, findings)
    assert.match(JSON.stringify(findings), /must have at most \d+ characters/, place)
  }
})
