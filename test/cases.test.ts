import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../src/model/json/json.ts'
import { FakeClock } from '../src/model/time/clock.ts'
import { openMemoryStore } from '../src/store/memory/open.ts'
import type { Store } from '../src/store/ports/ports.ts'
import type { Answer } from './worlds/base/client.ts'
import { type Draft, defined, rights } from './worlds/base/definitions.ts'
import { eventually } from './worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from './worlds/base/harness.ts'
import { type Receiver, startReceiver } from './worlds/oauth/receiver.ts'
import { deadUrl } from './worlds/servers/free-port.ts'
import { type Origin, startOrigin } from './worlds/servers/origin.ts'

/**
 * Behaviour as data: each file of `cases/` holds cases; each case is a small installation and what happens in it.
 * Texts may hold `{{origin}}` (URL of the upstream), `{{dead}}` (a URL at which nothing listens), `{{receiver}}` (URL of a receiver of
 * webhooks), `{{key:name}}`, `{{hash:name}}` (a made key and its hash), `{{token:name}}` (an access token). In sessions and policies
 * `reaches` gives access rights to these whole APIs.
 */
interface Case {
  readonly name: string
  readonly env?: Record<string, string>
  /** Modules that APIs may call: texts by file name. */
  readonly modules?: Readonly<Record<string, string>>
  /**
   * Definitions, published in order: classic or OpenAPI ones, and drafts of OpenAPI ones, whose upstream is the origin. An operation of a
   * draft is its id where nothing else is in it.
   */
  readonly apis?: readonly JsonObject[]
  readonly policies?: readonly object[]
  /** Sessions made as keys, by a name to refer to them. */
  readonly keys?: Readonly<Record<string, object>>
  /** Client apps, each with its id and secret. */
  readonly clients?: readonly { readonly client_id: string; readonly secret: string }[]
  /** Access tokens of client credentials, by a name to refer to them; `at` is the listen path of the API that issues it. */
  readonly tokens?: Readonly<Record<string, { at: string; client_id: string; secret: string; scope?: string }>>
  readonly steps: readonly CaseStep[]
  /** The recorded hits, read once the gateway has stopped: as many rows as there are, each with these members. */
  readonly hits?: readonly Record<string, unknown>[]
  /** The log lines of event handlers, in order and complete: members of the lines, and the text as `line`. */
  readonly logged?: readonly Record<string, unknown>[]
  /** The first messages at the receiver, of each event in order: members of the messages, `event` among them. */
  readonly told?: readonly Record<string, unknown>[]
}

interface CaseStep {
  /** `METHOD /path`. */
  readonly call?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  /** `METHOD /svc/...`, with `send` as JSON body. */
  readonly svc?: string
  readonly send?: unknown
  readonly advance_ms?: number
  readonly times?: number
  /** The answer must not come sooner. */
  readonly at_least_ms?: number
  /** The upstream's answer to this step. */
  readonly origin?: { status?: number; headers?: Record<string, string>; body?: string; hangs?: boolean }
  readonly status?: number
  /** Field name to its exact value, to a pattern between slashes, or to null for absent. */
  readonly answer?: Record<string, string | null>
  /** Members that the JSON body must have; or the whole text. */
  readonly json?: Record<string, unknown>
  readonly text?: string
  /** A pattern that the body must hold. */
  readonly text_like?: string
  /** How often the upstream must be asked; unless given once, where `upstream` is there. */
  readonly asked?: number
  /** null = the upstream must not be asked. */
  readonly upstream?: null | {
    method?: string
    target?: string
    headers?: Record<string, string | null>
    body?: string
  }
}

const folder = join(import.meta.dirname, 'cases')

for (const file of readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .sort()) {
  const cases = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Case[]
  for (const each of cases) {
    test(`${file}: ${each.name}`, async (t) => {
      const origin = await startOrigin()
      const words = new Map([['origin', origin.url]])
      const receiver = uses(each, 'receiver') ? await startReceiver() : undefined
      if (receiver !== undefined) words.set('receiver', receiver.url)
      if (uses(each, 'dead')) words.set('dead', await deadUrl())
      const clock = new FakeClock()
      const store = openMemoryStore({ clock })
      const gateway = await startTestGateway({ env: { ...each.env, ...modulesOf(each, t) }, store, clock })
      try {
        const fill = await play(each, gateway, origin, words)
        if (receiver !== undefined) await compareTold(fill(each.told ?? []), receiver)
        await gateway.close()
        if (each.hits !== undefined) await compareHits(fill(each.hits), store)
        if (each.logged !== undefined) compareLogged(fill(each.logged), gateway)
      } finally {
        await gateway.close()
        await store.close()
        await origin.close()
        await receiver?.close()
      }
    })
  }
}

