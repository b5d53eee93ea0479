import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { type TestContext, test } from 'node:test'
import { WRITTEN_FIELDS, writtenFieldFlaws } from '../../../src/model/apis/check/written-fields.ts'
import { EXTENSION } from '../../../src/model/apis/definition/members.ts'
import { asSavable, readNewApi } from '../../../src/model/apis/read/read.ts'
import type { Schema } from '../../../src/model/apis/schema/schema.ts'
import { CLASSIC_SCHEMA } from '../../../src/model/apis/schema/schema-classic.ts'
import { EXTENSION_SCHEMA } from '../../../src/model/apis/schema/schema-oas.ts'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { answering, openOrigin } from '../../worlds/wire/origin.ts'
import { Client, type Message, statusOf } from '../../worlds/wire/raw.ts'

const URL = 'http://upstream.test/'
/** The effect of each name if it got into a message. */
const FRAMING: Readonly<Record<string, string>> = {
  'Content-Length': '40',
  'transfer-encoding': 'chunked',
  Transfer_Encoding: 'chunked',
  CONNECTION: 'Authorization, close',
  TE: 'trailers',
  Trailer: 'X-Late',
  Upgrade: 'websocket',
  'Keep-Alive': 'timeout=1',
  'Proxy-Connection': 'close',
  Expect: '100-continue',
  'HTTP2-Settings': 'AAMAAABkAAQAAP__',
}

/** Places of a schema that hold names of fields, `*` for every member and entry. */
function fieldPlaces(schema: Schema, at: string[] = []): string[] {
  const found: string[] = []
  const kind = schema.names ?? schema.is
  if (kind === 'fieldName' || kind === 'optionalFieldName') found.push(at.join('.'))
  const follow = (child: Json | undefined, name: string) => {
    if (child !== undefined && isObject(child)) found.push(...fieldPlaces(child, [...at, name]))
  }
  if (isObject(schema.properties ?? null))
    for (const [name, child] of Object.entries(schema.properties as JsonObject)) follow(child, name)
  follow(schema.additionalProperties, '*')
  follow(schema.items, '*')
  return found
}

/** Places of names that the gateway reads or removes; and mocks and error answers, whose names are checked whenever they are read. */
const NOT_ADDED =
  /(?:auth_header|cookie)_name$|(?:header|cookie)\.name$|tag_?headers\.\*$|cache_?by_?headers\.\*$|ttl_?header|(?:_remove|delete_headers|\.remove)\.\*$|mock_?response\.(?:\*\.)?headers|error_?overrides\..*response\.headers/i

test('every place of a schema that holds names of fields which are added is held to the rule', () => {
  const places = {
    classic: fieldPlaces(CLASSIC_SCHEMA),
    oas: fieldPlaces(EXTENSION_SCHEMA, [EXTENSION]).map((place) => place.replace(/\.add\.\*\.name$/, '.add')),
  }
  assert.ok(places.classic.length > 10 && places.oas.length > 10)
  for (const format of ['classic', 'oas'] as const) {
    const added = places[format].filter((place) => !NOT_ADDED.test(place))
    assert.deepEqual(added.toSorted(), [...WRITTEN_FIELDS[format]].toSorted(), format)
  }
})

/** A value at a place, with `*` as the given names. */
function at(place: string, value: Json): JsonObject {
  const steps = place.split('.')
  const build = (index: number): Json => {
    if (index === steps.length) return value
    const step = steps[index]!
    const inside = build(index + 1)
    if (step !== '*') return { [step]: inside }
    const before = steps[index - 1]
    if (before === 'versions')
      return { Default: { name: 'Default', use_extended_paths: true, ...(inside as JsonObject) } }
    return before === 'operations' ? { op: inside } : [inside]
  }
  return build(0) as JsonObject
}

