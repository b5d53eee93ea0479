import { createPolicy, findPolicy, removePolicy, updatePolicy } from '../../publish/policies/policies.ts'
import { changed, json } from './answer.ts'
import { listDocuments } from './lists.ts'
import { type AdminParts, publishParts, waitUntilServed } from './parts.ts'
import type { AdminRequest } from './request.ts'
import type { AdminRoute } from './route.ts'

/** `/policies`: what keys may do, by name. */
export function policyRoutes(parts: AdminParts): AdminRoute[] {
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
        const { id, revision } = await createPolicy(publish, await request.ofOrganisation(), request.actor)
        await waitUntilServed(parts, revision)
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
        await waitUntilServed(parts, revision)
        return changed(id, 'modified')
      },
    },
    {
      method: 'DELETE',
      path: '/policies/{id}',
      run: async (request) => {
        const { id, revision } = await removePolicy(publish, wanted(request), request.actor)
        await waitUntilServed(parts, revision)
        return changed(id, 'deleted')
      },
    },
  ]
}
