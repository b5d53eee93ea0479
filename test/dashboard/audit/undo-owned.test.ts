import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { addCertificate } from '../../../src/publish/certificates/certificates.ts'
import type { Thing } from '../../worlds/access-matrix/expectations.ts'
import { OWNED, startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import { classic, defined, rights } from '../../worlds/base/definitions.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'

type Things = Readonly<Record<Thing, string>>

interface Scene {
  readonly world: World
  /** Of nobody, or of an owner. */
  readonly things: Things
  /** Who undoes, and is none of its owners. */
  readonly writer: TestUser
  /** Who owns what is made: for things of nobody the writer. */
  readonly owner: string
  /** A call of an administrator, which succeeds. Answers its audit entry and what it said. */
  done(method: string, path: string, body?: unknown): Promise<{ entry: string; said: JsonObject }>
}

/** Makes a change and answers the audit entry that is to be undone. */
type Row = (scene: Scene) => Promise<{ entry: string }>

const URL = 'http://127.0.0.1:1'
const CALLBACK = 'https://app.test/cb'
const hook = (name: string) => ({ name, method: 'POST', target_path: `https://${name}.test/` })
const policy = (...apis: string[]) => ({
  ...{ id: 'new', name: 'new', rate: 1, per: 1 },
  access_rights: rights(...apis),
})
const tell = ({ done, things }: Scene, ...hooks: JsonObject[]) =>
  done('PUT', `/api/apis/${things.api}/webhooks`, {
    hook_references: hooks.map((each) => ({ event_name: 'QuotaExceeded', hook: each })),
  })

/** Each kind that others may have a part in, created, changed and deleted: who is not its owner undoes none of it. */
const ROWS: Readonly<Record<string, Row>> = {
  'API created': ({ done, owner }) =>
    done('POST', '/api/apis', { api_definition: classic('new', '/new/', URL), user_owners: [owner] }),
  'API changed': ({ done, things }) => done('PUT', `/api/apis/oas/${things.oas}/categories`, { categories: ['x'] }),
  'API deleted': ({ done, things }) => done('DELETE', `/api/apis/oas/${things.oas}`),
  'API given away': ({ done, things, writer }) =>
    done('PUT', `/api/apis/${things.oas}/access`, { userIds: [writer.id] }),
  'policy created': ({ done, things }) => done('POST', '/api/portal/policies', policy(things.api)),
  'policy changed': ({ done, things }) => done('PATCH', `/api/portal/policies/${things.policy}`, { rate: 9, per: 1 }),
  'policy deleted': async ({ done, things }) => {
    await done('POST', '/api/portal/policies', policy(things.api))
    return done('DELETE', '/api/portal/policies/new')
  },
  'key created': ({ done, things }) => done('POST', '/api/keys', { access_rights: rights(things.api) }),
  'key changed': ({ done, things }) =>
    done('PUT', `/api/keys/${things.key}`, { access_rights: rights(things.api), tags: ['x'] }),
  'key deleted': ({ done, things }) => done('DELETE', `/api/keys/${things.key}`),
  'client created': ({ done, things }) =>
    done('POST', `/api/apis/oauth/${things.api}`, { redirect_uri: CALLBACK, policy_id: things.policy }),
  'client changed': ({ done, things: { api, client, policy } }) =>
    done('PUT', `/api/apis/oauth/${api}/${client}`, { redirect_uri: `${CALLBACK}/2`, policy_id: policy }),
  'client deleted': ({ done, things: { api, client } }) => done('DELETE', `/api/apis/oauth/${api}/${client}`),
  'developer changed': ({ done, things }) =>
    done('PATCH', `/api/portal/developers/${things.developer}`, { fields: { Name: 'x' } }),
  'documentation created': ({ done, things }) =>
    done('POST', '/api/portal/documentation', { api_id: things.api, documentation: 'YQ==' }),
  'documentation deleted': ({ done, things }) => done('DELETE', `/api/portal/documentation/${things.documentation}`),
  'webhook created': async (scene) => {
    const made = await scene.done('POST', '/api/hooks', hook('new'))
    await tell(scene, { name: 'new' })
    return made
  },
  'webhook changed': async (scene) => {
    const { things, done } = scene
    const changed = await done('PUT', `/api/hooks/${things.hook}`, hook('other'))
    await tell(scene, { id: things.hook })
    return changed
  },
  'webhook renamed': async (scene) => {
    const { things, done } = scene
    const changed = await done('PUT', `/api/hooks/${things.hook}`, hook('other'))
    await tell(scene, { name: 'other' })
    return changed
  },
  'webhook deleted': (scene) => {
    const { things, done } = scene
    return tell(scene, { id: things.hook }).then(() => done('DELETE', `/api/hooks/${things.hook}`))
  },
  'certificate created': async ({ world, things, done }) => {
    const { cert: pem } = makeCertificate('new.test')
    const { id } = await addCertificate(world.parts, { pem, orgId: world.orgId, actor: 'test' })
    const [added] = (await world.store.audit.list({ orgId: world.orgId, limit: 1 })).rows
    const definition = { ...classic(things.api, `/${things.api}/`, URL), client_certificates: [id] }
    await done('PUT', `/api/apis/${things.api}`, { api_definition: definition })
    return { entry: added!.id }
  },
}

/** Documents without owner that would refer to things of an owner once they are restored. */
const REFERRING: Readonly<Record<string, (scene: Scene, id: string) => Promise<{ entry: string }>>> = {
  upstream: async ({ done, things: { oas } }, id) => {
    await done('PUT', `/api/apis/oas/${oas}`, defined({ id: oas, url: `svc://${id}/x` }))
    return done('PUT', `/api/apis/oas/${oas}`, defined({ id: oas, url: URL }))
  },
  'rights of a policy': async ({ done, things }, id) => {
    await done('POST', '/api/portal/policies', policy(things.api, id))
    return done('PATCH', '/api/portal/policies/new', { access_rights: { [id]: null } })
  },
  'rights of a key': async ({ done, things }, id) => {
    await done('PUT', `/api/keys/${things.key}`, { access_rights: rights(things.api, id) })
    return done('PUT', `/api/keys/${things.key}`, { access_rights: rights(things.api) })
  },
  'clients of a key': async ({ done, things: { key, api } }, id) => {
    await done('PUT', `/api/keys/${key}`, { access_rights: rights(api), oauth_keys: { [id]: 'x' } })
    return done('PUT', `/api/keys/${key}`, { access_rights: rights(api), oauth_keys: {} })
  },
}

test('an undo passes the checks of the calls that it undoes, for every kind with shared objects', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const { call, store, orgId, open, owned } = world
  const owner = (await world.actor('owner', { who: 'apis', names: [] })) as TestUser
  const admin = (await world.actor('admin', { who: 'apis', names: [] })) as TestUser
  const writer = (await world.actor('non-owner', { who: 'apis', names: [] })) as TestUser
  const done: Scene['done'] = async (method, path, body) => {
    const answer = await call(method, path, { as: admin, body })
    assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
    return { entry: (await store.audit.list({ orgId, limit: 1 })).rows[0]!.id, said: answer.json as JsonObject }
  }
  const undo = async (entry: string) => {
    const before = await world.fingerprint()
    const answer = await call('POST', `/api/audit-logs/${entry}/undo`, { as: writer })
    const isUnchanged = (await world.fingerprint()) === before
    await world.restore()
    return { ...answer, isUnchanged }
  }
  const scene = (things: Things): Scene => ({
    ...{ world, things, writer, done },
    owner: things === owned ? owner.id : writer.id,
  })
  const wrong: string[] = []
  const refuses = async (name: string, { entry }: { entry: string }) => {
    const { status, text, isUnchanged } = await undo(entry)
    if (![400, 401, 403].includes(status) || !isUnchanged || text.includes(OWNED))
      wrong.push(`${name}: ${status} ${isUnchanged} ${text}`)
  }
  for (const [name, row] of Object.entries(ROWS)) {
    const fine = await undo((await row(scene(open))).entry)
    if (fine.status !== 200) wrong.push(`${name}, of nobody: ${fine.status} ${fine.text}`)
    await refuses(name, await row(scene(owned)))
  }
  for (const [name, row] of Object.entries(REFERRING)) {
    await refuses(`${name}, of others`, await row(scene(open), owned.api))
    await refuses(`${name}, of nothing`, await row(scene(open), 'not-there'))
  }
  assert.deepEqual(wrong, [])
})