function merged(a: Json | undefined, b: Json): Json {
  if (a === undefined || !isObject(a) || !isObject(b)) return b
  return { ...a, ...Object.fromEntries(Object.entries(b).map(([name, value]) => [name, merged(a[name], value)])) }
}

/** A definition of each format that adds these fields at one place. */
function adding(format: 'classic' | 'oas', place: string, fields: Readonly<Record<string, string>>): JsonObject {
  const entry = { path: '/p', method: 'GET', url: '/', enabled: true }
  if (format === 'classic') {
    const more = at(place, { ...fields }) as JsonObject
    const [list] = ['transform_headers', 'transform_response_headers', 'check_list'].filter((name) =>
      place.includes(name),
    )
    const text = JSON.stringify(more)
    const whole =
      list === undefined ? text : text.replace(`"${list}":[{`, `"${list}":[{${JSON.stringify(entry).slice(1, -1)},`)
    return merged(classic('a', '/a/', URL), JSON.parse(whole)) as JsonObject
  }
  const add = place.endsWith('.headers')
    ? { ...fields }
    : Object.entries(fields).map(([name, value]) => ({ name, value }))
  const text = JSON.stringify(at(place, add)).replace(
    /"(transform(?:Request|Response)Headers|uptimeTests)":\{/g,
    '"$1":{"enabled":true,',
  )
  const whole = JSON.parse(text.replace('"tests":[{', '"tests":[{"url":"/",')) as JsonObject
  return merged(defined({ id: 'a', url: URL, paths: { '/p': { get: { operationId: 'op' } } } }), whole) as JsonObject
}

const documentOf = (format: 'classic' | 'oas', definition: JsonObject) =>
  ({ format, definition, api_id: 'a', org_id: 'o', name: 'a' }) as const

test('a definition that adds framing fields is not saved, and an import drops them', () => {
  for (const format of ['classic', 'oas'] as const) {
    for (const place of WRITTEN_FIELDS[format]) {
      assert.doesNotThrow(
        () => readNewApi(documentOf(format, adding(format, place, { 'X-Mine': 'v', Host: 'x.test' }))),
        place,
      )
      for (const [name, value] of Object.entries(FRAMING)) {
        const definition = adding(format, place, { 'X-Mine': 'v', [name]: value })
        assert.throws(
          () => readNewApi(documentOf(format, definition)),
          (error: Error) => error.message.includes(`${name} frames messages`),
          `${place} ${name}`,
        )
        const saved = asSavable(format, definition)
        assert.equal(saved.changes.length, 1)
        assert.deepEqual(saved.definition, adding(format, place, { 'X-Mine': 'v' }))
        assert.deepEqual(writtenFieldFlaws(format, saved.definition), [])
      }
    }
  }
})

const NAMES = [...Object.keys(FRAMING), 'Host']
const PLACEHOLDERS = Object.fromEntries(NAMES.map((_, index) => [`X-Put-${index}`, `v${index}`]))

/** Every edit there is, with placeholders for the names. */
function edited(id: string, url: string): readonly [path: string, definition: JsonObject][] {
  const edits = { enabled: true, add: Object.entries(PLACEHOLDERS).map(([name, value]) => ({ name, value })) }
  const both = { transformRequestHeaders: edits, transformResponseHeaders: edits }
  const lists = [{ path: '/op', method: 'POST', add_headers: PLACEHOLDERS }]
  const version = {
    ...{ name: 'Default', use_extended_paths: true },
    ...{ global_headers: PLACEHOLDERS, global_response_headers: PLACEHOLDERS },
    extended_paths: { transform_headers: lists, transform_response_headers: lists },
  }
  return [
    [
      '/svc/apis/oas',
      defined({
        ...{ id: `${id}o`, url, global: both, operations: { op: both } },
        paths: { '/op': { post: { operationId: 'op' } } },
      }),
    ],
    [
      '/svc/apis',
      classic(`${id}c`, `/${id}c/`, url, { version_data: { not_versioned: true, versions: { Default: version } } }),
    ],
  ]
}

/** A gateway with APIs that were stored before the rule, some behind another one. */
async function stored(t: TestContext) {
  const body = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
  const origin = await openOrigin(
    t,
    answering(() => body),
  )
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const outer = edited('w', 'svc://xo/')
  const apis = [...edited('x', `http://127.0.0.1:${origin.port}/`), ...outer]
  for (const [path, definition] of apis) {
    const saved = await gate.svc('POST', path, definition)
    assert.equal(saved.status, 200, saved.text)
  }
  for (const id of ['xo', 'xc', 'wo', 'wc']) {
    const document = (await gate.store.documents.find('api', 'api_id', id))!
    const text = JSON.stringify(document.body).replaceAll(/X-Put-(\d+)/g, (_, index) => NAMES[Number(index)]!)
    const body = JSON.parse(
      text.replaceAll(/"v(\d+)"/g, (_, index) => JSON.stringify(FRAMING[NAMES[Number(index)]!] ?? 'x.test')),
    )
    await gate.store.documents.commit([{ op: 'put', kind: 'api', id: document.id, body }], undefined)
  }
  assert.equal((await gate.svc('GET', '/svc/reload?block=true')).status, 200)
  return { gate, origin }
}

/** The fields of a message that nobody but the gateway writes, each as often as it is there. */
const ofTheGateway = ({ fields }: Message) =>
  fields
    .map(([name, value]) => `${name}: ${value}`)
    .filter((line) => NAMES.some((name) => line.startsWith(`${name.toLowerCase()}:`)))

test('stored framing fields reach neither upstream nor client, and are reported', async (t) => {
  const { gate, origin } = await stored(t)
  const host = `host: 127.0.0.1:${origin.port}`
  const framed = {
    length: 'Content-Length: 3\r\n\r\nabc',
    chunked: 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  }
  for (const id of ['xo', 'xc', 'wo', 'wc']) {
    const client = await Client.connect(gate.port)
    t.after(() => client.destroy())
    const requests = [
      ['GET', '/p', '\r\n', []],
      ['POST', '/op', framed.length, ['content-length: 3']],
      ['POST', '/op', framed.chunked, ['transfer-encoding: chunked']],
    ] as const
    for (const [method, path, rest, framing] of requests) {
      origin.calls.length = 0
      const answer = await client.ask(`${method} /${id}${path} HTTP/1.1\r\nHost: gate.example\r\n${rest}`, method)
      assert.equal(statusOf(answer), 200, `${id} ${method}`)
      assert.deepEqual(ofTheGateway(answer), ['content-length: 2'], `${id} ${method} answer`)
      assert.deepEqual(ofTheGateway(origin.calls[0]!).toSorted(), [...framing, host].toSorted(), `${id} ${method}`)
    }
  }
  const session = connect(`http://127.0.0.1:${gate.port}`)
  t.after(() => session.destroy())
  for (const id of ['xo', 'wc']) {
    origin.calls.length = 0
    const stream = session.request({ ':method': 'POST', ':path': `/${id}/op` })
    stream.end('abc')
    let names: string[] = []
    stream.on('response', (headers) => {
      names = Object.keys(headers)
    })
    let text = ''
    for await (const part of stream) text += part
    assert.equal(text, 'ok', id)
    assert.deepEqual(
      names.filter((name) => NAMES.some((each) => each.toLowerCase() === name)),
      ['content-length'],
      id,
    )
    await eventually('the request at the upstream', () => origin.calls.length === 1)
    assert.deepEqual(ofTheGateway(origin.calls[0]!).toSorted(), [host, 'transfer-encoding: chunked'].toSorted(), id)
  }
  for (const id of ['xo', 'xc', 'wo', 'wc'])
    assert.ok(
      gate.log.some(
        ({ level, fields, message }) =>
          level === 'warn' && fields.api_id === id && /only the gateway writes/.test(message),
      ),
      id,
    )
})
