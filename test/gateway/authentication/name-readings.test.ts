import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { classic } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { type Pairs, sendExactly, VERSIONS } from '../../worlds/gateway/exact-fields.ts'
import { readersOf, variableOfField } from '../../worlds/gateway/upstream-readers.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 5000 : 300
const NAME = 'id_token'
const FORGED = 'forged-victim'

/** Two APIs that read a key from a header, a parameter and a cookie: `keep` forwards it, `strip` does not. */
async function world(t: TestContext) {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway()
  t.after(() => gate.close())
  for (const id of ['keep', 'strip']) {
    const authToken = {
      auth_header_name: 'X-My-Key',
      use_param: true,
      param_name: NAME,
      use_cookie: true,
      cookie_name: NAME,
    }
    const more = {
      use_keyless: false,
      use_standard_auth: true,
      strip_auth_data: id === 'strip',
      auth_configs: { authToken },
    }
    const made = await gate.svc('POST', '/svc/apis', classic(id, `/${id}/`, origin.url, more))
    assert.equal(made.status, 200, made.text)
  }
  const { key } = (await gate.svc('POST', '/svc/keys/create', { access_rights: rightsOn('keep', 'strip') })).json as {
    key: string
  }
  return { gate, origin, key }
}

const oneOf = (...texts: readonly string[]) => fc.constantFrom(...texts)
const escaped = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`
const unit = (letter: string) => `%u00${letter.charCodeAt(0).toString(16)}`
const letters = (name: string, others: readonly string[]) =>
  fc
    .tuple(
      ...[...name].map((letter) =>
        /[a-z]/i.test(letter)
          ? fc.oneof(
              { weight: 8, arbitrary: fc.constant(letter) },
              { weight: 1, arbitrary: oneOf(letter.toUpperCase(), escaped(letter), unit(letter)) },
            )
          : oneOf(letter, letter, letter, ...others),
      ),
    )
    .map((all) => all.join(''))
const spelled = letters(NAME, ['.', '%2e', '%20', '+', '[', '%5B', '-', '%u005F', '%u002e'])
const before = oneOf('', '', '%', '%u0020', '[', '[[', '%5B', ']', '+', '%20', 'a=1;', '[]', 'x')
const behind = oneOf('', '', ']', '[]', '[0]', '[a][b]', '%5D', '%5b%5d', '[', '[%ff]', ']]', '.x', 's', '%00', '%00x')
const parameter = fc.tuple(before, spelled, behind).map((all) => all.join(''))
const cookie = fc
  .tuple(
    oneOf('', '', 'a=b ', 'a ', 'a="q" ', 'a=b\t', 'a=b,', 'a=b , ', '[', '%20', 'a=b=c  ', 'x'),
    letters(NAME, ['.', '[', ' ', '%20', '-']),
    oneOf('', '', ' ', '\t', '[]', '[x]', '[', '.x', 's', '%20', '%00', '%00x'),
  )
  .map((all) => all.join(''))
const header = fc
  .tuple(
    ...[...'X-My-Key'].map((letter) =>
      letter === '-' ? oneOf(..."-_.!~+#$&*^|'`") : oneOf(letter, letter.toLowerCase()),
    ),
  )
  .map((all) => all.join(''))

test('property: no upstream reads an unverified credential under any spelling', async (t) => {
  const { gate, origin, key } = await world(t)
  const forged = fc.oneof(
    parameter.map((name) => ({ in: 'query', name }) as const),
    cookie.map((name) => ({ in: 'cookie', name }) as const),
    header.map((name) => ({ in: 'header', name }) as const),
  )
  const places = fc.constantFrom('header', 'query', 'cookie')
  let passed = 0
  const request = fc.tuple(fc.constantFrom(...VERSIONS), oneOf('keep', 'strip'), places, forged, fc.boolean())
  await fc.assert(
    fc.asyncProperty(request, async ([version, id, place, { in: where, name }, first]) => {
      const both = (own: string, other: string, separator: string) =>
        (first ? [other, own] : [own, other]).filter((each) => each !== '').join(separator)
      const at = (kind: string, text: string, isIt: boolean) => (isIt ? `${kind}=${text}` : '')
      const query = both(at(NAME, key, place === 'query'), at(name, FORGED, where === 'query'), '&')
      const cookies = both(at(NAME, key, place === 'cookie'), at(name, FORGED, where === 'cookie'), '; ')
      const fields: (readonly [string, string])[] = []
      if (place === 'header') fields.push(['X-My-Key', key])
      if (where === 'header') fields.push([name, FORGED])
      if (cookies !== '') fields.push(['Cookie', cookies])
      const path = `/${id}/x?${query === '' ? 'a=1' : query}`
      const count = origin.seen.length
      const { status } = await sendExactly(gate.port, version, { path, fields: fields satisfies Pairs })
      if (status !== 200) {
        assert.equal(status, 400, `${path} ${fields.join('|')}`)
        assert.equal(origin.seen.length, count)
        return
      }
      passed++
      const { target, rawHeaders } = origin.seen.at(-1)!
      const told = target.slice(target.indexOf('?') + 1)
      const toldCookies: string[] = []
      rawHeaders.forEach((each, i) => {
        if (i % 2 === 1) return
        if (each.toLowerCase() === 'cookie') toldCookies.push(rawHeaders[i + 1]!)
        else if (variableOfField(each) === 'HTTP_X_MY_KEY') assert.notEqual(rawHeaders[i + 1], FORGED, each)
      })
      assert.deepEqual(readersOf(told, toldCookies.join('; '), NAME, FORGED), [], `${told} ${toldCookies}`)
    }),
    { numRuns: RUNS },
  )
  assert.ok(passed > RUNS / 20)
})

test('what only looks like the name of a credential goes on', async (t) => {
  const { gate, origin, key } = await world(t)
  const query = 'filter[id_token]=1&id_tokens=2&xid_token=3&id-token=4&a.id_token=5'
  const cookies = 'note=my id_token; prefs=id_token=1; id_tokens=2; id-token=3; list=a,b'
  const fields: Pairs = [
    ['X-My-Key', key],
    ['X.My.Keys', '1'],
    ['X.Role', '2'],
    ['Cookie', cookies],
  ]
  for (const version of VERSIONS) {
    assert.equal((await sendExactly(gate.port, version, { path: `/keep/x?${query}`, fields })).status, 200)
    const { target, headers } = origin.seen.at(-1)!
    assert.ok(target.endsWith(`?${query}`), target)
    assert.deepEqual([headers.cookie, headers['x.my.keys'], headers['x.role']], [cookies, '1', '2'])
  }
})

test('a second parameter is refused under every spelling of its name, escapes of ASP.NET too', async (t) => {
  const { gate, origin, key } = await world(t)
  const names = [...NAME].flatMap((letter, i) =>
    [escaped, unit].map((spell) => `${NAME.slice(0, i)}${spell(letter)}${NAME.slice(i + 1)}`),
  )
  for (const version of VERSIONS)
    for (const name of names)
      for (const query of [
        `${NAME}=${key}&${name}=${FORGED}`,
        `${name}=${FORGED}&${NAME}=${key}`,
        `%&${NAME}=${key}&${name}=x`,
      ]) {
        const { status } = await sendExactly(gate.port, version, { path: `/keep/x?${query}`, fields: [] })
        assert.equal(status, 400, query)
      }
  assert.equal(origin.seen.length, 0)
})
