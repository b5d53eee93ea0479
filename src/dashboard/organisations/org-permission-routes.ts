import { Type } from 'typebox'
import { findOrganisation, setAdditionalPermissions } from '../../publish/organisations/organisations.ts'
import { DoneShape, PermissionsShape } from '../people/shapes.ts'
import { additionalPermissions } from '../people/view.ts'
import { bare, ok, refused } from '../routes/answer.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'

const Shape = Type.Object({ additional_permissions: PermissionsShape }, { title: 'CustomPermissions' })
const EMPTY = 'Failed to read response body, body empty'

/** Custom permissions of the organisation: `/api/org/permissions`. */
export function orgPermissionRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/org/permissions',
      access: 'admin',
      summary: 'List the custom permissions of the organisation',
      answers: { 200: Shape },
      async run(call) {
        return bare({ additional_permissions: { ...(await additionalPermissions(parts, call.actor!.orgId)) } })
      },
    },
    {
      method: 'PUT',
      path: '/api/org/permissions',
      access: 'admin',
      summary: 'Replace the custom permissions of the organisation',
      body: Shape,
      bodyIs: 'any',
      answers: { 200: DoneShape },
      async run(call) {
        if (call.bytes().length === 0) return refused(400, EMPTY)
        const { additional_permissions: names } = call.object()
        const organisation = await findOrganisation(parts, call.actor!.orgId)
        if (organisation === undefined) return refused(404, 'Could not retrieve org detail')
        await setAdditionalPermissions(parts, organisation, names, call.actor!.email)
        return ok('Additional Permissions updated in org level.')
      },
    },
  ]
}
