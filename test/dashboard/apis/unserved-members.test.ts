import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type UnservedMember, unservedMembers } from '../../../scripts/definition-members.ts'
import { EXTENSION } from '../../../src/model/apis/definition/members.ts'
import { getAt, putAt } from '../../../src/model/apis/definition/tree.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

/** Switches that turn their section off when they are on: what is off asks for nothing. */
const OFF: ReadonlySet<string> = new Set(['disabled'])

/** A value that asks for something. */
function filled({ type, items, properties, additionalProperties, enum: words }: UnservedMember['schema']): Json {
  if (Array.isArray(words)) return words.find((each) => each !== '') ?? 'x'
  if (items !== undefined) return [filled(items as JsonObject)]
  if (properties !== undefined || additionalProperties !== undefined) return { x: 'x' }
  const types = [type].flat()
  if (types.includes('boolean')) return true
  if (types.includes('number') || types.includes('integer')) return 1
  return types.includes('string') || type === undefined ? 'x' : { x: 'x' }
}

/** A path whose `*` is an entry of a list, a name of a map, or the operation that the document has. */
function placeOf(path: readonly string[]): string[] {
  return path.map((name, index) => (name !== '*' ? name : path[index - 1] === 'operations' ? 'listPets' : '0'))
}

function placed(definition: JsonObject, path: readonly string[], value: Json): void {
  const at = placeOf(path)
  putAt(definition, at, value)
  // A list where the path had `*` for its entries, unless it is a map.
  for (const [index, name] of at.entries()) {
    const holder = getAt(definition, at.slice(0, index))
    if (name === '0' && LISTS.test(at.slice(0, index).join('.')))
      putAt(definition, at.slice(0, index), [(holder as JsonObject)['0']!])
  }
}
const LISTS =
  /(?:Plugins|eventHandlers|response_processors|security_requirement_scopes|\.(?:pre|post|post_key_auth|response)|check_list|tests|extended_paths\.\w+)$/

test('each member that is listed as without effect is refused at save, or warned of', async (t) => {
  const world = await startTestDashboard()
  t.after(world.close)
  const as = await world.admin()
  const silent: string[] = []
  for (const format of ['classic', 'oas'] as const)
    for (const member of unservedMembers(format, { leaves: true })) {
      if (OFF.has(member.path.at(-1)!)) continue
      const definition = format === 'classic' ? classicApi('a', '/a/') : oasApi('a', '/a/')
      placed(definition, format === 'classic' ? member.path : [EXTENSION, ...member.path], filled(member.schema))
      const body = format === 'classic' ? { api_definition: definition } : definition
      const path = format === 'classic' ? '/api/apis' : '/api/apis/oas'
      const { status, text, json } = await world.call('POST', path, { as, body })
      const refused = text.replace(/\[0\]/g, '.0')
      const warned = ((json as JsonObject).Warnings ?? []) as { path: string }[]
      const told = status === 400 ? refused : warned.map(({ path: at }) => at.replace(/\[0\]/g, '.0')).join(' ')
      const at = placeOf(member.path)
      // The member itself, or the section that holds it; a warning names more than the first name of a definition.
      const names = at
        .map((_name, depth) => at.slice(0, depth + 1).join('.'))
        .slice(status === 200 ? Math.min(1, at.length - 1) : 0)
      if (![200, 400].includes(status) || !names.some((name) => told.includes(name)))
        silent.push(`${format} ${at.join('.')}: ${status} ${text.slice(0, 300)}`)
      if (status === 200) await world.call('DELETE', '/api/apis/a', { as })
    }
  assert.deepEqual(silent, [])
})
