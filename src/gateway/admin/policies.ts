import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json.ts'
import { createPolicy, findPolicy, removePolicy, updatePolicy } from '../../publish/policies.ts'
import { changed, json } from './answer.ts'
import { listDocuments } from './lists.ts'
import { type AdminParts, publishParts, settle } from './parts.ts'
import type { AdminRequest } from './request.ts'
import type { Route } from './route.ts'

/** `/policies`: what keys may do, by name. */
export function policyRoutes(parts: AdminParts): Route[] {
  const publish = publishParts(parts)
  const wanted = (request: AdminRequest) => {
    const orgId = request.text('org_id')
    return { id: request.param('id'), ...(orgId !== '' && { orgId }) }
  }
  return [
    { method: 'GET', path: '/policies', run: (request) => listDocuments(parts, request, 'policy', (body) => body) },
    {
      method: 'POST',
      path: '/policies',
      run: async (request) => {
        const { id, revision } = await createPolicy(publish, await bodyOf(request), request.actor)
        await settle(parts, revision)
        return changed(id, 'added')
      },
    },
    {
      method: 'GET',
      path: '/policies/{id}',
      run: async (request) => {
        const { id, orgId } = wanted(request)
        return json((await findPolicy(publish, id, orgId)).body)
      },
    },
    {
      method: 'PUT',
      path: '/policies/{id}',
      run: async (request) => {
        const { id, revision } = await updatePolicy(publish, wanted(request), await request.object(), request.actor)
        await settle(parts, revision)
        return changed(id, 'modified')
      },
    },
    {
      method: 'DELETE',
      path: '/policies/{id}',
      run: async (request) => {
        const { id, revision } = await removePolicy(publish, wanted(request), request.actor)
        await settle(parts, revision)
        return changed(id, 'deleted')
      },
    },
  ]
}

/** The policy in the body; `org_id` of the query counts where it names no organisation. @throws Fault `query_invalid` (400) */
async function bodyOf(request: AdminRequest): Promise<JsonObject> {
  const body = await request.object()
  const orgId = request.text('org_id')
  if (orgId === '' || body.org_id === orgId) return body
  if (body.org_id === undefined || body.org_id === '') return { ...body, org_id: orgId }
  throw fault('query_invalid', 'org_id: the query and the policy name different organisations')
}
