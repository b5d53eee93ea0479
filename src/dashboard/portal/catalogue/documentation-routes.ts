import { Type } from 'typebox'
import { fault } from '../../../errors/fault.ts'
import { isDocumentId } from '../../../model/documents/ids.ts'
import { describedMembers } from '../../../model/openapi/component-schemas.ts'
import { readDocumentation } from '../../../model/portal/catalogue/catalogue.ts'
import {
  createDocumentation,
  documentationText,
  removeDocumentation,
} from '../../../publish/portal/catalogue/documentation.ts'
import type { StoredDocument, Where } from '../../../store/ports/ports.ts'
import { checkReferences } from '../../access/references.ts'
import { visiblePolicies } from '../../policies/policy-apis.ts'
import { bare, ok } from '../../routes/answer.ts'
import type { Call } from '../../routes/call.ts'
import { CreatedEnvelope, DoneEnvelope, PageCount } from '../../routes/envelope.ts'
import { listed } from '../../routes/listed.ts'
import { pageOf } from '../../routes/page.ts'
import type { Route } from '../../routes/route.ts'
import { moment, storageId } from '../../routes/text-forms.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { withPortalAlias } from '../settings/portal-alias.ts'

const PATH = '/api/portal/documentation'
const ONE = `${PATH}/{id}`
const READ = { permission: 'portal', intent: 'read' } as const
const WRITE = { permission: 'portal', intent: 'write' } as const

const NOT_OWNER = { code: 'not_owner' } as const
const OWNED = { noun: 'documentation', by: 'id' } as const

const Head = {
  id: storageId('Id of the documentation: 24 hexadecimal digits.'),
  ...{
    org_id: Type.String({ description: 'Id of the organisation.' }),
    api_id: Type.String({ description: 'Id of the API or policy that it is about.' }),
    doc_type: Type.String({
      description:
        'Form of the text: `swagger` (an OpenAPI document), `swagger_custom_url` (its address), or another word that the portal knows.',
    }),
  },
  date_created: Type.Optional(moment('Time of creation (RFC 3339).')),
}
const Body = Type.Object(
  {},
  describedMembers('DocumentationInput', {
    api_id: Type.String({ description: 'Of an API or a policy.' }),
    doc_type: Type.String({
      description:
        'Form of the text: `swagger` (an OpenAPI document), `swagger_custom_url` (its address), or another word that the portal knows.',
    }),
    // The base64 of as many bytes as `portal.max_documentation_bytes` may be.
    documentation: Type.String({ maxLength: 22_369_624, description: 'Base64 of a text in UTF-8.' }),
  }),
)

/** Documentation of APIs, for the portal to render: `/api/portal/documentation`. */
export function documentationRoutes(parts: DashboardParts): Route[] {
  return withPortalAlias([...collectionRoutes(parts), ...oneRoutes(parts)])
}

function collectionRoutes(parts: DashboardParts): Route[] {
  const apis = parts.policyApis
  const shape = ({ id, body }: StoredDocument) => ({ id, ...body })
  return [
    {
      method: 'GET',
      path: PATH,
      access: READ,
      summary: 'List documentation, without its text',
      query: { p: Type.Integer() },
      answers: {
        200: Type.Object({
          Data: Type.Array(Type.Object(Head), { description: 'Documentations of the page, without their texts.' }),
          Pages: PageCount,
        }),
      },
      run: async (call) => {
        const visible = await visiblePolicies(apis, call.actor!.orgId, call.visibility)
        const named = [...(call.visibility.apiIds() ?? []), ...(visible ?? []), '']
        const and: Where[] = call.visibility.everything ? [] : [{ api_id: named }]
        const query = { where: call.visibility.whereOrg(), and }
        const list = { name: 'Data', pages: 'Pages', shape }
        return listed(parts.documents, 'portal_documentation', query, pageOf(call), list)
      },
    },
    {
      method: 'POST',
      path: PATH,
      access: WRITE,
      summary: 'Store documentation of an API',
      body: Body,
      answers: { 200: CreatedEnvelope },
      run: async (call) => {
        const draft = readDocumentation(call.object(), parts.config.portal.max_documentation_bytes)
        const { orgId, email: actor } = call.actor!
        await checkReferences(parts, call, 'portal_documentation', { api_id: draft.api_id }, undefined, NOT_OWNER)
        return ok(await createDocumentation(parts, { orgId, draft, actor }))
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
      owned: OWNED,
      summary: 'Read documentation, its text in base64',
      answers: {
        200: Type.Object({ ...Head, documentation: Type.String({ description: 'Base64 of a text in UTF-8.' }) }),
      },
      run: async (call) => {
        const { id, body } = await known(parts, call)
        return bare({ id, ...body, documentation: await documentationText(parts, id) })
      },
    },
    {
      method: 'DELETE',
      path: ONE,
      access: WRITE,
      owned: OWNED,
      summary: 'Delete documentation',
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        await removeDocumentation(parts, await known(parts, call), call.actor!.email)
        return ok('Data deleted')
      },
    },
  ]
}

/** @throws Fault `not_found` (404) */
async function known(parts: DashboardParts, call: Call): Promise<StoredDocument> {
  const id = call.param('id')
  const stored = isDocumentId(id) ? await parts.documents.get('portal_documentation', id) : undefined
  if (stored === undefined || !call.visibility.org(stored))
    throw fault('not_found', 'Could not retrieve portal object.')
  return stored
}
