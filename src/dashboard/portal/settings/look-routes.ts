import { type TString, Type } from 'typebox'
import { describedMembers } from '../../../model/openapi/component-schemas.ts'
import { refuseMember } from '../../../model/portal/settings/portal-fields.ts'
import { saveCname, saveCss, saveJs } from '../../../publish/portal/settings/look.ts'
import { findSingleton } from '../../../publish/portal/settings/single-document.ts'
import { bare, ok } from '../../routes/answer.ts'
import type { Call } from '../../routes/call.ts'
import { CreatedEnvelope, DoneEnvelope } from '../../routes/envelope.ts'
import type { Route } from '../../routes/route.ts'
import { storageId } from '../../routes/text-forms.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { withPortalAlias } from './portal-alias.ts'

const READ = { permission: 'portal', intent: 'read' } as const
const WRITE = { permission: 'portal', intent: 'write' } as const

/** How the portal looks, and where it is reached: `/api/portal/css`, `/api/portal/js`, `/api/portal/cname`. */
export function portalLookRoutes(parts: DashboardParts): Route[] {
  return withPortalAlias([
    ...textRoutes(parts, {
      path: '/api/portal/css',
      texts: {
        page_css: Type.String({ maxLength: 524_288, description: 'Style sheet of the portal (CSS).' }),
        email_css: Type.String({
          maxLength: 524_288,
          description: 'Style sheet for mails (CSS), for portals that send some.',
        }),
      },
      save: saveCss,
      what: 'style sheets',
      title: 'PortalStyleSheets',
    }),
    ...textRoutes(parts, {
      path: '/api/portal/js',
      texts: { page_js: Type.String({ maxLength: 524_288, description: 'Script of the portal (JavaScript).' }) },
      save: saveJs,
      what: 'script',
      title: 'PortalScript',
    }),
    cnameRoute(parts),
  ])
}

interface TextRoutes {
  readonly path: string
  readonly texts: Readonly<Record<string, TString>>
  readonly save: typeof saveCss
  readonly what: string
  readonly title: string
}

function textRoutes(parts: DashboardParts, { path, texts, save, what, title }: TextRoutes): Route[] {
  const shape = Type.Object(
    {
      id: storageId('Storage id: 24 hexadecimal digits. Blank before the first change.', { ifAny: true }),
      org_id: Type.String({ description: 'Id of the organisation.' }),
      ...texts,
    },
    { title },
  )
  const body = Type.Object({}, describedMembers(`${title}Input`, texts))
  const saved = (call: Call) => save(parts, { orgId: call.actor!.orgId, sent: call.object(), actor: call.actor!.email })
  return [
    {
      method: 'GET',
      path,
      access: READ,
      summary: `Read the ${what} of the portal`,
      answers: { 200: shape },
      run: async (call) => {
        const { orgId } = call.actor!
        const stored = await findSingleton(parts, 'portal_look', orgId)
        const own = Object.keys(texts).map((name) => [name, stored?.body[name] ?? ''] as const)
        return bare({ id: stored?.id ?? '', org_id: orgId, ...Object.fromEntries(own) })
      },
    },
    {
      method: 'POST',
      path,
      access: WRITE,
      summary: `Write the ${what} of the portal`,
      body,
      answers: { 200: CreatedEnvelope },
      run: async (call) => ok(await saved(call)),
    },
    {
      method: 'PUT',
      path,
      access: WRITE,
      summary: `Write the ${what} of the portal; omitted fields are kept`,
      body,
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        await saved(call)
        return ok('Data updated')
      },
    },
  ]
}

function cnameRoute(parts: DashboardParts): Route {
  return {
    method: 'PUT',
    path: '/api/portal/cname',
    access: WRITE,
    summary: 'Set the host (and port) of the portal; takes effect at once',
    body: Type.Object(
      {},
      describedMembers('PortalHostInput', { cname: Type.String({ description: 'Also spelled `CNAME`.' }) }),
    ),
    answers: { 200: DoneEnvelope },
    run: async (call) => {
      const { cname, CNAME } = call.object()
      const host = cname ?? CNAME
      if (typeof host !== 'string') return refuseMember('cname', 'must be a text')
      await saveCname(parts, { orgId: call.actor!.orgId, cname: host, actor: call.actor!.email })
      return ok('CNAME updated')
    },
  }
}
