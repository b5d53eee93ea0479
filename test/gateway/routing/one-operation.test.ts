import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { BLOCK, keyFor, named, OPEN, openGateway, operationsOf, publish } from '../../worlds/gateway/operation-rules.ts'

// The functions below implement OpenAPI, and know nothing of the gateway.

interface Document {
  /** By path and method: what marks the operation. */
  readonly [operation: string]: { readonly rule: 'none' | 'block' | 'open' | 'mark' }
}

/** Rank of a segment: fixed text, text and placeholders, a placeholder alone. */
const rank = (segment: string) => (!segment.includes('{') ? 0 : /^\{[^}]*\}$/.test(segment) ? 2 : 1)
const fixed = (segment: string) => segment.replace(/\{[^}]*\}/g, '')

/** The paths of a document that fit a decoded path, those that go first at the front; between those in one list nothing decides. */
function fitting(paths: readonly string[], path: string): string[][] {
  const expression = (template: string) =>
    new RegExp(`^${template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]*\}/g, '[^/]+')}$`, 'u')
  const before = (a: string, b: string) => {
    const [left, right] = [a.split('/'), b.split('/')]
    for (let i = 0; i < left.length; i++) {
      const [one, other] = [left[i]!, right[i]!]
      const differs = rank(one) - rank(other) || fixed(other).length - fixed(one).length
      if (differs !== 0) return differs
    }
    return 0
  }
  const tiers: string[][] = []
  for (const template of paths.filter((template) => expression(template).test(path)).sort(before)) {
    const last = tiers.at(-1)
    if (last !== undefined && before(last[0]!, template) === 0) last.push(template)
    else tiers.push([template])
  }
  return tiers
}

/** The operations of which the stricter serves a request, mostly one. */
function judged(document: Document, method: string, path: string): { names: string[]; opens: boolean } {
  const paths = [...new Set(Object.keys(document).map((name) => named(name)[1]))]
  const methods = method === 'HEAD' ? ['HEAD', 'GET'] : [method]
  for (const [index, tier] of fitting(paths, path).entries()) {
    const names = tier.flatMap(
      (template) => methods.map((each) => `${each} ${template}`).find((each) => each in document) ?? [],
    )
    const opens = index === 0 && names.length === tier.length && names.every((name) => document[name]!.rule === 'open')
    if (names.length > 0) return { names, opens }
  }
  return { names: [], opens: false }
}

/** A spelling of a decoded path that an upstream decodes to the same. */
function spelling(path: string, dice: readonly number[]): string {
  let turn = 0
  const next = () => dice[turn++ % dice.length]!
  return path
    .split('/')
    .map((segment, index) => {
      const spelled = [...segment]
        .map((character) => {
          const bytes = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
          const choice = next()
          if (/[A-Za-z0-9:.~-]/.test(character) && choice % 3 > 0) return character
          return choice % 2 === 0 ? bytes : bytes.toUpperCase()
        })
        .join('')
      const extra = index === 0 ? '' : ['', '', './', 'zz/../', '/', '%2e/', 'q/%2E./'][next() % 7]!
      return extra + spelled
    })
    .join('/')
}

/** The path that a server sees which decodes targets. */
function decodedBy(target: string): string {
  return decodeURIComponent(target.split('?')[0]!).replace(/\/{2,}/g, '/')
}

const WORDS = ['a', 'me', 'é', 'a b', 'x:y', '1.2', '1-2', 'a:go', 'aba', '1.2-3']
const SEGMENTS = [...WORDS, '{a}', '{a}', '{a}:go', '{a}.{b}', '{a}-{b}', 'a{b}', '{b}a']
const documents = fc
  .uniqueArray(
    fc.record({
      method: fc.constantFrom('GET', 'GET', 'POST', 'HEAD'),
      path: fc
        .array(fc.constantFrom(...SEGMENTS), { minLength: 1, maxLength: 3 })
        .map(
          (segments) =>
            `/${segments.map((segment, index) => segment.replaceAll('a}', `a${index}}`).replaceAll('b}', `b${index}}`)).join('/')}`,
        ),
      rule: fc.constantFrom('none' as const, 'block' as const, 'open' as const, 'mark' as const),
    }),
    { minLength: 1, maxLength: 12, selector: ({ method, path }) => `${method} ${path}` },
  )
  .map(
    (operations): Document =>
      Object.fromEntries(operations.map(({ method, path, rule }) => [`${method} ${path}`, { rule }])),
  )
