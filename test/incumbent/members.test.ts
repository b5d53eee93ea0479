import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { EXTENSION } from '../../src/model/apis/definition/members.ts'
import { setMember } from '../../src/model/apis/definition/tree.ts'
import type { Schema } from '../../src/model/apis/schema/schema.ts'
import { CLASSIC_SCHEMA } from '../../src/model/apis/schema/schema-classic.ts'
import { EXTENSION_SCHEMA } from '../../src/model/apis/schema/schema-oas.ts'
import { isObject, type Json, type JsonObject } from '../../src/model/json/json.ts'
import { startTestGateway, type TestGateway } from '../worlds/base/harness.ts'
import { spread } from '../worlds/base/spread.ts'

type Format = 'classic' | 'openapi'
type Kind = 'flag' | 'number' | 'text' | 'any'

/** The members of the published schemas: paths by the type of their value. */
const MEMBERS: Readonly<Record<Format, Readonly<Record<Kind, readonly string[]>>>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', 'worlds', 'incumbent', 'members.json'), 'utf8'),
)

const RIGHT: Readonly<Record<Kind, Json>> = { flag: true, number: 3, text: 'word', any: { a: 1 } }
const WRONG: Readonly<Record<Kind, Json>> = { flag: 'yes', number: 'many', text: 7, any: 7 }

const classic = (): JsonObject => ({
  ...{ api_id: 'members', name: 'members', active: true, use_keyless: true },
  proxy: { listen_path: '/members/', target_url: 'http://up.test/', strip_listen_path: true },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default', use_extended_paths: true } } },
})
const openapi = (path: string): JsonObject => ({
  openapi: '3.0.3',
  info: { title: 'members', version: '1' },
  paths: { '/a': { get: { operationId: 'op', responses: { default: { description: '' } } } } },
  ...(path.startsWith('server.authentication') && {
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
    security: [{ key: [] }],
  }),
  [EXTENSION]: {
    info: { id: 'members', name: 'members', state: { active: true } },
    upstream: { url: 'http://up.test/' },
    server: {
      listenPath: { value: '/members/', strip: true },
      ...(path.startsWith('server.authentication') && {
        authentication: { enabled: true, securitySchemes: { key: { enabled: true, header: { enabled: true } } } },
      }),
    },
  },
})

const NAMES: Readonly<Record<string, string>> = {
  operations: 'op',
  securitySchemes: 'key',
  versions: 'Default',
  error_overrides: '500',
  value: '500',
}

/** Sets a member of a document; what its entry must have besides is there. */
function put(document: JsonObject, path: readonly string[], value: Json): void {
  let at: Json = document
  path.forEach((part, index) => {
    const name = part === '[]' ? '0' : part === '*' ? (NAMES[path[index - 1]!] ?? 'one') : part
    const isLast = index === path.length - 1
    const known = Array.isArray(at) ? at[0] : (at as JsonObject)[name]
    const next: Json = isLast ? value : (known ?? (path[index + 1] === '[]' ? [] : {}))
    if (Array.isArray(at)) {
      at[0] = next
      if (path[1] === 'versions' && isObject(next) && !isLast) Object.assign(next, { path: '/a', method: 'GET' })
    } else setMember(at as JsonObject, name, next)
    at = next
  })
}

interface Saved {
  readonly status: number
  readonly text: string
  readonly warnings: readonly { readonly path: string; readonly message: string }[]
}

async function save(gateway: TestGateway, format: Format, path: string, value: Json): Promise<Saved> {
  const document = format === 'classic' ? classic() : openapi(path)
  put(format === 'classic' ? document : (document[EXTENSION] as JsonObject), path.split('.'), value)
  const at = format === 'classic' ? '/svc/apis' : '/svc/apis/oas'
  const { status, text } = await gateway.svc('POST', at, document)
  if (status === 200) await gateway.svc('DELETE', `${at}/${(JSON.parse(text) as { key: string }).key}`)
  const { warnings = [] } = JSON.parse(text) as { warnings?: Saved['warnings'] }
  return { status, text, warnings }
}

/** True for members that the served schema of a format has. */
function isServed(format: Format, path: readonly string[]): boolean {
  let schema: Json | undefined = format === 'classic' ? CLASSIC_SCHEMA : EXTENSION_SCHEMA
  for (const part of path) {
    if (!isObject(schema ?? null)) return false
    const { items, properties, additionalProperties } = schema as Schema
    if (part === '[]') schema = items
    else if (isObject(properties ?? null) && Object.keys(properties as JsonObject).length > 0)
      schema = (properties as JsonObject)[part]
    else if (additionalProperties !== undefined) schema = additionalProperties
    else return isObject(schema ?? null)
  }
  return schema !== undefined
}

const wordsOf = (format: Format, path: string) =>
  [...(format === 'classic' ? [] : [EXTENSION]), ...path.split('.')].filter((part) => part !== '[]' && part !== '*')

/** True where a place names a member or a section that holds it. */
function names(place: string, words: readonly string[]): boolean {
  const named = place.split(/[.[\]"]+/).filter((word) => word !== '' && !/^(?:\d+|op|key|Default|one)$/.test(word))
  return named.every((word, index) => words[index] === word)
}

/** Members that could protect something: never kept without effect. */
const NEVER_KEPT =
  /analytics_plugin\.enable|request_signing\.is_enabled|requestSigning\.enabled|domainToCertificateMapping|nforceTimeout\.(?:enabled|duration|value)|global_enforce_timeout|hard_timeouts.*(?:timeout|duration)$|scopeCheck\.enabled|rror_?overrides\.(?:value|\*)|mcp|expire_analytics_after|scopeCheck|exchange\.enabled|tokenExchange/i

/** A switch that is off asks for nothing. */
const isOff = (path: string) => /(?:^|[._])disabled$/.test(path)

/** Seconds, or a text such as `1h`. */
const TAKES_NUMBERS: ReadonlySet<string> = new Set(['server.authentication.customKeyLifetime.value'])

for (const format of ['classic', 'openapi'] as const) {
  test(`each member of a ${format} definition is served, refused or told of`, async (t) => {
    const gateway = await startTestGateway()
    t.after(() => gateway.close())
    const all = Object.entries(MEMBERS[format]).flatMap(([kind, paths]) =>
      paths.map((path) => ({ path, kind: kind as Kind })),
    )
    const counts = { served: 0, refused: 0, told: 0 }
    const silent: string[] = []
    const mistyped: string[] = []
    for (const { path, kind } of spread(all, 0, 4)) {
      const words = wordsOf(format, path)
      const { status, text, warnings } = await save(gateway, format, path, RIGHT[kind])
      assert.ok(status === 200 || status === 400, `${path}: ${status} ${text}`)
      // A certificate that is not there is a matter of the value.
      const told = warnings.find(({ path: at, message }) => names(at, words) && !/which is not stored$/.test(message))
      if (status === 400) counts.refused++
      else if (told !== undefined && NEVER_KEPT.test(path)) silent.push(`${path}: kept with "${told.message}"`)
      else if (told !== undefined) counts.told++
      else if (isServed(format, path.split('.')) || isOff(path)) counts.served++
      else silent.push(path)
      if (kind === 'any' || TAKES_NUMBERS.has(path)) continue
      const wrong = await save(gateway, format, path, WRONG[kind])
      if (wrong.status !== 400) mistyped.push(`${path}: ${wrong.text}`)
    }
    t.diagnostic(JSON.stringify(counts))
    assert.deepEqual({ silent, mistyped }, { silent: [], mistyped: [] })
  })
}
