import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toOas } from '../../../src/model/apis/convert/convert.ts'
import { getAt } from '../../../src/model/apis/definition/tree.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../../worlds/base/client.ts'
import { classic } from '../../worlds/base/definitions.ts'
import { spread } from '../../worlds/base/spread.ts'
import { gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { DEFINITION_NEEDS, FORMAT_NEEDS, MET_ELSEWHERE, type NeedCase } from '../../worlds/dashboard/unmet-needs.ts'

const EXTENSION = 'x-svc-api-gateway'
type Format = 'classic' | 'oas'

function classicOf(id: string, more: JsonObject): JsonObject {
  const definition = classic(id, `/${id}/`, 'http://upstream.test/', more)
  const proxy = { ...(definition.proxy as JsonObject), listen_path: `/${id}/` }
  return { ...definition, proxy }
}

function documentOf(id: string, more: JsonObject): JsonObject {
  const held = (section: string) => (more[section] ?? {}) as JsonObject
  const domain = { ...((held('server').customDomain ?? {}) as JsonObject) }
  // A domain belongs to one API of one organisation.
  if (domain.name === 'needs.test') domain.name = `${id}.test`
  const customDomain = Object.keys(domain).length > 0 ? { customDomain: domain } : {}
  const server = { ...held('server'), ...customDomain, listenPath: { value: `/${id}/` } }
  const extension = { ...more, info: { id, name: id, state: { active: true } }, server }
  return {
    ...{ openapi: '3.0.3', info: { title: id, version: '1' } },
    paths: { '/a': { get: { operationId: 'a', responses: { 200: { description: 'ok' } } } } },
    [EXTENSION]: { ...extension, upstream: { url: 'http://upstream.test/', ...held('upstream') } },
  }
}

/** The case as a definition of the format, and where the warning is expected there. */
function definitionOf(each: Partial<NeedCase>, format: Format, id: string, is: 'met' | 'unmet'): JsonObject {
  const more = each[is]!
  if (each.classic === undefined) return documentOf(id, more)
  const definition = classicOf(id, more)
  return format === 'classic' ? definition : toOas(definition).document
}

/** Messages about settings of this node, or what its store lacks: the definition itself is right. */
const OF_NODE = /gateway\.|which is not stored$/

/** The places that an answer warns of, but for what only this node lacks. */
function pathsOf({ json }: Answer): string[] {
  const { warnings, Warnings } = json as Record<
    'warnings' | 'Warnings',
    { path: string; message: string }[] | undefined
  >
  return (warnings ?? Warnings ?? []).filter(({ message }) => !OF_NODE.test(message)).map(({ path }) => path)
}

const WAYS = (['api', 'svc'] as const).flatMap((api) =>
  (['classic', 'oas'] as const).flatMap((format) => (['unmet', 'met'] as const).map((is) => ({ api, format, is }))),
)

test('a save names each feature that waits for another member, in both formats and by every way', async (t) => {
  const world = await gatewayWorld(t)
  const wrong: string[] = []
  const cases: readonly Partial<NeedCase>[] = [...DEFINITION_NEEDS, ...FORMAT_NEEDS]
  for (const [turn, each] of cases.entries())
    for (const { api, format, is } of spread(
      WAYS.filter((way) => each[way.format] !== undefined),
      turn,
      4,
    )) {
      const path = format === 'oas' ? `${EXTENSION}.${each.oas}` : each.classic!
      const id = `${api}-${format}-${is}-${turn}`
      const body = definitionOf(each, format, id, is)
      const names = path.replaceAll(/\[(\d+)\]/g, '.$1').split('.')
      if (is === 'unmet' && getAt(body, names) === undefined) wrong.push(`${path} is no member of the definition`)
      const list = format === 'oas' ? '/apis/oas' : '/apis'
      const sent = format === 'oas' ? body : { api_definition: body }
      const answer =
        api === 'api'
          ? await world.call('POST', `/api${list}`, { as: world.root, body: sent })
          : await world.gateway.svc('POST', `/svc${list}`, body)
      // A right definition has no warning anywhere.
      const paths = pathsOf(answer)
      if (answer.status !== 200 || (is === 'unmet' ? !paths.includes(path) : paths.length > 0))
        wrong.push(`${path} (${is}): ${answer.text}`)
    }
  assert.equal(wrong.join('\n'), '')
})

test('a definition whose needs can be met elsewhere is saved without a warning', async (t) => {
  const world = await gatewayWorld(t)
  const wrong: string[] = []
  for (const [turn, more] of MET_ELSEWHERE.entries())
    for (const format of ['classic', 'oas'] as const) {
      const definition = classicOf(`${format}-elsewhere-${turn}`, more)
      const answer =
        format === 'oas'
          ? await world.gateway.svc('POST', '/svc/apis/oas', toOas(definition).document)
          : await world.gateway.svc('POST', '/svc/apis', definition)
      if (answer.status !== 200 || pathsOf(answer).length > 0) wrong.push(`${turn} (${format}): ${answer.text}`)
    }
  assert.equal(wrong.join('\n'), '')
})