const requests = fc.array(
  fc.record({
    method: fc.constantFrom('GET', 'GET', 'POST', 'HEAD'),
    path: fc
      .array(fc.constantFrom(...WORDS, 'go', 'zz'), { minLength: 1, maxLength: 3 })
      .map((words) => `/${words.join('/')}`),
    dice: fc.array(fc.nat(1000), { minLength: 4, maxLength: 12 }),
  }),
  { minLength: 4, maxLength: 12 },
)

test('of equally good paths the stricter operation serves, in any order', async (t) => {
  const [gateway, origin] = await openGateway(t)
  const pairs = [
    ['/a{x}', '/{p}.{q}', '/a.json', undefined],
    ['/a{x}', '/{p}a', '/aba', undefined],
    ['/a{x}/z', '/{p}a/z', '/aba/z', undefined],
    ['/a{x}/{z}', '/{p}a/{z}', '/aba/z', undefined],
    ['/a{x}/{z}', '/{p}a/z', '/aba/z', '/{p}a/z'],
    ['/a{x}/{z}.{q}', '/{p}a/{z}.x', '/aba/z.x', '/{p}a/{z}.x'],
  ] as const
  for (const [one, other, path, first] of pairs)
    for (const opened of [one, other])
      for (const order of [
        [one, other],
        [other, one],
      ]) {
        const rules = Object.fromEntries(order.map((each) => [`GET ${each}`, each === opened ? OPEN : undefined]))
        const api = defined({ id: 'o', url: origin.url, keyIn: 'X-Key', ...operationsOf(rules) })
        const saved = await gateway.svc('POST', '/svc/apis/oas', api)
        if (saved.status !== 200)
          assert.equal((await gateway.svc('PUT', '/svc/apis/oas/o', api)).status, 200, saved.text)
        assert.equal(
          (await gateway.call(`/o${path}`)).status,
          opened === first ? 200 : 401,
          `${order} ${opened} ${path}`,
        )
      }
})

test('one operation serves a request, whatever its spelling: the one that OpenAPI says', async (t) => {
  const [gateway, origin] = await openGateway(t)
  const api = (document: Document) => {
    const rules = Object.entries(document).map(([name, { rule }]): [string, JsonObject | undefined] => {
      const mark = {
        transformRequestHeaders: { enabled: true, add: [{ name: 'X-Op', value: encodeURIComponent(name) }] },
      }
      return [
        name,
        rule === 'none' ? undefined : rule === 'block' ? BLOCK : rule === 'open' ? { ...mark, ...OPEN } : mark,
      ]
    })
    return defined({ id: 'o', url: `${origin.url}/up`, keyIn: 'X-Key', ...operationsOf(Object.fromEntries(rules)) })
  }
  await publish(gateway, api({}))
  const key = await keyFor(gateway, 'o')
  await fc.assert(
    fc.asyncProperty(documents, requests, async (document, asked) => {
      const put = await gateway.svc('PUT', '/svc/apis/oas/o', api(document))
      assert.equal(put.status, 200, put.text)
      for (const { method, path, dice } of asked) {
        const { names, opens } = judged(document, method, path)
        const byGet = method === 'HEAD' ? judged(document, 'GET', path).names : names
        const blocked = [...names, ...byGet].some((name) => document[name]!.rule === 'block')
        const marks = names.filter((name) => /open|mark/.test(document[name]!.rule)).map(encodeURIComponent)
        const spelled = spelling(`/o${path}`, dice)
        for (const keyed of [true, false]) {
          origin.seen.length = 0
          const answer = await gateway.call(spelled, { method, headers: keyed ? { 'X-Key': key } : {} })
          const told = `${keyed ? 'keyed' : 'open'} ${method} ${spelled}, which is ${path}: ${names}`
          assert.equal(answer.status, blocked ? 403 : keyed || opens ? 200 : 401, told)
          if (answer.status !== 200) continue
          const seen = origin.seen[0]!
          assert.equal(decodedBy(seen.target), `/up${path}`, told)
          const mark = seen.headers['x-op']
          assert.ok(marks.length === 0 ? mark === undefined : marks.includes(String(mark)), told)
        }
      }
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 1500 : 40 },
  )
})
