import { Type } from 'typebox'
import { describedOpenMembers } from '../../../model/openapi/component-schemas.ts'
import { NO_MENUS } from '../../../model/portal/settings/portal-look.ts'
import { saveMenus } from '../../../publish/portal/settings/look.ts'
import { findSingleton } from '../../../publish/portal/settings/single-document.ts'
import { bare, ok } from '../../routes/answer.ts'
import type { Call } from '../../routes/call.ts'
import { CreatedEnvelope, DoneEnvelope } from '../../routes/envelope.ts'
import type { Route } from '../../routes/route.ts'
import { storageId } from '../../routes/text-forms.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { withPortalAlias } from './portal-alias.ts'

const PATH = '/api/portal/menus'
const READ = { permission: 'portal', intent: 'read' } as const
const WRITE = { permission: 'portal', intent: 'write' } as const

const text = Type.String()
const Entry = Type.Object(
  {
    title: Type.String({ description: 'Text of the entry.' }),
    url: Type.String({ description: 'Path in the portal, or an address of http, https or mailto.' }),
  },
  { title: 'MenuEntry', additionalProperties: true },
)
const members = {
  id: storageId('Storage id: 24 hexadecimal digits. Blank before the first change.', { ifAny: true }),
  org_id: Type.String({ description: 'Id of the organisation.' }),
  is_active: Type.Boolean({ description: 'True: the portal shows the menus.' }),
  menus: Type.Record(text, Type.Array(Entry), { description: 'Entries by the name of the menu.' }),
}
const Shape = Type.Object(members, { title: 'Menus', additionalProperties: true })
const Body = Type.Object({}, describedOpenMembers('MenusInput', members))

/** Menus of the portal: `/api/portal/menus`. */
export function portalMenuRoutes(parts: DashboardParts): Route[] {
  const save = (call: Call) =>
    saveMenus(parts, { orgId: call.actor!.orgId, sent: call.object(), actor: call.actor!.email })
  return withPortalAlias([
    {
      method: 'GET',
      path: PATH,
      access: READ,
      summary: 'Read the menus of the portal',
      answers: { 200: Shape },
      run: async (call) => {
        const { orgId } = call.actor!
        const stored = await findSingleton(parts, 'portal_menu', orgId)
        return bare({ id: stored?.id ?? '', org_id: orgId, ...NO_MENUS, ...stored?.body })
      },
    },
    {
      method: 'POST',
      path: PATH,
      access: WRITE,
      summary: 'Create or replace the menus of the portal',
      body: Body,
      answers: { 200: CreatedEnvelope },
      run: async (call) => ok(await save(call)),
    },
    {
      method: 'PUT',
      path: PATH,
      access: WRITE,
      summary: 'Replace the menus of the portal',
      body: Body,
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        await save(call)
        return ok('Data updated')
      },
    },
  ])
}
