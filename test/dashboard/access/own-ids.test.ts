import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { DOCUMENT_KINDS } from '../../../src/model/documents/kinds.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'
import { openUndoWorld } from '../../worlds/dashboard/undo-world.ts'

interface Ids {
  readonly own: string
  readonly storage: string
}

/** A kind that is found by its own id and by its storage id. */
interface Noun {
  readonly kind: string
  readonly path: string
  /** Where one is read, by either id. */
  readonly one: string
  readonly body: (ids: Ids, name: string) => JsonObject
  /** How the installation takes one over. */
  readonly imports?: readonly [path: string, body: (one: JsonObject) => JsonObject]
}

const NOUNS: readonly Noun[] = [
  {
    kind: 'policy',
    path: '/api/portal/policies',
    one: '/api/portal/policies',
    body: ({ own, storage }, name) => ({ id: own, _id: storage, name, rate: 1, per: 1, active: true }),
    imports: ['/admin/policies/import', (one) => ({ Data: [one] })],
  },
  {
    kind: 'asset',
    path: '/api/assets',
    one: '/api/assets',
    body: ({ own, storage }, name) => ({ id: own, _id: storage, kind: 'oas-template', name, data: {} }),
  },
  {
    kind: 'api',
    path: '/api/apis',
    one: '/api/apis',
    body: ({ own, storage }, name) => ({ api_definition: classicApi(own, `/${name}/`, { id: storage, name }) }),
    imports: ['/admin/apis/import', (one) => ({ apis: [one] })],
  },
  {
    kind: 'api',
    path: '/api/apis/oas',
    one: '/api/apis/oas',
    body: ({ own, storage }, name) => oasApi(own, `/${name}/`, { dbId: storage, name }),
    imports: ['/admin/apis/import', (one) => ({ apis: [{ oas: one }] })],
  },
]

type Crossing = (victim: Ids, fresh: () => string) => Ids

const CROSSINGS: Readonly<Record<string, Crossing>> = {
  'own id = storage id': ({ storage }, fresh) => ({ own: storage, storage: fresh() }),
  'storage id = own id': ({ own }, fresh) => ({ own: fresh(), storage: own }),
  'both, crossed': ({ own, storage }) => ({ own: storage, storage: own }),
}

test('every kind with an id of its own is walked over', () => {
  const twoIds = Object.keys(DOCUMENT_KINDS).filter((kind) =>
    Object.keys(DOCUMENT_KINDS[kind]!.unique).some((index) => index === 'api_id' || index === `org_${kind}`),
  )
  assert.deepEqual(new Set(NOUNS.map(({ kind }) => kind)), new Set(twoIds))
})

for (const noun of NOUNS)
  test(`${noun.path}: no new object takes the place of another one in look-ups by either id`, async (t) => {
    const w = await openUndoWorld(t)
    const stranger = await w.user({ IsAdmin: 'admin' }, { orgId: await w.organisation() })
    let number = 0
    const fresh = (): string => newDocumentId(w.clock.wall() + ++number * 1000)
    const make = (ids: Ids, name: string, as: TestUser = w.admin) =>
      w.call('POST', noun.path, { as, body: noun.body(ids, name) })
    const isFound = async ({ own, storage }: Ids, name: string, where: string) => {
      for (const id of [own, storage]) {
        const { status, text } = await w.call('GET', `${noun.one}/${id}`, { as: w.admin })
        assert.ok(status === 200 && text.includes(name) && !text.includes('intruder'), `${where}: ${id} ${text}`)
      }
    }
    const madeVictim = async () => {
      const victim = { own: fresh(), storage: fresh(), name: `victim-${++number}` }
      assert.ok((await make(victim, victim.name)).status < 300)
      return victim
    }
    for (const [where, crossing] of Object.entries(CROSSINGS)) {
      const { name, ...victim } = await madeVictim()
      assert.equal((await make(crossing(victim, fresh), `intruder-${++number}`)).status, 409, where)
      await isFound(victim, name, where)
      const imported = { ...noun.body(crossing(victim, fresh), `intruder-${++number}`), org_id: w.orgId }
      if (noun.imports !== undefined) {
        const [path, wrap] = noun.imports
        const { json } = await w.call('POST', path, { as: 'installation', body: wrap(imported) })
        assert.deepEqual(Object.values((json as JsonObject).Meta as JsonObject), [false], where)
        await isFound(victim, name, `${where}, imported`)
      }
      // Names that another organisation uses change nothing here.
      const { status } = await make(crossing(victim, fresh), `intruder-${++number}`, stranger)
      assert.ok(status < 300 || status === 409, `${where}: ${status}`)
      await isFound(victim, name, `${where}, of another organisation`)
      // Deleted, its ids are free; put back, it would share them.
      const gone = await madeVictim()
      assert.equal((await w.call('DELETE', `${noun.one}/${gone.own}`, { as: w.admin })).status, 200)
      const { id: entry } = await w.last()
      assert.ok((await make(crossing(gone, fresh), `intruder-${++number}`)).status < 300, where)
      assert.equal((await w.undo(w.admin, entry)).status, 409, where)
    }
  })

test('with ownership, a policy of another organisation uncovers none whose id is its storage id', async (t) => {
  const w = await openUndoWorld(t, { env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  const id = newDocumentId(w.clock.wall() + 1000)
  await w.sent('POST', '/api/apis', {
    api_definition: classicApi('owned', '/owned/'),
    user_owners: [w.admin.id],
  })
  const access_rights = { owned: { api_id: 'owned', versions: ['Default'] } }
  await w.sent('POST', '/api/portal/policies', { id, name: 'ours', rate: 1, per: 1, access_rights })
  const stranger = await w.user({ IsAdmin: 'admin' }, { orgId: await w.organisation() })
  const theirs = { _id: id, id: 'x', name: 'theirs', rate: 1, per: 1, access_rights: {} }
  assert.equal((await w.call('POST', '/api/portal/policies', { as: stranger, body: theirs })).status, 200)
  const other = await w.user({ policies: 'write', portal: 'write', apis: 'write' })
  for (const method of ['GET', 'DELETE'])
    assert.equal((await w.call(method, `/api/portal/policies/${id}`, { as: other })).status, 401)
})
