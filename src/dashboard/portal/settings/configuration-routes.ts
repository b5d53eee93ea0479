import { Type } from 'typebox'
import type { JsonObject } from '../../../model/json/json.ts'
import { describedAs, describedAsAnyOf, describedMembers } from '../../../model/openapi/component-schemas.ts'
import { readConfiguration } from '../../../model/portal/settings/portal-configuration.ts'
import { createConfiguration, saveConfiguration } from '../../../publish/portal/settings/configuration.ts'
import { findSingleton } from '../../../publish/portal/settings/single-document.ts'
import { maskSecretsFor, restoreMaskedSecrets } from '../../access/secrets-view.ts'
import { bare, ok } from '../../routes/answer.ts'
import type { Call } from '../../routes/call.ts'
import { DoneEnvelope } from '../../routes/envelope.ts'
import type { Route } from '../../routes/route.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { withPortalAlias } from './portal-alias.ts'

const PATH = '/api/portal/configuration'
const READ = { permission: 'portal', intent: 'read' } as const
const WRITE = { permission: 'portal', intent: 'write' } as const

const text = Type.String()
const flag = Type.Boolean()
const OPEN = { additionalProperties: true }
const Copy = Type.Object(
  { enabled: flag, subject: text, body: text, sign_off: text, hide_token_data: flag },
  { title: 'PortalMail', ...OPEN },
)
/** Names, or objects that have one. */
const Names = Type.Array(
  Type.Unknown(
    describedAsAnyOf(text, Type.Object({ name: text }, { title: 'NamedField', additionalProperties: true })),
  ),
)
const members = {
  id: text,
  org_id: text,
  signup_fields: Names,
  key_request_fields: Names,
  require_key_approval: flag,
  secure_key_approval: flag,
  redirect_on_key_request: flag,
  redirect_to: text,
  enable_multi_selection: flag,
  disable_login: flag,
  disable_signup: flag,
  disable_auto_login: flag,
  catalogue_login_only: flag,
  oauth_usage_limit: Type.Integer(),
  email: text,
  portal_url: text,
  mail_options: Type.Object(
    {
      mail_from_name: text,
      mail_from_email: text,
      email_copy: Type.Object({ welcome_email: Copy, key_email: Copy, reset_password_email: Copy }, OPEN),
    },
    OPEN,
  ),
  enable_dcr: flag,
  dcr_options: Type.Object(
    {
      idp_host: text,
      registration_endpoint: text,
      access_token: text,
      provider: text,
      grant_types: Names,
      response_types: Names,
      token_endpoint_auth_method: text,
    },
    { title: 'DcrOptions', ...OPEN },
  ),
  override: flag,
  HashKeys: flag,
}
const Shape = Type.Object(members, { title: 'PortalConfiguration', additionalProperties: true })
const Mail = Type.Partial(Copy, { title: 'PortalMailInput', ...OPEN })
const MAILS = { welcome_email: Mail, key_email: Mail, reset_password_email: Mail }
const Body = Type.Object(
  {},
  describedMembers('PortalConfigurationInput', {
    ...members,
    mail_options: Type.Object(
      {
        ...{ mail_from_name: Type.Optional(text), mail_from_email: Type.Optional(text) },
        email_copy: Type.Optional(Type.Partial(Type.Object(MAILS), { title: 'PortalMailsInput', ...OPEN })),
      },
      { title: 'PortalMailOptionsInput', ...OPEN },
    ),
    dcr_options: Type.Partial(members.dcr_options, { title: 'DcrOptionsInput', ...OPEN }),
  }),
)
/** Those of its members that an entry of the catalogue has for itself. */
export const EntryConfiguration = Type.Object(
  {},
  describedAs({ ...{ title: 'EntryConfiguration', type: 'object' }, properties: members, ...OPEN }),
)
const Created = Type.Object(
  {
    Status: Type.Literal('OK'),
    Message: Type.String({ pattern: '^[0-9a-f]{24}$' }),
    Meta: Type.Null(),
  },
  { title: 'Created' },
)

/** How the portal behaves: `/api/portal/configuration`. */
export function portalConfigurationRoutes(parts: DashboardParts): Route[] {
  return withPortalAlias([
    {
      method: 'GET',
      path: PATH,
      access: READ,
      summary: 'Read the portal configuration, or its defaults',
      answers: { 200: Shape },
      entityVersion: (call) => findSingleton(parts, 'portal_configuration', call.actor!.orgId),
      run: async (call) => {
        const { orgId } = call.actor!
        const stored = await findSingleton(parts, 'portal_configuration', orgId)
        const HashKeys = parts.config.gateway.hash_keys
        const said = maskSecretsFor(call, 'portal', readConfiguration(stored?.body ?? {}))
        return bare({ id: stored?.id ?? '', org_id: orgId, ...said, HashKeys })
      },
    },
    {
      method: 'PUT',
      path: PATH,
      access: WRITE,
      summary: 'Update the portal configuration; omitted fields are kept. The body may be empty',
      body: Body,
      bodyIs: 'any',
      bodyOptional: true,
      answers: { 200: DoneEnvelope },
      entityVersion: (call) => findSingleton(parts, 'portal_configuration', call.actor!.orgId),
      run: async (call) => {
        const { orgId, email: actor } = call.actor!
        const stored = await findSingleton(parts, 'portal_configuration', orgId)
        const sent = restoreMaskedSecrets(sentOf(call), stored?.body, 'portal_invalid')
        await saveConfiguration(parts, { orgId, sent, actor })
        return ok('Data updated')
      },
    },
    {
      method: 'POST',
      path: PATH,
      access: WRITE,
      summary: 'Create the portal configuration',
      body: Body,
      bodyIs: 'any',
      bodyOptional: true,
      answers: { 200: Created },
      run: async (call) => {
        const { orgId, email: actor } = call.actor!
        const sent = restoreMaskedSecrets(sentOf(call), undefined, 'portal_invalid')
        return ok(await createConfiguration(parts, { orgId, sent, actor }))
      },
    },
  ])
}

/** Set-up scripts send nothing. */
function sentOf(call: Call): JsonObject {
  return call.bytes().length === 0 ? {} : call.object()
}
