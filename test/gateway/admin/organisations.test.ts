import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

// An object that names no organisation belongs to the one of what it refers to, else to the default one, which here is none: ''.

const NAMED = [undefined, 'acme', 'other'] as const
type Named = (typeof NAMED)[number]

/** The organisation of each object; undefined = it can never work, and is refused. */
function expected(api: Named, policy: Named, key: Named) {
  const ofApi = api ?? ''
  const ofPolicy = (policy ?? ofApi) === ofApi ? ofApi : undefined
  const byPolicy = ofPolicy !== undefined && (key ?? ofPolicy) === ofPolicy ? ofPolicy : undefined
  const byRights = (key ?? ofApi) === ofApi ? ofApi : undefined
  return { ofPolicy, byPolicy, byRights }
}

test('each combination of organisations of API, policy and key works, or is refused at save', async (t) => {
  const origin = await startOrigin()
  const gateway = await startTestGateway()
  t.after(async () => {
    await gateway.close()
    await origin.close()
  })
  const use = async (id: string, key: string) =>
    (await gateway.call(`/${id}/`, { headers: { authorization: key } })).status
  const named = (orgId: Named) => (orgId === undefined ? {} : { org_id: orgId })
  const cases = NAMED.flatMap((api) => NAMED.flatMap((policy) => NAMED.map((key) => [api, policy, key] as const)))
  assert.equal(cases.length, 27)
  for (const [number, [api, policy, key]] of cases.entries()) {
    const id = `x${number}`
    const where = `API ${api}, policy ${policy}, key ${key}`
    const { ofPolicy, byPolicy, byRights } = expected(api, policy, key)
    const access_rights = { [id]: { api_id: id, versions: ['Default'] } }
    const definition = {
      ...{ api_id: id, name: id, active: true, use_standard_auth: true, auth: { auth_header_name: 'authorization' } },
      proxy: { listen_path: `/${id}/`, target_url: origin.url, strip_listen_path: true },
      version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
      ...named(api),
    }
    assert.equal((await gateway.svc('POST', '/svc/apis', definition)).status, 200)
    const plan = { id, name: id, active: true, rate: 0, per: 0, quota_max: -1, access_rights, ...named(policy) }
    const saved = await gateway.svc('POST', '/svc/policies', plan)
    assert.equal(saved.status, ofPolicy === undefined ? 400 : 200, `${where}: ${saved.text}`)
    if (ofPolicy === undefined) assert.match(saved.text, /another organisation/, where)
    for (const [orgId, session] of [
      [byPolicy, { apply_policies: [id] }],
      [byRights, { access_rights }],
    ] as const) {
      const made = await gateway.svc('POST', '/svc/keys', { ...session, ...named(key) })
      assert.equal(made.status, orgId === undefined ? 400 : 200, `${where}: ${made.text}`)
      if (orgId === undefined) {
        assert.match(made.text, /organisation|no such policy/, where)
        continue
      }
      const raw = String((made.json as { key: string }).key)
      assert.equal(await use(id, raw), 200, where)
      // Without `org_id` it stays where it is.
      assert.equal((await gateway.svc('PUT', `/svc/keys/${raw}`, session)).status, 200, where)
      assert.equal(await use(id, raw), 200, where)
      assert.equal((await gateway.svc('POST', `/svc/keys/${raw}`, session)).status, 200, where)
      assert.equal(await use(id, raw), 200, where)
      const { json } = await gateway.svc('GET', `/svc/keys/${raw}`)
      assert.equal((json as { org_id?: string }).org_id ?? '', orgId, where)
      const moved = await gateway.svc('PUT', `/svc/keys/${raw}`, { ...session, org_id: 'elsewhere' })
      assert.equal(moved.status, 400, `${where}: ${moved.text}`)
      assert.equal(await use(id, raw), 200, where)
    }
  }
})

test('references of several organisations need an org_id; users and custom keys are placed alike', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const right = (id: string) => ({ [id]: { api_id: id, versions: ['Default'] } })
  for (const org_id of ['acme', 'other']) {
    const proxy = { listen_path: `/${org_id}/`, target_url: 'http://127.0.0.1:1' }
    const definition = { api_id: org_id, name: org_id, active: true, use_standard_auth: true, org_id, proxy }
    assert.equal((await gateway.svc('POST', '/svc/apis', definition)).status, 200)
  }
  const both = { access_rights: { ...right('acme'), ...right('other') } }
  const unclear = await gateway.svc('POST', '/svc/keys', both)
  assert.equal(unclear.status, 400)
  assert.match(unclear.text, /org_id: is missing/)
  assert.equal((await gateway.svc('POST', '/svc/keys', { ...both, org_id: 'acme' })).status, 200)
  const orgOf = async (path: string) => ((await gateway.svc('GET', path)).json as { org_id?: string }).org_id
  assert.equal(
    (await gateway.svc('POST', '/svc/keys/a-key-of-my-choice', { access_rights: right('acme') })).status,
    200,
  )
  assert.equal(await orgOf('/svc/keys/a-key-of-my-choice'), 'acme')
  const user = { access_rights: right('other'), basic_auth_data: { password: 'Correct-horse-7' } }
  assert.equal((await gateway.svc('POST', '/svc/keys/ada', user)).status, 200)
  assert.equal(await orgOf('/svc/keys/ada?username=true&org_id=other'), 'other')
})
