import { Type } from 'typebox'
import { fault } from '../../../errors/fault.ts'
import { isDocumentId } from '../../../model/documents/ids.ts'
import type { Json, JsonObject } from '../../../model/json/json.ts'
import { describedOpenMembers } from '../../../model/openapi/component-schemas.ts'
import { policyApisOf } from '../../../model/policies/policy-body.ts'
import { entriesOf } from '../../../model/portal/catalogue/catalogue.ts'
import { catalogueOf, visibleEntries } from '../../../publish/portal/catalogue/catalogue.ts'
import { toRequestView } from '../../../publish/portal/key-requests/request-view.ts'
import {
  approveRequest,
  NOT_FOUND,
  type RequestCaller,
  removeRequest,
  requestIn,
  submitRequest,
  updateRequest,
} from '../../../publish/portal/key-requests/requests.ts'
import type { StoredDocument, Where } from '../../../store/ports/ports.ts'
import { checkSoleOwner, soleOwnership } from '../../access/co-owned.ts'
import { checkReferences } from '../../access/references.ts'
import { maskSecretsFor, restoreMaskedSecrets } from '../../access/secrets-view.ts'
import type { Visibility } from '../../access/visibility.ts'
import { visiblePolicies } from '../../policies/policy-apis.ts'
import { type Answer, bare, ok } from '../../routes/answer.ts'
import type { Call } from '../../routes/call.ts'
import { DoneEnvelope, OkStatus, PageCount } from '../../routes/envelope.ts'
import { listed } from '../../routes/listed.ts'
import { pageOf } from '../../routes/page.ts'
import type { Route } from '../../routes/route.ts'
import { moment, storageId } from '../../routes/text-forms.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { CatalogueEntryShape, PartialEntry } from '../catalogue/catalogue-routes.ts'
import { NewApp, NewKey } from '../developers/developer-key-routes.ts'
import { DeveloperShape } from '../developers/developer-shapes.ts'
import { toVisibleDeveloper } from '../developers/holdings.ts'
import { withPortalAlias } from '../settings/portal-alias.ts'
import { checkCollectable } from '../settings/portal-mails.ts'
import { notifyDeveloper } from './request-mails.ts'

const PATH = '/api/portal/requests'
const ONE = `${PATH}/{id}`
const READ = { permission: 'portal', intent: 'read' } as const
const WRITE = { permission: 'portal', intent: 'write' } as const
const OWNED = { noun: 'key_request', by: 'id' } as const

const text = Type.String()
const members = {
  id: storageId('Id of the key request: 24 hexadecimal digits.'),
  org_id: Type.String({ description: 'Id of the organisation.' }),
  for_api: Type.String({ description: 'Kept for clients of the incumbent; nothing reads it.' }),
  for_plan: Type.String({ description: 'Id of the first policy: older form of `apply_policies`.' }),
  apply_policies: Type.Array(text, { description: 'Ids of the requested policies, by either of their ids.' }),
  by_user: Type.String({ description: 'Id of the developer.' }),
  fields: Type.Record(text, text, {
    description: 'Values of the fields that the portal asks for (`key_request_fields`).',
  }),
  approved: Type.Boolean({ description: 'True once the request is approved. It is not set by a body.' }),
  date_created: moment('Time of the request (RFC 3339).'),
  version: Type.String({ description: '`v2`: version of the form.' }),
  jwt_secret: Type.String({ description: 'Always blank: keys of this kind are refused.' }),
  certificate: Type.String({ description: 'Always blank: keys of this kind are refused.' }),
  oauth_info: Type.Object(
    { redirect_uri: Type.String({ description: 'Redirect URI of the app.' }) },
    { description: 'What an OAuth app needs, where the policies are for OAuth.', additionalProperties: true },
  ),
  portal_developer: Type.Partial(DeveloperShape, {
    title: 'RequestingDeveloper',
    additionalProperties: true,
    description: 'Without members where the developer is not there any more.',
  }),
  catalogue_entry: PartialEntry,
  catalogues: Type.Array(CatalogueEntryShape, {
    description: 'Entries of the catalogue that offer the requested policies.',
  }),
}
const RequestShape = Type.Object(members, { title: 'KeyRequest', additionalProperties: true })
const List = Type.Object(
  { Data: Type.Array(RequestShape, { description: 'Key requests of the page, newest first.' }), Pages: PageCount },
  { title: 'KeyRequestPage' },
)
const Created = Type.Object(
  {
    Status: OkStatus,
    Message: storageId('Id of the key request: 24 hexadecimal digits.'),
    Meta: Type.Union(
      [
        Type.Null(),
        NewKey,
        NewApp,
        Type.Object(
          { redirect_to: Type.String({ description: 'Address to which the portal sends the developer.' }) },
          { title: 'PortalRedirect', description: 'Where the portal sends the developer.' },
        ),
      ],
      { description: 'The key or OAuth client of a request that was approved at once; null for one that waits.' },
    ),
  },
  { title: 'KeyRequestCreated' },
)
const Approved = Type.Union([NewKey, NewApp, DoneEnvelope], {
  description: 'The key or OAuth client; the envelope when the developer collects it by the link of a mail.',
})
const Body = Type.Object({}, describedOpenMembers('KeyRequestInput', members))

