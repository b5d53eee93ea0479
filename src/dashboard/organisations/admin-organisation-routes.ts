import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { describedMembers, describedOpenMembers } from '../../model/openapi/component-schemas.ts'
import { organisationShape } from '../../model/organisations/organisation.ts'
import {
  deleteOrganisation,
  findOrganisation,
  newOrganisation,
  updateOrganisation,
} from '../../publish/organisations/organisations.ts'
import { INSTALLATION } from '../access/actor.ts'
import { CreatedShape, DoneShape, OrganisationShape, pageShape } from '../people/shapes.ts'
import { bare, ok, refused } from '../routes/answer.ts'
import { listed } from '../routes/listed.ts'
import { pageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'

const UNKNOWN = 'Could not retrieve org detail'
/** Known members are checked one by one: clients send null for what they have not got. */
const Body = Type.Object({}, describedOpenMembers('OrganisationInput', OrganisationShape.properties))

/** Organisations, for operators: `/admin/organisations`. */
export function adminOrganisationRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/admin/organisations',
      access: 'installation',
      summary: 'List all organisations',
      query: { p: Type.Integer() },
      answers: { 200: pageShape('organisations', OrganisationShape, 'OrganisationPage') },
      run: (call) =>
        listed(parts.documents, 'organisation', {}, pageOf(call), { name: 'organisations', shape: organisationShape }),
    },
    {
      method: 'POST',
      path: '/admin/organisations',
      access: 'installation',
      summary: 'Create an organisation; the first one becomes the default organisation',
      body: Body,
      answers: { 200: CreatedShape },
      async run(call) {
        const { organisation } = await newOrganisation(parts, call.object(), { actor: INSTALLATION })
        return ok('Org created', organisation.id)
      },
    },
    {
      method: 'POST',
      path: '/admin/organisations/import',
      access: 'installation',
      summary: 'Import an organisation with its id',
      query: {
        reuse_deleted_id: Type.Boolean({
          description:
            'True: the id may be that of a deleted organisation, whose request records, counts and audit log the new one then reads.',
        }),
      },
      body: Body,
      answers: { 200: CreatedShape },
      async run(call) {
        const sent = call.object()
        if (!isDocumentId(sent.id)) throw fault('organisation_invalid', 'id: must be 24 lower-case hex digits')
        const { organisation } = await newOrganisation(parts, sent, {
          ...{ id: sent.id, actor: INSTALLATION },
          reusesDeleted: call.query('reuse_deleted_id') === 'true',
        })
        return ok('Org imported', organisation.id)
      },
    },
    {
      method: 'POST',
      path: '/admin/organisations/{id}/generate-portals',
      access: 'installation',
      summary: 'Set the host of the portal of an organisation: `domain` of a form',
      body: Type.Object(
        {},
        describedMembers('PortalHost', { domain: Type.String({ description: 'Host of the portal. Blank: none.' }) }),
      ),
      bodyIs: 'form',
      answers: { 200: DoneShape },
      async run(call) {
        const found = await findOrganisation(parts, call.param('id'))
        if (found === undefined) return refused(404, 'Could not generate APIs')
        const form = call.form()
        const cname = form.get('domain') ?? form.get('cname') ?? ''
        await updateOrganisation(parts, found, { ...found.body, cname, cname_enabled: cname !== '' }, INSTALLATION)
        return ok('Org updated')
      },
    },
    {
      method: 'GET',
      path: '/admin/organisations/{id}',
      access: 'installation',
      summary: 'Read an organisation',
      answers: { 200: OrganisationShape },
      async run(call) {
        const found = await findOrganisation(parts, call.param('id'))
        return found === undefined ? refused(404, UNKNOWN) : bare(organisationShape(found))
      },
    },
    {
      method: 'PUT',
      path: '/admin/organisations/{id}',
      access: 'installation',
      summary: 'Replace an organisation as a whole',
      body: Body,
      answers: { 200: DoneShape },
      async run(call) {
        const found = await findOrganisation(parts, call.param('id'))
        if (found === undefined) return refused(404, UNKNOWN)
        await updateOrganisation(parts, found, call.object(), INSTALLATION)
        return ok('Org updated')
      },
    },
    {
      method: 'DELETE',
      path: '/admin/organisations/{id}',
      access: 'installation',
      summary: 'Delete an organisation and everything in it',
      answers: { 200: DoneShape },
      async run(call) {
        const found = await findOrganisation(parts, call.param('id'))
        if (found === undefined) return refused(404, UNKNOWN)
        await deleteOrganisation(parts, found, INSTALLATION)
        return ok('Org deleted')
      },
    },
  ]
}