const uses = (each: Case, word: string) => JSON.stringify(each).includes(`{{${word}}}`)

/** Writes the modules of a case into a folder. Answers the setting that allows it. */
function modulesOf({ modules }: Case, t: TestContext): Record<string, string> {
  if (modules === undefined) return {}
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-case-')))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [file, text] of Object.entries(modules)) writeFileSync(join(folder, file), text)
  return { SVC_GW_MODULES_PATH: folder }
}

/** Plays the steps. Answers what fills in the words that were learnt. */
async function play(
  each: Case,
  gateway: TestGateway,
  origin: Origin,
  words: Map<string, string>,
): Promise<<T>(value: T) => T> {
  const fill = <T>(value: T): T =>
    JSON.parse(
      JSON.stringify(value).replace(
        /\{\{([^}]+)\}\}/g,
        (_, word: string) => words.get(word) ?? assert.fail(`unknown word ${word}`),
      ),
    )
  for (const written of fill(each.apis ?? [])) {
    const definition = 'openapi' in written || 'api_id' in written ? written : ofDraft(written, origin.url)
    const made = await gateway.svc('POST', 'openapi' in definition ? '/svc/apis/oas' : '/svc/apis', definition)
    assert.equal(made.status, 200, `API not taken: ${made.text}`)
  }
  for (const policy of fill(each.policies ?? [])) {
    const made = await gateway.svc('POST', '/svc/policies', withRights(policy))
    assert.equal(made.status, 200, `policy not taken: ${made.text}`)
  }
  for (const [name, session] of Object.entries(fill(each.keys ?? {}))) {
    const made = await gateway.svc('POST', '/svc/keys/create', withRights(session))
    assert.equal(made.status, 200, `key not made: ${made.text}`)
    const { key, key_hash: hash } = made.json as { key: string; key_hash: string }
    words.set(`key:${name}`, key)
    words.set(`hash:${name}`, hash)
  }
  for (const client of fill(each.clients ?? [])) {
    const made = await gateway.svc('POST', '/svc/oauth/clients/create', client)
    assert.equal(made.status, 200, `client not taken: ${made.text}`)
  }
  for (const [name, { at, ...form }] of Object.entries(each.tokens ?? {})) {
    const { client_id, secret, ...rest } = form
    const made = await gateway.call(`${at}oauth/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${client_id}:${secret}`)}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...rest }).toString(),
    })
    assert.equal(made.status, 200, `token not given: ${made.text}`)
    words.set(`token:${name}`, (made.json as { access_token: string }).access_token)
  }
  for (const [index, step] of each.steps.entries()) await take(fill(step), `step ${index + 1}`, gateway, origin)
  return fill
}

function ofDraft(draft: JsonObject, url: string): JsonObject {
  const paths = Object.entries((draft.paths ?? {}) as Record<string, JsonObject>)
  return defined({
    url,
    ...(draft as Partial<Draft> & Pick<Draft, 'id'>),
    paths: Object.fromEntries(paths.map(([path, item]) => [path, withOperations(item)])),
  })
}

function withOperations(item: JsonObject): JsonObject {
  const entries = Object.entries(item).map(([method, operation]): [string, Json] => [
    method,
    typeof operation === 'string' ? { operationId: operation, responses: { 200: { description: 'ok' } } } : operation,
  ])
  return Object.fromEntries(entries)
}

function withRights(sent: unknown): unknown {
  if (!isObject(sent) || sent.reaches === undefined) return sent
  const { reaches, ...rest } = sent
  return { ...rest, access_rights: rights(...(reaches as string[])) }
}

/** Rows are matched in any order. */
async function compareHits(wanted: readonly Record<string, unknown>[], store: Store): Promise<void> {
  const rows = await store.hits.sum({ fromHour: 0, toHour: 1e6, limit: 1000 })
  const left = rows.map((row) => row as unknown as Record<string, unknown>)
  for (const want of wanted) {
    const at = left.findIndex((row) => Object.entries(want).every(([name, value]) => row[name] === value))
    assert.notEqual(at, -1, `no row of hits like ${JSON.stringify(want)} in ${JSON.stringify(left, null, 1)}`)
    left.splice(at, 1)
  }
  assert.deepEqual(left, [], 'rows of hits that the case does not name')
}