/** Key requests of developers: `/api/portal/requests`. */
export function keyRequestRoutes(parts: DashboardParts): Route[] {
  return withPortalAlias([...listRoutes(parts), ...oneRoutes(parts)])
}

function listRoutes(parts: DashboardParts): Route[] {
  const apis = parts.policyApis
  return [
    {
      method: 'GET',
      path: PATH,
      access: READ,
      summary: 'List key requests, newest first',
      query: { p: Type.Integer(), approved: Type.Boolean(), by_user: Type.String({ maxLength: 256 }) },
      answers: { 200: List },
      run: async (call) => {
        const and: Where[] = []
        const visible = await visiblePolicies(apis, call.actor!.orgId, call.visibility)
        if (visible !== undefined) and.push({ policy: visible })
        if (call.query('by_user') !== '') and.push({ by_user: call.query('by_user') })
        const query = { where: whereState(call), and, order: 'date_created', descending: true }
        const view = requestViews(parts, call.visibility)
        const sole = await soleOwnership(parts, call)
        const shape = async (request: StoredDocument) =>
          maskSecretsFor(call, 'portal', await view(request), sole.document(request))
        return listed(parts.documents, 'key_request', query, pageOf(call), { name: 'Data', pages: 'Pages', shape })
      },
    },
    {
      method: 'POST',
      path: PATH,
      access: WRITE,
      summary: 'Request a key for a developer; it is approved at once unless the portal is configured otherwise',
      body: Body,
      answers: { 200: Created },
      run: async (call) => {
        await checkSubject(parts, call, call.object())
        const outcome = await submitRequest(parts, askingOf(parts, call), call.object())
        await notifyDeveloper(parts, outcome)
        return ok(outcome.id, outcome.access ?? goTo(outcome.redirectTo))
      },
    },
  ]
}

/** Organisation and state, by one index where both are asked for. */
function whereState(call: Call): Where {
  const where = call.visibility.whereOrg()
  const approved = call.query('approved')
  if (approved === '') return where
  return typeof where.org_id === 'string' ? { org_approved: `${where.org_id}/${approved}` } : { ...where, approved }
}

function oneRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: ONE,
      access: READ,
      owned: OWNED,
      summary: 'Read a key request',
      answers: { 200: RequestShape },
      run: async (call) => {
        const request = await known(parts, call)
        const view = await requestViews(parts, call.visibility)(request)
        return bare(maskSecretsFor(call, 'portal', view, (await soleOwnership(parts, call)).document(request)))
      },
    },
    {
      method: 'PUT',
      path: ONE,
      access: WRITE,
      owned: OWNED,
      summary: 'Update a key request; omitted fields are kept',
      body: Body,
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        const { id, body } = await known(parts, call)
        // Shown beside the request, and no part of it.
        const { portal_developer: _by, catalogue_entry: _for, catalogues: _offers, ...own } = call.object()
        const sent = restoreMaskedSecrets(own, body, 'request_refused')
        await checkSubject(parts, call, sent, body)
        await updateRequest(parts, askingOf(parts, call), id, sent)
        return ok('Data updated')
      },
    },
    {
      method: 'DELETE',
      path: ONE,
      access: WRITE,
      owned: OWNED,
      summary: 'Decline a pending key request, or delete an approved one; its key is kept',
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        const { id } = await known(parts, call, 'Could not retrieve object for deletion')
        await removeRequest(parts, askingOf(parts, call), id)
        return ok('Data deleted')
      },
    },
    {
      method: 'PUT',
      path: `${PATH}/approve/{id}`,
      access: WRITE,
      owned: OWNED,
      summary: 'Approve a key request',
      answers: { 200: Approved },
      run: (call) => approve(parts, call),
    },
  ]
}

async function approve(parts: DashboardParts, call: Call): Promise<Answer> {
  const { id } = await known(parts, call)
  const outcome = await approveRequest(parts, askingOf(parts, call), id)
  await notifyDeveloper(parts, outcome)
  return outcome.access === undefined
    ? ok('The developer gets a link by mail to collect the key')
    : bare(outcome.access)
}

/** The API of older requests; `askingOf` judges the policies. @throws Fault `reference_unknown` (400) */
function checkSubject(parts: DashboardParts, call: Call, { for_api: api }: JsonObject, before: JsonObject = {}) {
  const subject = (value: Json | undefined) => (value === undefined ? {} : { for_api: value })
  return checkReferences(parts, call, 'key_request', subject(api), subject(before.for_api))
}

/** Policies that others own cannot be asked for, and look like those that are not there. */
function askingOf(parts: DashboardParts, { actor, visibility }: Call): RequestCaller {
  return {
    orgId: actor!.orgId,
    actor: actor!.email,
    checkPolicy: (policy) => {
      if (policy === undefined && visibility.everything) return
      if (policy === undefined || !visibility.policy(policy)) throw fault('not_owner')
      checkSoleOwner(visibility, 'The policy', policyApisOf(policy.body))
    },
    checkLink: () => checkCollectable(parts, actor!.orgId),
  }
}

function goTo(address: string | undefined): JsonObject | null {
  return address === undefined ? null : { redirect_to: address }
}

/** @throws Fault `not_found` (404) */
async function known(parts: DashboardParts, call: Call, missing = NOT_FOUND): Promise<StoredDocument> {
  const id = call.param('id')
  const stored = isDocumentId(id) ? await requestIn(parts, call.actor!.orgId, id) : undefined
  if (stored === undefined) throw fault('not_found', missing)
  return stored
}

/**
 * How requests are shown to a caller: with the developer, and with what of the catalogue the caller may see. The catalogue is read once
 * for all requests of one answer.
 */
function requestViews(parts: DashboardParts, visibility: Visibility): (request: StoredDocument) => Promise<JsonObject> {
  const catalogues = new Map<string, Promise<JsonObject[]>>()
  const entriesIn = (orgId: string) => {
    const known = catalogues.get(orgId) ?? readEntries(parts, visibility, orgId)
    catalogues.set(orgId, known)
    return known
  }
  const show = (developer: StoredDocument) =>
    toVisibleDeveloper(parts, { visibility }, developer, { withSecrets: false })
  return async (request) => toRequestView(parts, request, await entriesIn(String(request.body.org_id)), show)
}

async function readEntries(parts: DashboardParts, visibility: Visibility, orgId: string): Promise<JsonObject[]> {
  return visibleEntries(parts, orgId, entriesOf((await catalogueOf(parts, orgId))?.body), visibility)
}
