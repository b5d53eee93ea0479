import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { blankScalars, type ScalarField, type ScalarFields } from '../../../src/model/json/scalar-fields.ts'
import { POLICY_FIELDS } from '../../../src/model/policies/policy-fields.ts'
import { DEVELOPER_FIELDS } from '../../../src/model/portal/developers/developer-fields.ts'
import { type KeyWorld, keyWorld, POLICIES, policyOf, refusal } from '../../worlds/dashboard/key-world.ts'

interface RecordKind {
  readonly name: string
  readonly path: string
  readonly fields: ScalarFields
  /** A record that is right without any of the fields. */
  readonly bare: () => JsonObject
  readonly id: (answer: JsonObject) => string
}

const KINDS: readonly RecordKind[] = [
  {
    name: 'policy',
    path: POLICIES,
    fields: POLICY_FIELDS,
    bare: () => {
      const { rate: _rate, per: _per, ...bare } = policyOf('gold', ['orders'])
      return bare
    },
    id: ({ Message: id }) => String(id),
  },
  {
    name: 'developer',
    path: '/api/portal/developers',
    fields: DEVELOPER_FIELDS,
    bare: () => ({ email: 'ann@example.test' }),
    id: ({ Message: id }) => String(id),
  },
]

const GOOD: Readonly<Record<ScalarField['kind'], Json>> = { flag: true, number: 7, integer: 7, text: 'seven' }
const BAD: Readonly<Record<ScalarField['kind'], readonly Json[]>> = {
  flag: ['yes', 1, []],
  number: ['7', true, {}],
  integer: [0.5, '7', {}],
  text: [7, true, {}],
}

const good = (fields: ScalarFields) =>
  Object.fromEntries(Object.entries(fields).map(([name, { kind }]) => [name, GOOD[kind]]))

/** Values beyond the bounds of a field. */
function beyond(field: ScalarField): Json[] {
  if (field.kind === 'text' && field.most !== undefined) return ['x'.repeat(field.most + 1), 'a\nb']
  if (field.kind !== 'integer') return []
  return [...(field.min === undefined ? [] : [field.min - 1]), ...(field.max === undefined ? [] : [field.max + 1])]
}

async function shown({ asked, root }: KeyWorld, { path, fields }: RecordKind, id: string): Promise<JsonObject> {
  const record = await asked(200, 'GET', `${path}/${id}`, root)
  return Object.fromEntries(Object.keys(fields).map((name) => [name, record[name] ?? null]))
}

test('each field of the tables is stored, shown, blank by default and refused by name', async (t) => {
  const world = await keyWorld(t)
  await world.api('orders')
  for (const kind of KINDS) {
    const { path, fields, bare } = kind
    for (const [name, field] of Object.entries(fields)) {
      for (const bad of [...BAD[field.kind], ...beyond(field)]) {
        const answer = await world.call('POST', path, { as: world.root, body: { ...bare(), [name]: bad } })
        const [status, message] = refusal(answer)
        assert.deepEqual([status, String(message).includes(`${name}: must be`)], [400, true], `${name}: ${answer.text}`)
      }
    }
    const id = kind.id(await world.asked(200, 'POST', path, world.root, bare()))
    assert.deepEqual(await shown(world, kind, id), blankScalars(fields))
    await world.asked(200, 'PUT', `${path}/${id}`, world.root, { ...bare(), ...good(fields) })
    assert.deepEqual(await shown(world, kind, id), good(fields))
  }
})