/** Messages of one event come in its order: one too many would be among the first. */
async function compareTold(wanted: readonly Record<string, unknown>[], { received }: Receiver): Promise<void> {
  const told = () => received.map(({ body }) => JSON.parse(body) as Record<string, unknown>)
  for (const [event, of] of Map.groupBy(wanted, (message) => message.event)) {
    const ofEvent = () => told().filter((message) => message.event === event)
    await eventually(`${of.length} messages of ${event}`, () => ofEvent().length >= of.length)
    assert.deepEqual(
      ofEvent()
        .slice(0, of.length)
        .map((message, at) => only(message, of[at]!)),
      of,
    )
  }
}

function compareLogged(wanted: readonly Record<string, unknown>[], { log }: TestGateway): void {
  const lines: Record<string, unknown>[] = log.map(({ fields, message }) => ({ ...fields, line: message }))
  const told = lines.filter(({ event }) => event !== undefined)
  assert.equal(told.length, wanted.length, JSON.stringify(told))
  assert.deepEqual(
    told.map((line, at) => only(line, wanted[at]!)),
    wanted,
  )
}

/** Of a whole the members that are asked for. */
function only(whole: Record<string, unknown>, wanted: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(wanted).map((name) => [name, whole[name]]))
}

async function take(step: CaseStep, where: string, gateway: TestGateway, origin: Origin): Promise<void> {
  if (step.advance_ms !== undefined) gateway.clock.advance(step.advance_ms)
  if (step.origin !== undefined) {
    const { status = 200, headers = {}, body = '', hangs = false } = step.origin
    origin.script = (_request, response) => {
      if (hangs) return
      response.writeHead(status, headers)
      response.end(body)
    }
  }
  for (let i = 0; i < (step.times ?? 1); i++) {
    const before = origin.seen.length
    const askedAt = performance.now()
    const answer = await ask(step, gateway)
    if (answer === undefined) return
    const tookMs = performance.now() - askedAt
    assert.ok(tookMs >= (step.at_least_ms ?? 0), `${where}: answered after ${tookMs} ms`)
    compare(step, answer, `${where}${step.times === undefined ? '' : `, time ${i + 1}`}`)
    compareUpstream(step, origin, before, where)
  }
}

async function ask(step: CaseStep, gateway: TestGateway): Promise<Answer | undefined> {
  if (step.svc !== undefined) {
    const [method = '', path = ''] = step.svc.split(' ')
    return gateway.svc(method, path, withRights(step.send), step.headers)
  }
  if (step.call === undefined) return undefined
  const [method = '', path = ''] = step.call.split(' ')
  return gateway.call(path, {
    method,
    headers: step.headers ?? {},
    ...(step.body === undefined ? {} : { body: step.body }),
  })
}

function compare(step: CaseStep, answer: Answer, where: string): void {
  if (step.status !== undefined) assert.equal(answer.status, step.status, `${where}: status; body ${answer.text}`)
  for (const [name, wanted] of Object.entries(step.answer ?? {}))
    sameField(answer.headers[name.toLowerCase()], wanted, `${where}: ${name}`)
  if (step.text_like !== undefined) assert.match(answer.text, new RegExp(step.text_like), `${where}: body`)
  if (step.text !== undefined) assert.equal(answer.text, step.text, `${where}: body`)
  for (const [name, wanted] of Object.entries(step.json ?? {})) {
    assert.deepEqual(
      (answer.json as Record<string, unknown>)?.[name],
      wanted,
      `${where}: member ${name} of ${answer.text}`,
    )
  }
}

function compareUpstream(step: CaseStep, origin: Origin, before: number, where: string): void {
  if (step.upstream === undefined) return
  if (step.upstream === null) {
    assert.equal(origin.seen.length, before, `${where}: the upstream was asked`)
    return
  }
  assert.equal(origin.seen.length, before + (step.asked ?? 1), `${where}: how often the upstream was asked`)
  const seen = origin.seen.at(-1)!
  const { method, target, headers = {}, body } = step.upstream
  if (method !== undefined) assert.equal(seen.method, method, `${where}: method`)
  if (target !== undefined) assert.equal(seen.target, target, `${where}: target`)
  if (body !== undefined) assert.equal(seen.body, body, `${where}: body`)
  for (const [name, wanted] of Object.entries(headers))
    sameField(seen.headers[name.toLowerCase()], wanted, `${where}: upstream saw ${name}`)
}

function sameField(got: string | string[] | undefined, wanted: string | null, where: string): void {
  const text = Array.isArray(got) ? got.join(', ') : got
  if (wanted === null) assert.equal(text, undefined, where)
  else if (wanted.startsWith('/') && wanted.endsWith('/') && wanted.length > 2)
    assert.match(text ?? '', new RegExp(wanted.slice(1, -1)), where)
  else assert.equal(text, wanted, where)
}
