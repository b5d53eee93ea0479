import { fault } from '../../../errors/fault.ts'
import { policyApisOf } from '../../../model/policies/policy-body.ts'
import { apisOfClient } from '../../../publish/oauth-clients/oauth-client-lists.ts'
import { findPolicy } from '../../../publish/policies/policy-ids.ts'
import { apiNamed } from '../../apis/api-document.ts'
import { type Answer, refused } from '../../routes/answer.ts'
import type { Call } from '../../routes/call.ts'
import { DoneEnvelope } from '../../routes/envelope.ts'
import type { Route } from '../../routes/route.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { removeApp } from '../developers/developer-app-routes.ts'
import {
  changePolicies,
  type DeveloperKeyContext,
  resetQuota,
  revokeDeveloperKey,
} from '../developers/developer-key-routes.ts'
import { appInPath, developerInPath, developerKeyAt } from '../developers/holding-view.ts'
import { withPortalAlias } from './portal-alias.ts'

const DEVELOPERS = '/api/portal/developers'
const KEY = `${DEVELOPERS}/key/{apiOrPolicyId}/{keyId}/{id}`
const HELD_KEY = `${DEVELOPERS}/{id}/keys/{keyId}`
const WRITE = { permission: 'portal', intent: 'write' } as const
const OWNED = { noun: 'key', by: 'keyId' } as const

/** Calls of older portals for what the calls of keys and apps do. */
export function deprecatedPortalRoutes(parts: DashboardParts): Route[] {
  return withPortalAlias([
    {
      method: 'GET',
      path: `${DEVELOPERS}/{id}/{keyId}/{policyId}`,
      once: true,
      access: WRITE,
      owned: OWNED,
      summary: 'Change the policy of a key; off unless `portal.allow_unsafe_get`',
      deprecated: `PUT ${HELD_KEY}`,
      answers: { 200: DoneEnvelope },
      run: (call) => changeByGet(parts, call),
    },
    {
      method: 'DELETE',
      path: KEY,
      access: WRITE,
      owned: OWNED,
      summary: 'Revoke a key of a developer',
      deprecated: `DELETE ${HELD_KEY}`,
      answers: { 200: DoneEnvelope },
      run: async (call) => revokeDeveloperKey(parts, call, await keyFor(parts, call)),
    },
    {
      method: 'POST',
      path: `${KEY}/reset_quota`,
      access: WRITE,
      owned: OWNED,
      summary: 'Reset the quotas of a key',
      deprecated: `POST ${HELD_KEY}/reset_quota`,
      answers: { 200: DoneEnvelope },
      run: async (call) => resetQuota(parts, await keyFor(parts, call)),
    },
    {
      method: 'DELETE',
      path: `${DEVELOPERS}/oauth/{apiId}/{appId}`,
      access: WRITE,
      owned: { noun: 'developer_app', by: 'appId' },
      summary: 'Delete an OAuth app of a developer',
      deprecated: `DELETE ${DEVELOPERS}/oauth/{appId}`,
      answers: { 200: DoneEnvelope },
      run: (call) => removeAt(parts, call),
    },
  ])
}

/** A GET that writes: any page that a signed-in browser opens could make it. */
async function changeByGet(parts: DashboardParts, call: Call): Promise<Answer> {
  const replacement = `${DEVELOPERS}/${call.param('id')}/keys/${call.param('keyId')}`
  if (!parts.config.portal.allow_unsafe_get || call.actor?.sessionId !== undefined) {
    // The path takes no method at all (RFC 9110 section 10.2.1).
    const headers = { allow: '' }
    return { ...refused(405, `GET does not change a key: use PUT ${replacement} with apply_policies`), headers }
  }
  const developer = await developerInPath(parts, call)
  const row = await developerKeyAt(parts, call, developer)
  return changePolicies(parts, call, { developer, row }, [call.param('policyId')])
}

/** The key that the path names, where it is for the API or policy that the path names. @throws Fault `not_found` (404) */
async function keyFor(parts: DashboardParts, call: Call): Promise<DeveloperKeyContext> {
  const developer = await developerInPath(parts, call)
  const row = await developerKeyAt(parts, call, developer)
  const named = await apiIdNamed(parts, call, call.param('apiOrPolicyId'))
  const names = new Set<string>([...row.policyIds, ...row.apiIds])
  for (const id of row.policyIds) {
    const policy = await findPolicy(parts, id, row.orgId)
    if (policy !== undefined) for (const other of [policy.id, ...policyApisOf(policy.body)]) names.add(other)
  }
  if (!names.has(named)) throw fault('not_found', 'Could not retrieve key detail.')
  return { developer, row }
}

async function removeAt(parts: DashboardParts, call: Call): Promise<Answer> {
  const client = await appInPath(parts, call)
  const names = [...client.policies, ...(await apisOfClient(parts, client.client_id, client.org_id))]
  if (!names.includes(await apiIdNamed(parts, call, call.param('apiId'))))
    throw fault('not_found', 'Could not retrieve app detail')
  return removeApp(parts, call, client)
}

/** The ID of an API for the storage ID in a path; anything else unchanged. */
async function apiIdNamed({ documents }: DashboardParts, { visibility }: Call, name: string): Promise<string> {
  const stored = await apiNamed(documents, visibility, name)
  return typeof stored?.body.api_id === 'string' ? stored.body.api_id : name
}
