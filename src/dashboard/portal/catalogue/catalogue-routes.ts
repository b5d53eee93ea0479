import { Type } from 'typebox'
import { fault } from '../../../errors/fault.ts'
import type { JsonObject } from '../../../model/json/json.ts'
import { describedOpenMembers } from '../../../model/openapi/component-schemas.ts'
import { entriesOf } from '../../../model/portal/catalogue/catalogue.ts'
import {
  type CatalogueChange,
  catalogueOf,
  createCatalogue,
  saveCatalogue,
  visibleEntries,
} from '../../../publish/portal/catalogue/catalogue.ts'
import { soleOwnership } from '../../access/co-owned.ts'
import { checkReferences } from '../../access/references.ts'
import { maskSecretsFor, restoreMaskedSecrets } from '../../access/secrets-view.ts'
import { bare, ok } from '../../routes/answer.ts'
import type { Call } from '../../routes/call.ts'
import { CreatedEnvelope, DoneEnvelope } from '../../routes/envelope.ts'
import type { Route } from '../../routes/route.ts'
import { storageId } from '../../routes/text-forms.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { EntryConfiguration } from '../settings/configuration-routes.ts'
import { withPortalAlias } from '../settings/portal-alias.ts'

const PATH = '/api/portal/catalogue'
const READ = { permission: 'portal', intent: 'read' } as const
const WRITE = { permission: 'portal', intent: 'write' } as const

const text = Type.String()
/** An entry of the catalogue as it is answered. */
export const CatalogueEntryShape = Type.Object(
  {
    name: Type.String({ description: 'Name that the portal shows.' }),
    short_description: Type.String({ description: 'One line for lists.' }),
    long_description: Type.String({ maxLength: 65_536, description: 'Text for the page of the entry (Markdown).' }),
    show: Type.Boolean({ description: 'True: the portal lists the entry.' }),
    api_id: Type.String({ description: 'Id of an API, for an entry of a keyless API.' }),
    policy_id: Type.String({
      description: 'Id of the policy that is offered, by either of its ids. Blank for a keyless API.',
    }),
    documentation: Type.String({ description: 'Id of a stored documentation. Blank: none.' }),
    version: Type.String({ description: '`v2`: what portals build their links from.' }),
    is_keyless: Type.Boolean({ description: 'True for an API that is open, and only shown.' }),
    config: EntryConfiguration,
    fields: Type.Record(text, text, { description: 'Free texts by name.' }),
    auth_type: Type.String({ description: 'How callers authenticate, for portals that show it.' }),
  },
  { title: 'CatalogueEntry', additionalProperties: true },
)
/** The same without members that must be there. */
export const PartialEntry = Type.Partial(CatalogueEntryShape, {
  title: 'CatalogueEntryInput',
  description: 'An entry of the catalogue.',
  additionalProperties: true,
})
const members = {
  id: storageId('Storage id of the catalogue: 24 hexadecimal digits. Blank before there is one.', { ifAny: true }),
  org_id: Type.String({ description: 'Id of the organisation.' }),
  email: Type.String({ description: 'Email address for portals that show it; nothing is sent to it.' }),
  apis: Type.Array(CatalogueEntryShape, {
    description: 'Entries of the catalogue, in the order in which the portal shows them.',
  }),
}
const Shape = Type.Object(members, { title: 'Catalogue', additionalProperties: true })
const Body = Type.Object(
  {},
  describedOpenMembers('CatalogueInput', {
    ...members,
    apis: Type.Array(PartialEntry, { description: 'Entries of the catalogue: the list is replaced.' }),
  }),
)

/** The catalogue of the portal: `/api/portal/catalogue`. Callers see and write the entries of policies and APIs that they may see. */
export function catalogueRoutes(parts: DashboardParts): Route[] {
  return withPortalAlias([
    {
      method: 'GET',
      path: PATH,
      access: READ,
      summary: 'Read the catalogue',
      query: { or_empty: Type.Boolean({ description: 'true: before it is made, an empty one instead of a 404.' }) },
      refusals: [404],
      answers: { 200: Shape },
      entityVersion: (call) => catalogueOf(parts, call.actor!.orgId),
      run: async (call) => {
        const { orgId } = call.actor!
        const stored = await catalogueOf(parts, orgId)
        if (stored === undefined && call.query('or_empty') === 'true')
          return bare({ id: '', org_id: orgId, email: '', apis: [] })
        if (stored === undefined) throw fault('not_found', 'API catalogue not found')
        const { email, apis: _apis, org_id: _org, ...rest } = stored.body
        const sole = await soleOwnership(parts, call)
        const entries = await visibleEntries(parts, orgId, entriesOf(stored.body), call.visibility)
        const apis = entries.map((entry) =>
          maskSecretsFor(
            call,
            'portal',
            entry,
            sole.document({ kind: 'catalogue', body: { org_id: orgId, apis: [entry] } }),
          ),
        )
        return bare({
          ...maskSecretsFor(call, 'portal', { id: stored.id, org_id: orgId, email: email ?? '', ...rest }),
          apis,
        })
      },
    },
    {
      method: 'POST',
      path: PATH,
      access: WRITE,
      summary: 'Create the catalogue',
      body: Body,
      answers: { 200: CreatedEnvelope },
      run: async (call) => ok(await createCatalogue(parts, changeOf(parts, call, undefined))),
    },
    {
      method: 'PUT',
      path: PATH,
      access: WRITE,
      summary: 'Replace the catalogue entries that the caller can see; others are kept in place',
      body: Body,
      answers: { 200: DoneEnvelope },
      entityVersion: (call) => catalogueOf(parts, call.actor!.orgId),
      run: async (call) => {
        await saveCatalogue(parts, changeOf(parts, call, await seenCatalogue(parts, call)))
        return ok('Data updated')
      },
    },
  ])
}

/** The visible part of the stored catalogue: the secrets of other entries are none to keep. */
async function seenCatalogue(parts: DashboardParts, { actor, visibility }: Call): Promise<JsonObject | undefined> {
  const { orgId } = actor!
  const stored = await catalogueOf(parts, orgId)
  return stored && { ...stored.body, apis: await visibleEntries(parts, orgId, entriesOf(stored.body), visibility) }
}

function changeOf(parts: DashboardParts, call: Call, before: JsonObject | undefined): CatalogueChange {
  const { orgId, email: actor } = call.actor!
  const checkNamed: CatalogueChange['checkNamed'] = (after, named) =>
    checkReferences(parts, call, 'catalogue', after, named, { code: 'not_owner' })
  return {
    orgId,
    sent: restoreMaskedSecrets(call.object(), before, 'portal_invalid'),
    visibility: call.visibility,
    checkNamed,
    actor,
  }
}
