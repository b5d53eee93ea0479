import { Type } from 'typebox'
import type { JsonObject } from '../../../model/json/json.ts'
import { describedAs, describedAsAnyOf, describedOpenMembers } from '../../../model/openapi/component-schemas.ts'
import { readConfiguration } from '../../../model/portal/settings/portal-configuration.ts'
import { createConfiguration, saveConfiguration } from '../../../publish/portal/settings/configuration.ts'
import { findSingleton } from '../../../publish/portal/settings/single-document.ts'
import { maskSecretsFor, restoreMaskedSecrets } from '../../access/secrets-view.ts'
import { bare, ok } from '../../routes/answer.ts'
import type { Call } from '../../routes/call.ts'
import { described } from '../../routes/described.ts'
import { CreatedEnvelope, DoneEnvelope } from '../../routes/envelope.ts'
import type { Route } from '../../routes/route.ts'
import { storageId } from '../../routes/text-forms.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { withPortalAlias } from './portal-alias.ts'

const PATH = '/api/portal/configuration'
const READ = { permission: 'portal', intent: 'read' } as const
const WRITE = { permission: 'portal', intent: 'write' } as const

const text = Type.String()
const OPEN = { additionalProperties: true }
const Copy = Type.Object(
  {
    enabled: Type.Boolean({ description: 'False: this mail is not sent.' }),
    subject: Type.String({ description: 'Subject. Blank: the built-in one.' }),
    body: Type.String({
      maxLength: 20_000,
      description: 'Text with placeholders such as `{{name}}`. Blank: the built-in one.',
    }),
    sign_off: Type.String({ maxLength: 20_000, description: 'Text below, with placeholders. Blank: none.' }),
    hide_token_data: Type.Boolean({ description: 'true: keys, client ids and secrets are left out of the mail.' }),
  },
  { title: 'PortalMail', description: 'One mail to developers.', ...OPEN },
)
/** Names, or objects that have one. */
const Names = Type.Array(
  Type.Unknown(
    describedAsAnyOf(
      text,
      Type.Object(
        { name: Type.String({ description: 'Name of the field.' }) },
        { title: 'NamedField', additionalProperties: true },
      ),
    ),
  ),
)
const members = {
  id: storageId('Storage id of the configuration: 24 hexadecimal digits. Blank before the first change.', {
    ifAny: true,
  }),
  org_id: Type.String({ description: 'Id of the organisation.' }),
  signup_fields: described(
    Names,
    'Fields that developers fill in when they register: names, or objects with a `name`.',
  ),
  key_request_fields: described(
    Names,
    'Fields that developers fill in when they request a key: names, or objects with a `name`.',
  ),
  require_key_approval: Type.Boolean({ description: 'true: a key request waits until it is approved.' }),
  secure_key_approval: Type.Boolean({
    description: 'true: the developer collects the key by a link in a mail, while signed in.',
  }),
  redirect_on_key_request: Type.Boolean({
    description: 'true: a key request is answered with `redirect_to` in place of a key.',
  }),
  redirect_to: Type.String({ description: 'Address to which developers are sent who request a key.' }),
  enable_multi_selection: Type.Boolean({ description: 'true: one key request may name several policies.' }),
  disable_login: Type.Boolean({ description: 'true: developers cannot sign in at the portal.' }),
  disable_signup: Type.Boolean({ description: 'true: developers cannot register at the portal.' }),
  disable_auto_login: Type.Boolean({ description: 'true: developers who have registered must sign in.' }),
  catalogue_login_only: Type.Boolean({
    description: 'true: portals show the catalogue to developers who are signed in, and to nobody else.',
  }),
  oauth_usage_limit: Type.Integer({ description: 'Most OAuth apps of a developer. -1: any number. 0: none.' }),
  email: Type.String({ description: 'Email address for portals that show it; nothing is sent to it.' }),
  portal_url: Type.String({
    description: 'Address of the portal, for links in mails. Blank: `cname` of the organisation.',
  }),
  mail_options: Type.Object(
    {
      mail_from_name: Type.String({ description: 'Name of the sender of mails. Blank: that of the settings.' }),
      mail_from_email: Type.String({
        description: 'Email address of the sender of mails. Blank: that of the settings.',
      }),
      email_copy: Type.Object(
        { welcome_email: Copy, key_email: Copy, reset_password_email: Copy },
        { ...OPEN, description: 'Texts of the mails to developers.' },
      ),
    },
    { ...OPEN, description: 'Sender and texts of mails to developers.' },
  ),
  enable_dcr: Type.Boolean({
    description: 'Always false: registration of clients at an identity provider is not served.',
  }),
  dcr_options: Type.Object(
    {
      idp_host: Type.String({ description: 'Host of an identity provider.' }),
      registration_endpoint: Type.String({ description: 'Address at which the identity provider registers clients.' }),
      access_token: Type.String({ description: 'Always blank: the token is not stored.' }),
      provider: Type.String({ description: 'Name of the identity provider.' }),
      grant_types: described(Names, 'Grants of registered clients.'),
      response_types: described(Names, 'Response types of registered clients.'),
      token_endpoint_auth_method: Type.String({ description: 'Client authentication of registered clients.' }),
    },
    {
      title: 'DcrOptions',
      description: 'Registration of clients at an identity provider; stored, and not served.',
      ...OPEN,
    },
  ),
  override: Type.Boolean({
    description:
      'true: an entry of the catalogue has rules of its own. Without effect in the configuration of a portal.',
  }),
  HashKeys: Type.Boolean({
    description: 'True where the installation stores hashes of keys (`gateway.hash_keys`). It is not set by a body.',
  }),
}
const Shape = Type.Object(members, { title: 'PortalConfiguration', additionalProperties: true })
const Mail = Type.Partial(Copy, { title: 'PortalMailInput', description: 'One mail to developers.', ...OPEN })
const MAILS = { welcome_email: Mail, key_email: Mail, reset_password_email: Mail }
const Body = Type.Object(
  {},
  describedOpenMembers('PortalConfigurationInput', {
    ...members,
    mail_options: Type.Object(
      {
        ...{
          mail_from_name: Type.Optional(
            Type.String({ description: 'Name of the sender of mails. Blank: that of the settings.' }),
          ),
          mail_from_email: Type.Optional(
            Type.String({ description: 'Email address of the sender of mails. Blank: that of the settings.' }),
          ),
        },
        email_copy: Type.Optional(
          Type.Partial(Type.Object(MAILS), {
            title: 'PortalMailsInput',
            description: 'Texts of the mails to developers.',
            ...OPEN,
          }),
        ),
      },
      { title: 'PortalMailOptionsInput', description: 'Sender and texts of mails to developers.', ...OPEN },
    ),
    dcr_options: Type.Partial(members.dcr_options, {
      title: 'DcrOptionsInput',
      description: 'Registration of clients at an identity provider; stored, and not served.',
      ...OPEN,
    }),
  }),
)
/** Those of its members that an entry of the catalogue has for itself. */
export const EntryConfiguration = Type.Object(
  {},
  describedAs({
    ...{ title: 'EntryConfiguration', type: 'object', description: 'Rules of the entry, which count with `override`.' },
    properties: members,
    ...OPEN,
  }),
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
      answers: { 200: CreatedEnvelope },
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
