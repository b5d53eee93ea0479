import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { searchTextsOf } from '../../../src/model/apis/definition/fill-ids.ts'
import { EXTENSION } from '../../../src/model/apis/definition/members.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { bodyOf, classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

interface Row {
  readonly id: string
  readonly api_id: string
  readonly name: string
  readonly active: boolean
  readonly listen_path: string
  readonly domain: string
  readonly upstreams: readonly string[]
  readonly auth_types: readonly string[]
  readonly categories: readonly string[]
  readonly labels: readonly { readonly key: string; readonly value: string }[]
}

const NUMBER = 7
/** Where parts of texts begin and end. */
const PARTS = [
  [0, 5],
  [1, 9],
  [3, 40],
] as const

async function start(t: TestContext) {
  const world = await startTestDashboard()
  t.after(() => world.close())
  const admin = await world.admin()
  const asked = async (method: string, path: string, body?: unknown) => {
    const answer = await world.call(method, path, { as: admin, ...(body !== undefined && { body }) })
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`)
    return bodyOf(answer)
  }
  await asked('POST', '/api/labels', { key: 'team', name: 'Team' })
  for (let at = 0; at < NUMBER; at++) {
    world.clock.advance(1000)
    const [apiId, path] = [`ID-${at}-of`, `/Path-${at}-up/`]
    const name = `Näme ${String.fromCharCode(97 + ((at * 7) % 26))}${at} #cat${at}x`
    const upstreams = [`http://up-${at}.example:8080/Deep/${at}?view=geheim${at}`, `https://two-${at}.example`]
    if (at % 2 === 0) {
      const proxy = {
        listen_path: path,
        target_url: upstreams[0]!,
        enable_load_balancing: at % 4 === 0,
        target_list: upstreams,
      }
      const more = { name, proxy, domain: at % 3 === 0 ? `h${at}.example` : '', use_keyless: at % 4 === 0 }
      await asked('POST', '/api/apis', { api_definition: { ...classicApi(apiId, path, more), active: at % 3 === 0 } })
    } else {
      const document = oasApi(apiId, path, { name: name.replace(/ #.*/, '') })
      const extension = document[EXTENSION] as JsonObject
      const targets = upstreams.map((url) => ({ url, weight: 1 }))
      const upstream = { url: upstreams[0]!, loadBalancing: { enabled: at % 3 === 0, targets } }
      await asked('POST', '/api/apis/oas', { ...document, [EXTENSION]: { ...extension, upstream } })
      await asked('POST', `/api/apis/${apiId}/labels`, [{ key: 'team', value: `Vålue ${at} of` }])
    }
  }
  const list = async (query: string) => {
    const { apis, ...counts } = await asked('GET', `/api/apis?facts=1&${query}`)
    return { rows: apis as unknown as Row[], ...counts } as { rows: Row[]; pages: number; total?: number }
  }
  return { ...world, asked, list, all: (await list('p=-1')).rows }
}

/** All texts that a row shows. */
const textsOf = ({ id, api_id, name, domain, listen_path, upstreams, categories, labels }: Row) => [
  ...[id, api_id, name, `${domain}${listen_path}`, ...upstreams],
  ...categories.map((category) => `#${category}`),
  ...labels.map(({ value }) => value),
]

const fold = (text: string) => text.normalize('NFKC').toLowerCase()

test('an API is found by any part of any text that its row shows, in any letter case', async (t) => {
  const { all, list } = await start(t)
  assert.equal(all.length, NUMBER)
  assert.deepEqual(
    ['upstreams', 'categories', 'labels'].filter((name) => all.every((row) => row[name as 'labels'].length === 0)),
    [],
    'the samples have all',
  )
  for (const text of new Set(all.flatMap(textsOf)))
    for (const [from, to] of PARTS) {
      const part = text.slice(from, to)
      if (part === '') continue
      const expected = all.filter((row) => textsOf(row).some((own) => fold(own).includes(fold(part))))
      for (const q of [part, part.toUpperCase()]) {
        const { rows, total } = await list(`page_size=100&q=${encodeURIComponent(q)}`)
        assert.deepEqual(rows.map(({ id }) => id).sort(), expected.map(({ id }) => id).sort(), q)
        assert.equal(total, expected.length)
      }
    }
})

test('queries of upstreams, and credentials of older ones, are neither shown nor found in lists', async (t) => {
  const { all, list } = await start(t)
  assert.ok(all.some(({ upstreams }) => upstreams.includes('http://up-1.example:8080/Deep/1')))
  assert.doesNotMatch(JSON.stringify(all), /geheim/)
  for (const q of ['geheim', '?view']) assert.deepEqual((await list(`q=${encodeURIComponent(q)}`)).rows, [], q)
  const target_url = 'https://user:geheim@old.example/a@b?key=geheim#geheim'
  const old = { api_id: 'x', org_id: 'o', name: 'X', format: 'classic', definition: { proxy: { target_url } } } as const
  assert.deepEqual(searchTextsOf(old, ''), ['X', 'x', 'https://old.example/a@b'])
})

test('lists of APIs are sorted by each column both ways, in pages of the size asked for', async (t) => {
  const { all, asked, call, list, user } = await start(t)
  const columns: Record<string, (row: Row) => string> = {
    name: ({ name }) => fold(name),
    listen_path: ({ domain, listen_path }) => fold(`${domain}${listen_path}`),
    active: ({ active }) => String(active),
    auth_type: ({ auth_types }) => auth_types.join(' '),
  }
  for (const [column, keyOf] of Object.entries(columns))
    for (const sign of ['', '-']) {
      const sorted = [...all].sort((a, b) => {
        const [left, right] = [`${keyOf(a)}\0${a.id}`, `${keyOf(b)}\0${b.id}`]
        const order = Buffer.compare(Buffer.from(left), Buffer.from(right))
        return sign === '-' ? -order : order
      })
      for (const size of [1, 5, 25]) {
        const found: string[] = []
        const pages = Math.ceil(NUMBER / size)
        for (let p = 1; p <= pages; p++) {
          const page = await list(`sort=${sign}${column}&page_size=${size}&p=${p}`)
          assert.deepEqual([page.pages, page.total], [pages, NUMBER])
          found.push(...page.rows.map(({ id }) => id))
        }
        assert.deepEqual(
          found,
          sorted.map(({ id }) => id),
          `${sign}${column} by ${size}`,
        )
      }
    }
  assert.deepEqual(
    Object.keys(await asked('GET', '/api/apis')),
    ['apis', 'pages'],
    'the total is asked for by the size',
  )
  const reader = await user({ apis: 'read' })
  for (const size of ['0', '1001', '-1', 'x', '1.5'])
    assert.equal((await call('GET', `/api/apis?page_size=${size}`, { as: reader })).status, 400, size)
})
