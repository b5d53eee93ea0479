import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { OURS, startWorld } from '../../worlds/access-matrix/matrix-world.ts'
import { classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'

test('bodies that name objects of another organisation reach and reveal nothing of it', async (t) => {
  const world = await startWorld({ env: { SVC_DB_ENABLEOWNERSHIP: 'false' } })
  t.after(world.close)
  const { open, orgId, store } = world
  const stranger = (await world.actor('admin of another organisation', { who: 'apis', names: [] })) as TestUser
  const oauth = { use_keyless: false, use_oauth2: true, oauth_meta: { allowed_access_types: ['client_credentials'] } }
  const send = (method: string, path: string, body?: unknown) => world.call(method, path, { as: stranger, body })
  assert.equal((await send('POST', '/api/apis', { api_definition: classicApi('mine', '/mine/', oauth) })).status, 200)
  const developer = (await send('POST', '/api/portal/developers', { email: 'd@d.test', fields: {} })).json as JsonObject
  const rights = { [open.api]: { api_id: open.api, versions: ['Default'] } }
  const mine = { mine: { api_id: 'mine', versions: ['Default'] } }
  // The documents that give rights on the foreign API are their own, and give them nothing there.
  const unlocked = { 'ours-keyless': { api_id: 'ours-keyless', versions: ['Default'] } }
  const wide = { id: 'wide', name: 'wide', rate: 1, per: 1, access_rights: { ...mine, ...rights } }
  assert.equal((await send('POST', '/api/portal/policies', wide)).status, 200)
  const moved = { client_id: 'moved', secret: 'a-secret-of-the-client', redirect_uris: ['https://a.test/'] }
  assert.equal(
    (await send('POST', '/api/moves/clients', { ...moved, client_id: 'there', api_ids: ['mine'] })).status,
    200,
  )
  const keyless = classicApi('ours-keyless', '/ours-keyless/', { use_keyless: true, org_id: orgId })
  await publishApi(world.parts, { format: 'classic', definition: keyless, actor: 'test' })
  const before = await world.fingerprint()
  const person = { first_name: 'a', last_name: 'b', email_address: 'z@z.test', active: true }
  const permissions = { user_permissions: { apis: 'read' } }
  const profile = { ActionType: 'GenerateOrLoginUserProfile', ProviderName: 'ADProvider' }
  const ProviderConfig = { LDAPServer: 'x.test', LDAPUserDN: 'uid=*USERNAME*' }
  const policyId = (await store.documents.find('policy', 'org_policy', `${orgId}/${open.policy}`))!.id
  const api = (id: string, more: JsonObject = {}) => ({ api_definition: classicApi(id, `/${id}/`, more) })
  const owners = { user_owners: [open.user], user_group_owners: [open.group] }
  const hook = { event_name: 'api_event', event_timeout: 0, hook: { id: open.hook } }
  const version = `base_api_id=${open.api}&base_api_version_name=v1&new_version_name=v2`
  // 0 = taken, but without effect on what it names.
  const calls: [number, string, string, unknown?][] = [
    [0, 'POST', '/api/portal/policies', { name: 'x', rate: 1, per: 1, access_rights: rights }],
    [0, 'POST', '/api/keys', { access_rights: rights }],
    [0, 'POST', '/api/keys', { access_rights: unlocked }],
    [400, 'POST', '/api/keys', { apply_policies: [open.policy] }],
    [400, 'POST', '/api/keys', { apply_policy_id: open.policy }],
    [400, 'POST', '/api/keys/preview', { apply_policies: [open.policy] }],
    [400, 'POST', `/api/keys/${open.key}`, { access_rights: mine }],
    [400, 'POST', '/api/users', { ...person, ...permissions, group_id: open.group }],
    [400, 'PUT', '/api/apis/mine/access', { userIds: [open.user], userGroupIds: [open.group] }],
    [400, 'POST', '/api/apis', { ...api('owned'), ...owners }],
    [0, 'POST', '/api/apis', { ...api('hooked'), hook_references: [hook] }],
    [400, 'POST', `/api/apis?${version}`, api('version')],
    [404, 'POST', `/api/apis/oas?templateID=${open.asset}`, oasApi('laid', '/laid/')],
    [0, 'POST', '/api/apis', api('certified', { certificates: [open.certificate], domain: 'a.test' })],
    [409, 'POST', '/api/apis', api(open.api)],
    [400, 'PUT', '/api/apis/mine', api(open.api)],
    [404, 'PATCH', `/api/apis/oas/mine/rebase/${open.oas}`],
    [0, 'POST', '/api/apis/migrate', { mode: 'direct', apiIDs: [open.api] }],
    [400, 'POST', '/api/apis/oauth/mine', { redirect_uri: 'https://a.test/', policy_id: open.policy }],
    [0, 'POST', '/api/apis/oauth/mine', { redirect_uri: 'https://a.test/', client_id: open.client }],
    [409, 'POST', '/api/moves/clients', { ...moved, client_id: open.client, api_ids: ['mine'] }],
    [400, 'POST', '/api/moves/clients', { ...moved, api_ids: [open.api] }],
    [400, 'POST', '/api/moves/clients', { ...moved, api_ids: [open.api], org_id: orgId }],
    [400, 'POST', '/api/moves/clients', { ...moved, api_ids: [open.api], policies: ['wide'] }],
    [400, 'POST', '/api/moves/clients', { ...moved, api_ids: ['mine', open.api] }],
    [400, 'POST', '/api/moves/clients', { ...moved, policies: [open.policy] }],
    [400, 'POST', '/api/moves/clients', { ...moved, client_id: 'there', api_ids: [open.api], policies: ['wide'] }],
    [400, 'POST', '/api/moves/clients', { ...moved, client_id: 'there', api_ids: ['mine', open.api] }],
    [400, 'PUT', '/api/apis/oauth/mine/there', { redirect_uri: 'https://a.test/', policy_id: open.policy }],
    [0, 'POST', '/api/apis/oauth/mine', { redirect_uri: 'https://a.test/', api_ids: [open.api], org_id: orgId }],
    [0, 'POST', '/api/moves/keys', { key_hash: 'e'.repeat(64), session: { access_rights: rights, org_id: orgId } }],
    [400, 'POST', '/api/portal/catalogue', { apis: [{ name: 'x', policy_id: open.policy }] }],
    [400, 'POST', `/api/portal/developers/${developer.Message}/keys`, { apply_policies: [open.policy] }],
    [400, 'POST', '/api/portal/requests', { by_user: open.developer, for_plan: open.policy }],
    [400, 'POST', '/api/portal/requests', { by_user: developer.Message, for_plan: open.policy }],
    [
      0,
      'PUT',
      `/api/portal/developers/${developer.Message}`,
      { email: 'd@d.test', fields: {}, keys: { [open.held_key]: [open.policy] } },
    ],
    [0, 'POST', '/api/tib/profiles', { ...profile, ProviderConfig, ID: 'pp', DefaultUserGroupID: open.group }],
    [400, 'POST', '/api/tib/profiles', { ...profile, ProviderConfig, ID: open.profile }],
    [400, 'POST', '/api/sso', { ForSection: 'dashboard', OrgID: orgId, EmailAddress: 'a@b.test' }],
    [409, 'POST', '/api/hooks', { name: 'n', method: 'POST', target_path: 'https://x.test/', id: open.hook }],
    [409, 'POST', '/api/portal/policies', { name: 'y', rate: 1, per: 1, _id: policyId }],
    [0, 'POST', '/api/labels', { name: 'L', values: [], id: open.label, org_id: orgId }],
    [0, 'POST', '/api/assets', { kind: 'oas-template', name: 'n', data: {}, _id: open.asset, org_id: orgId }],
  ]
  for (const [status, method, path, body] of calls) {
    const answer = await send(method, path, body)
    const where = `${method} ${path} ${JSON.stringify(body)} ${answer.status} ${answer.text}`
    if (status === 0) assert.ok(answer.status < 300, where)
    else assert.equal(answer.status, status, where)
    const sent = Object.values(open).reduce((text, id) => text.replaceAll(id, '<id>'), answer.text)
    assert.ok(!sent.includes(OURS), where)
    assert.equal(await world.fingerprint(), before, where)
  }
  // Objects of another organisation are answered like those that nobody has, warnings included.
  const alike = async (path: string, foreign: string, body: (id: string) => unknown) => {
    const answers: string[] = []
    for (const id of [foreign, `unknown-${'0'.repeat(foreign.length - 8)}`]) {
      const { status, text } = await send(
        'POST',
        path,
        JSON.parse(JSON.stringify(body(id)).replaceAll('same', `same-${answers.length}`)),
      )
      answers.push(`${status} ${text.replaceAll(id, '<id>').replace(/[0-9a-f]{24,}|[\w-]{43}|same-./g, '<made>')}`)
    }
    assert.equal(answers[0], answers[1], path)
  }
  const right = (id: string) => ({ access_rights: { [id]: { api_id: id, versions: ['Default'] } } })
  await alike('/api/portal/policies', open.api, (id) => ({ id: 'same', name: 'same', rate: 1, per: 1, ...right(id) }))
  await alike('/api/keys', open.api, right)
  await alike('/api/apis', open.certificate, (id) => api('same', { certificates: [id], domain: 'a.test' }))
  await alike('/api/apis', open.certificate, (id) => api('same-too', { client_certificates: [id] }))
  await alike('/api/apis', open.certificate, (id) => api('same-up', { upstream_certificates: { 'a.test': id } }))
  const rows = await store.documents.list('api', { where: { org_id: orgId }, limit: 100 })
  assert.equal(rows.total, 5)
})
