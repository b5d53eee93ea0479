import { Type } from 'typebox'
import { fault } from '../../../errors/fault.ts'
import { isDocumentId } from '../../../model/documents/ids.ts'
import { describedOpenMembers } from '../../../model/openapi/component-schemas.ts'
import { portalPageShape } from '../../../model/portal/settings/portal-page.ts'
import { createPage, removePage, updatePage } from '../../../publish/portal/settings/pages.ts'
import type { StoredDocument } from '../../../store/ports/ports.ts'
import { bare, ok } from '../../routes/answer.ts'
import type { Call } from '../../routes/call.ts'
import { CreatedEnvelope, DoneEnvelope, PageCount } from '../../routes/envelope.ts'
import { listed } from '../../routes/listed.ts'
import { pageOf } from '../../routes/page.ts'
import type { Route } from '../../routes/route.ts'
import { storageId } from '../../routes/text-forms.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { withPortalAlias } from './portal-alias.ts'

const PATH = '/api/portal/pages'
const ONE = `${PATH}/{id}`
const READ = { permission: 'portal', intent: 'read' } as const
const WRITE = { permission: 'portal', intent: 'write' } as const

const members = {
  id: storageId('Id of the page: 24 hexadecimal digits.'),
  org_id: Type.String({ description: 'Id of the organisation.' }),
  is_homepage: Type.Boolean({ description: 'True for the first page of the portal.' }),
  slug: Type.String({ description: 'Path of the page below the portal: `/`, or words separated by slashes.' }),
  title: Type.String({ description: 'Title of the page.' }),
  template_name: Type.String({ description: 'Name of the template that the portal shows the page by.' }),
  fields: Type.Object(
    {},
    { additionalProperties: true, description: 'Contents of the page, as the template names them.' },
  ),
}
const PageShape = Type.Object(members, { title: 'PortalPage', additionalProperties: true })
const Body = Type.Object(
  {},
  describedOpenMembers('PortalPageInput', {
    ...members,
    id: Type.String({ description: 'Passed over: the id is in the path.' }),
  }),
)

/** Pages of the portal: `/api/portal/pages`. */
export function portalPageRoutes(parts: DashboardParts): Route[] {
  return withPortalAlias([...collectionRoutes(parts), ...oneRoutes(parts)])
}

function collectionRoutes(parts: DashboardParts): Route[] {
  const shape = ({ id, body }: StoredDocument) => portalPageShape(id, body)
  return [
    {
      method: 'GET',
      path: PATH,
      access: READ,
      summary: 'List pages of the portal',
      query: { p: Type.Integer() },
      answers: {
        200: Type.Object({
          Data: Type.Array(PageShape, { description: 'Pages of the portal.' }),
          Pages: PageCount,
        }),
      },
      run: (call) => {
        const query = { where: call.visibility.whereOrg(), order: 'title_folded' }
        return listed(parts.documents, 'portal_page', query, pageOf(call), { name: 'Data', pages: 'Pages', shape })
      },
    },
    {
      method: 'POST',
      path: PATH,
      access: WRITE,
      summary: 'Create a page of the portal',
      body: Body,
      answers: { 200: CreatedEnvelope },
      run: async (call) => {
        const { orgId, email: actor } = call.actor!
        return ok(await createPage(parts, { orgId, sent: call.object(), actor }))
      },
    },
  ]
}

function oneRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: ONE,
      access: READ,
      summary: 'Read a page of the portal',
      answers: { 200: PageShape },
      run: async (call) => {
        const { id, body } = await known(parts, call)
        return bare(portalPageShape(id, body))
      },
    },
    {
      method: 'PUT',
      path: ONE,
      access: WRITE,
      summary: 'Replace a page of the portal',
      body: Body,
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        await updatePage(parts, await known(parts, call), call.object(), call.actor!.email)
        return ok('Data updated')
      },
    },
    {
      method: 'DELETE',
      path: ONE,
      access: WRITE,
      summary: 'Delete a page of the portal',
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        await removePage(parts, await known(parts, call), call.actor!.email)
        return ok('Data deleted')
      },
    },
  ]
}

/** @throws Fault `not_found` (404) */
async function known({ documents }: DashboardParts, call: Call): Promise<StoredDocument> {
  const id = call.param('id')
  const stored = isDocumentId(id) ? await documents.get('portal_page', id) : undefined
  if (stored === undefined || !call.visibility.org(stored))
    throw fault('not_found', 'Could not retrieve portal object.')
  return stored
}
