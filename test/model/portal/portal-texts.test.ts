import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { replaceVisible } from '../../../src/model/portal/catalogue/catalogue.ts'
import {
  configurationFor,
  configurationOf,
  filled,
  oneLine,
  readConfiguration,
} from '../../../src/model/portal/settings/portal-configuration.ts'
import { readMenus } from '../../../src/model/portal/settings/portal-look.ts'
import { readPage } from '../../../src/model/portal/settings/portal-page.ts'

const RUNS = { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 20_000 : 500 }

test('a filled template keeps its own lines, and no value is read as a template', () => {
  const value = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('{{key}}', 'a\r\nBcc: b', '\u2028', '$&', '$1'))
  const check = (name: string, key: string) => {
    const { text, used } = filled('Hello {{name}}\nbye {{ key }}', { name, key })
    const lines = text.split('\n')
    assert.equal(lines.length, 2)
    assert.equal(lines[0], `Hello ${oneLine(name)}`)
    assert.equal(lines[1], `bye ${oneLine(key)}`)
    assert.doesNotMatch(text.replace('\n', ''), /[\p{Cc}\p{Zl}\p{Zp}]/u)
    assert.deepEqual([...used], ['name', 'key'])
  }
  fc.assert(fc.property(value, value, check), RUNS)
})

test('hidden entries of a list stay in order, and sent ones in theirs', () => {
  const list = fc.array(fc.record({ mine: fc.boolean(), at: fc.nat() }), { maxLength: 12 })
  const sent = fc.array(fc.record({ mine: fc.constant(true), at: fc.nat() }), { maxLength: 12 })
  const check = (before: { mine: boolean; at: number }[], own: { mine: boolean; at: number }[]) => {
    const after = replaceVisible(before, ({ mine }) => mine, own)
    assert.deepEqual(
      after.filter((entry) => own.includes(entry)),
      own,
    )
    const hidden = before.filter(({ mine }) => !mine)
    assert.deepEqual(
      after.filter((entry) => !own.includes(entry)),
      hidden,
    )
    // as many as there were: each hidden entry keeps its position
    if (own.length !== before.length - hidden.length) return
    for (const entry of hidden) assert.equal(after.indexOf(entry), before.indexOf(entry))
  }
  fc.assert(fc.property(list, sent, check), RUNS)
})

test('a configuration that was read can be read again and is the same', () => {
  const sent = fc.record(
    {
      signup_fields: fc.array(fc.stringMatching(/^[A-Za-z]{1,8}$/), { maxLength: 4 }),
      require_key_approval: fc.boolean(),
      oauth_usage_limit: fc.integer({ min: -1, max: 100 }),
      portal_url: fc.constantFrom('', 'https://portal.test/x'),
      unknown: fc.string(),
    },
    { requiredKeys: [] },
  )
  const check = (body: Parameters<typeof readConfiguration>[0]) => {
    const once = readConfiguration(body)
    assert.deepEqual(readConfiguration(once), once)
    assert.deepEqual(readConfiguration({}, once), once)
    assert.ok(!Object.values(once).includes(null))
  }
  fc.assert(fc.property(sent as fc.Arbitrary<Parameters<typeof readConfiguration>[0]>, check), RUNS)
})

test('an entry overrides only where it says so, and only what it says', () => {
  const portal = configurationOf('o', { require_key_approval: true, key_request_fields: ['a'] })
  assert.equal(configurationFor(portal, { require_key_approval: false }).require_key_approval, true)
  const own = configurationFor(portal, { override: true, require_key_approval: false })
  assert.deepEqual([own.require_key_approval, own.key_request_fields], [false, ['a']])
  assert.deepEqual(configurationFor(portal, { override: true, key_request_fields: null }).key_request_fields, [])
  // what is not an entry's to say
  const more = { override: true, secure_key_approval: true, oauth_usage_limit: 0 }
  const said = configurationFor(portal, more)
  assert.deepEqual([said.secure_key_approval, said.oauth_usage_limit], [false, -1])
})

test('no text of any sort passes for a slug or an address that leads out of the portal', () => {
  const check = (text: string) => {
    let slug: unknown
    try {
      slug = readPage({ slug: text, title: 't' }).slug
    } catch {
      return
    }
    const url = new URL(`https://portal.test/base/${String(slug).replace(/^\//, '')}`)
    assert.equal(url.host, 'portal.test')
    assert.ok(url.pathname.startsWith('/base/'), url.pathname)
    assert.equal(url.search + url.hash, '')
  }
  const hostile = fc.array(fc.constantFrom('.', '..', '/', '%2e', '\\', 'a', '?', '#', '@', ':', ' '), { maxLength: 8 })
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        hostile.map((all) => all.join('')),
      ),
      check,
    ),
    RUNS,
  )
  for (const url of ['javascript:x', ' javascript:x', 'JAVASCRIPT:x', 'vbscript:x', 'data:,x', 'blob:x', 'file:///x'])
    assert.throws(() => readMenus({ menus: { m: [{ title: 't', url }] } }), /menus\.m\.url/)
})
